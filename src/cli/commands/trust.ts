/** `trust`: shows what the repository’s own settings would do, asks at a terminal, and trusts it. */
import type { Output } from '../../protocol/schemas/index.ts'
import { type Answer, type Context, flag } from '../command.ts'
import { printable } from '../output.ts'

type Shown = Output<'system.trust'>

export async function trust(context: Context): Promise<Answer> {
  const { dir: repo, values, call } = context
  const [show, revoke, ci] = [flag(values, 'show'), flag(values, 'revoke'), flag(values, 'ci')]
  if (show || revoke) return told(await call('system.trust', { repo, show, revoke }), context)
  const seen = await call('system.trust', { repo, show: true })
  if (!flag(values, 'yes') && !seen.trusted && isAnything(seen)) {
    const question = `${listed(seen, context)}\nTrust it, exactly as it is now? [y/N] `
    const said = await context.shell.ask(question, context.signal)
    // Without a terminal nobody is asked: whoever calls the command there means it.
    if (said !== undefined && !said.startsWith('y')) return told(seen, context)
  }
  return told(await call('system.trust', { repo, ci, fingerprint: seen.fingerprint }), context)
}

function told(shown: Shown, context: Context): Answer {
  const verdict = shown.trusted ? 'Trusted, until any of it changes:' : 'Not trusted:'
  const words = isAnything(shown)
    ? `${verdict}\n${listed(shown, context)}`
    : 'This repository has no settings that need your trust.'
  return { json: { ...shown }, text: words }
}

function isAnything({ settings, files }: Shown): boolean {
  return settings.length + files.length > 0
}

function listed({ commands, settings, files }: Shown, { paint }: Context): string {
  const isCommand = ({ key, value }: Shown['settings'][number]) =>
    key === 'agent.adapters' || (key.startsWith('hooks.') && typeof value === 'string')
  const rows: [string, string][] = [
    ...commands.map(({ hook, command }): [string, string] => [hook, command]),
    ...settings
      .filter((setting) => !isCommand(setting))
      .map(({ key, value }): [string, string] => [key, JSON.stringify(value)]),
    ...files.map(({ path, sha256 }): [string, string] => ['file', `${path} (sha256 ${sha256.slice(0, 12)})`]),
  ]
  return rows.map(([name, words]) => `  ${paint('bold', name)}  ${below(words, name.length + 4)}`).join('\n')
}

/** A command may have several lines; each stays one, below the first. */
function below(words: string, indent: number): string {
  const lines = words.replace(/\n+$/, '').split('\n')
  return lines.map(printable).join(`\n${' '.repeat(indent)}`)
}
