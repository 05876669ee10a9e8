/** Hints of settings, hooks, trust, and the set-up files of other tools. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { tryHints } from '../support/hints/try-hints.ts'

tryHints(import.meta.filename, [
  {
    name: 'settings that are wrong, or switch offshoot off',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { home } = user.user
      const off = 'OFFSHOOT_DISABLED=1 '
      await hint('core/tasks/guards.ts: Unset OFFSHOOT_DISABLED', `${off}offshoot start T1`, {
        worksNow: 'offshoot start T1',
      })
      const direct = 'core/verbs/run-direct.ts: Without isolation'
      await user.with({ OFFSHOOT_DISABLED: '1' }).hint(direct, 'offshoot run -- true', {
        fill: { COMMAND: 'echo done' },
        shows: /done/,
        worksNow: 'OFFSHOOT_ISOLATION_FALLBACK=direct offshoot run -- true',
      })
      const own = path.join(home, '.config', 'offshoot', 'config.yaml')
      mkdirSync(path.dirname(own), { recursive: true })
      const write = (text: string) => () => writeFileSync(own, text)
      write('lock: [\n')()
      await hint('settings/layer.ts: Correct the file', 'offshoot config', { by: write(''), worksNow: true })
      write('lock:\n  waitSeconds: soon\n')()
      await hint('settings/layer.ts: Correct it in', 'offshoot config', {
        by: write('lock:\n  waitSeconds: 7\n'),
        worksNow: true,
      })
      write('')()
      user.user.write('.offshoot.yaml', 'workspace:\n  base: /somewhere/else\n')
      await hint('settings/repository.ts: Correct it, or set', 'offshoot config', {
        by: () => user.user.write('.offshoot.yaml', ''),
        worksNow: (said) => `${/OFFSHOOT_\w+/.exec(said)?.[0]}=${home}/spaces offshoot config`,
      })
      const near = user.with({ OFFSHOOT_LIMITS_PERREPO: '3' })
      await near.hint('core/verbs/doctor.ts: Did you mean', 'offshoot doctor', {
        worksNow: (said) => `${/mean (\w+)/.exec(said)?.[1]}=3 offshoot config | grep 'limits.perRepo.*3'`,
      })
      await user
        .with({ OFFSHOOT_FROBNICATE: '3' })
        .hint('core/verbs/doctor.ts: offshoot config shows', 'offshoot doctor', { shows: /limits\.perRepo/ })
      await user
        .with({ OFFSHOOT_DISK_WARN_PERCENT: '1' })
        .hint('core/verbs/doctor.ts: offshoot prune --dry-run', 'offshoot doctor', { shows: /T1/ })
      await user
        .with({ OFFSHOOT_DISK_WARN_PERCENT: '1' })
        .hint('core/trash/disk-warning.ts: {} offshoot prune', 'offshoot start T2', { shows: /T1/ })
      await hint('cli/commands/open.ts: Set the variable VISUAL', 'VISUAL=nosuch-editor offshoot open T1', {
        worksNow: 'VISUAL=true offshoot open T1',
      })
    },
  },
  {
    name: 'settings of a repository that wait for trust',
    async play(meet) {
      const user = meet({ 'a.txt': 'one\n', 'check.sh': 'exit 0\n' })
      const { hint } = user
      const { git } = user.user
      const hooks = (text: string) => {
        user.user.write('.offshoot.yaml', text)
        git('add', '--all')
        git('commit', '--quiet', '--allow-empty', '-m', 'Settings')
      }
      hooks('hooks:\n  postStart: echo hello\n')
      await hint('core/hooks/trust-notice.ts: .offshoot.yaml sets', 'offshoot start T0', {
        worksNow: 'offshoot trust --show | grep Trusted',
      })
      await user.do('offshoot trust --revoke')
      await hint('cli/commands/config.ts: (.offshoot.yaml waits', 'offshoot config --show-origin', {
        worksNow: 'offshoot trust --show | grep Trusted',
      })
      await user.do('offshoot trust --revoke')
      await hint('core/hooks/hooks.ts: not trusted', 'offshoot start T1', {
        worksNow: 'offshoot start T2 | grep -v "did not succeed"',
      })
      await hint('core/verbs/trust.ts: To trust it all the same', 'CI=1 offshoot trust', { shows: /Trusted/ })
      hooks('hooks:\n  preAccept: sh check.sh\n')
      await user.do('offshoot exec T1 -- touch b.txt')
      await hint('core/verbs/notices.ts: {} of {} did not run', 'offshoot accept T1; offshoot list', {
        worksNow: 'offshoot trust --show | grep Trusted',
      })
      await user.do('offshoot undo')
      const at = (await user.do('offshoot cd T1')).stdout.trim()
      writeFileSync(path.join(at, 'check.sh'), 'echo no; exit 1\n')
      await hint('core/hooks/hooks.ts: was not run, because', 'offshoot accept T1', {
        worksNow: 'offshoot trust --show | grep Trusted',
      })
      hooks('hooks:\n  preAccept: exit 3\n')
      await user.do('offshoot trust')
      await hint('core/hooks/hooks.ts: Correct what {} reports', 'offshoot accept T1', {
        shows: /hooks\.preAccept.*exit 3/,
        by: () => hooks('hooks:\n  preAccept: exit 0\n'),
        worksNow: 'offshoot trust && offshoot accept T1 --dry-run',
      })
      user.user.write(
        'own.mjs',
        'export default { name: "own", title: "Own", exact: true, asks: true, async *run() { yield { type: "ended", ok: true, reason: "" } } }\n',
      )
      hooks('agent:\n  adapters: [own.mjs]\n')
      await hint(
        'core/runs/choose-agent.ts: offshoot trust shows',
        'offshoot run --task T2 --agent own "do it"',
        { worksNow: true },
      )
      user.user.write('.claude/settings.json', '{}\n')
      hooks('')
      const claude = user.with({ PATH: `${user.user.home}/bin:${user.user.env.PATH}` })
      mkdirSync(path.join(user.user.home, 'bin'))
      writeFileSync(
        path.join(user.user.home, 'bin', 'claude'),
        `#!/bin/sh\nread -r line\necho '{"type":"system","subtype":"init","session_id":"s1"}'\necho '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s1"}'\n`,
        { mode: 0o755 },
      )
      await claude.hint('core/runs/agent-settings.ts: offshoot trust -C', 'offshoot run --task T3 "do it"', {
        worksNow: true,
      })
      const many = path.join(user.user.dir, '.claude', 'many')
      mkdirSync(many)
      for (let n = 0; n < 5_001; n++) writeFileSync(path.join(many, `${n}.json`), '{}\n')
      await hint('core/hooks/files.ts: Move what is no settings', 'offshoot trust', {
        by: () => rmSync(many, { recursive: true }),
        worksNow: true,
      })
    },
  },
  {
    name: 'set-up files of other tools',
    async play(meet) {
      const user = meet()
      const { hint } = user
      const { dir } = user.user
      const put = (name: string, text: string) => user.user.write(name, text)
      const clear = (...names: string[]) =>
        names.forEach((name) => rmSync(path.join(dir, name), { recursive: true, force: true }))
      const dry = 'offshoot config import --dry-run'
      await hint('core/verbs/import.ts: These can be imported', dry, {
        by: () => put('.cursor/worktrees.json', '{"setup-worktree": ["npm ci"]}'),
        worksNow: true,
      })
      await hint('core/hooks/peer-notice.ts: {} how a workspace', 'offshoot start T1', { shows: /Imported/ })
      await hint(
        'core/verbs/import.ts: Remove it from',
        `echo '{"setup-worktree": ["make"]}' > .cursor/worktrees.json && ${dry}`,
        {
          by: () => clear('.offshoot.yaml'),
          worksNow: dry,
        },
      )
      await hint('cli/commands/config.ts: Imported into', 'offshoot config import', {
        worksNow: 'offshoot trust --show | grep Trusted',
      })
      clear('.offshoot.yaml')
      put('conductor.json', '{"scripts": {"setup": "npm install"}}')
      await hint('core/hooks/peers.ts: Name one of them', dry, { shows: /Imported/ })
      clear('.offshoot.yaml', 'conductor.json')
      put('.cursor/worktrees.json', 'no JSON')
      const copied = () => {
        clear('.cursor')
        put('.offshoot.yaml', 'hooks:\n  postStart: make\n')
      }
      const works = 'offshoot config | grep hooks.postStart'
      await hint('core/hooks/peers.ts: Correct the file', dry, { by: copied, worksNow: works })
      put('.cursor/worktrees.json', '{"setup-worktree": 3}')
      await hint('core/hooks/peers.ts: Copy the command', dry, { by: copied, worksNow: works })
      put('.codex/environments/environment.toml', 'setup = [\n')
      await hint('settings/toml.ts: Correct that line', dry, {
        by: () => put('.codex/environments/environment.toml', '[setup]\nscript = "make"\n'),
        worksNow: dry,
      })
    },
  },
])
