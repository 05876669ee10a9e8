/** Commands planted where git looks for commands: each one is a canary. */
import type { Action } from './action.ts'

const attributes =
  '{ mkdir -p "$COMMON/info" && echo "* filter=planted diff=planted merge=planted" | tee "$COMMON/info/attributes" > .gitattributes; }'
const filter = `git config filter.planted.clean "'$CANARY' clean filter" && git config filter.planted.smudge "'$CANARY' smudge filter"`

const hookNames =
  'pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-index-change reference-transaction pre-auto-gc post-merge post-rewrite pre-rebase fsmonitor-watchman'

const inConfig = (key: string, value: string, sings: string): Action => ({
  name: `plants ${key}`,
  script: `git config ${key} "${value}"`,
  sings,
})

export const planted: readonly Action[] = [
  inConfig('core.fsmonitor', '$CANARY', 'git status'),
  inConfig('core.sshCommand', '$CANARY', 'git ls-remote ssh://nobody.invalid/x'),
  inConfig('diff.external', '$CANARY', 'echo x >> edited.txt; git diff'),
  inConfig('alias.planted', '!$CANARY alias', 'git planted'),
  inConfig('core.editor', '$CANARY', 'unset GIT_EDITOR; git commit --amend'),
  inConfig('core.pager', '$CANARY', 'TERM=xterm script --quiet --command "git log" /dev/null'),
  inConfig('pager.diff', '$CANARY', 'TERM=xterm script --quiet --command "git diff HEAD~1" /dev/null'),
  inConfig(
    'credential.helper',
    '!$CANARY helper',
    'printf "protocol=https\\nhost=x\\n\\n" | git credential fill',
  ),
  {
    name: 'signs commits with a program of its own',
    script:
      'git config commit.gpgSign true && git config tag.gpgSign true && git config gpg.program "$CANARY"',
    sings: 'git commit --allow-empty --message=x',
  },
  {
    name: 'has its signatures checked by a program of its own',
    script: `git config gpg.program "$CANARY" && git config log.showSignature true && git add --all &&
      git cat-file commit HEAD | sed 's/^committer .*/&\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----/' > "$TMPDIR/signed" &&
      git reset --quiet --soft "$(git hash-object -w -t commit "$TMPDIR/signed")"`,
    sings: 'git log -1 HEAD~1; git log',
  },
  {
    name: 'plants a filter in config and attributes',
    script: `${attributes} && ${filter}`,
    sings: 'touch edited.txt && git add --all',
  },
  {
    name: 'plants a filter process that is required',
    script: `${attributes} && git config filter.planted.process "$CANARY" && git config filter.planted.required true`,
    sings: 'touch edited.txt && git add --all',
  },
  {
    name: 'plants a filter, then deletes its whole folder',
    script: `${attributes} && ${filter} && git config core.attributesFile "$COMMON/info/attributes" && cd / && rm -rf "$SPACE"`,
    sings: 'git checkout --force HEAD -- . && touch edited.txt && git add --all',
    only: 'worktree',
  },
  {
    name: 'plants a filter, then deletes .git',
    script: `${attributes} && ${filter} && rm -rf .git`,
  },
  {
    name: 'plants textconv and a merge driver',
    script: `${attributes} && git config diff.planted.textconv "$CANARY" && git config merge.planted.driver "$CANARY" &&
      git config diff.planted.command "$CANARY"`,
    sings: 'git diff HEAD~1',
  },
  {
    name: 'plants every hook',
    script: `mkdir -p "$COMMON/hooks" && for hook in ${hookNames}; do
      printf '#!/bin/sh\\n%s %s\\n' "$CANARY" "$hook" > "$COMMON/hooks/$hook" && chmod +x "$COMMON/hooks/$hook"; done`,
    sings: 'git commit --allow-empty --message=x',
  },
  {
    name: 'plants hooks through core.hooksPath',
    script: `mkdir -p .husky && for hook in ${hookNames}; do
      printf '#!/bin/sh\\n%s %s\\n' "$CANARY" "$hook" > ".husky/$hook" && chmod +x ".husky/$hook"; done && git config core.hooksPath .husky`,
    sings: 'git commit --allow-empty --message=x',
  },
  {
    name: 'plants hooks in the config',
    script: `for hook in ${hookNames}; do git config "hook.$hook.command" "$CANARY $hook" && git config "hook.$hook.event" "$hook" &&
      git config --add hook.mine.event "$hook"; done && git config hook.mine.command "$CANARY mine"`,
    sings: 'git commit --allow-empty --message=x',
    since: '2.54',
  },
  {
    name: 'plants everything in a config of its worktree',
    script: `${attributes} && git config extensions.worktreeConfig true && git config --worktree core.fsmonitor "$CANARY" &&
      git config --worktree filter.planted.clean "$CANARY wt filter" && git config --worktree filter.planted.smudge "$CANARY wt filter"`,
    sings: 'git status',
  },
  {
    name: 'plants everything in a file that the config includes',
    script: `${attributes} && printf '[core]\\n\\tfsmonitor = %s\\n[filter "planted"]\\n\\tclean = %s inc filter\\n\\tsmudge = %s inc filter\\n' "$CANARY" "$CANARY" "$CANARY" > evil.inc &&
      git config include.path "$SPACE/evil.inc"`,
    sings: 'git status',
  },
  {
    name: 'plants a bare repository in a folder',
    script:
      'git init --quiet --bare trap && git -C trap config core.fsmonitor "$CANARY" && git -C trap config core.bare false && git -C trap config core.worktree ..',
    sings: 'mkdir -p trap/refs trap/objects && cd trap && git status',
  },
  {
    name: 'plants commands in a repository inside',
    script: `git init --quiet inner && echo x > inner/x && git -C inner add x && git -C inner commit --quiet --message=x &&
      git -C inner config core.fsmonitor "$CANARY" && git add inner 2> /dev/null`,
    skipped: ['inner/.git'],
    sings: 'cd inner && git status',
  },
  {
    name: "rewrites the script of a filter of the user's own",
    before: `git config filter.own.clean "./filter.sh" && printf '#!/bin/sh\\nexec cat\\n' > filter.sh && chmod +x filter.sh &&
      echo '*.txt filter=own' > .gitattributes && git add filter.sh .gitattributes && git commit --quiet --message=filter filter.sh .gitattributes`,
    script: `printf '#!/bin/sh\\n%s script\\nexec cat\\n' "$CANARY" > filter.sh`,
    sings: 'git config filter.own.clean ./filter.sh && touch edited.txt && git add --all',
  },
]
