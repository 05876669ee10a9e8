/** Reads the workspace set-up files of Cursor, Codex and Conductor as hooks of offshoot. */
import { quoted } from '../base/shell-quote.ts'
import path from 'node:path'
import { appError, AppError } from '../model/errors.ts'
import type { Ports } from '../ports/index.ts'

/** The hooks that those tools have, too. */
export interface PeerHooks {
  readonly postStart?: string | undefined
  readonly preRemove?: string | undefined
}

export interface PeerFile {
  /** Relative to the root of the checkout. */
  readonly file: string
  readonly hooks: PeerHooks
}

const cursorFile = '.cursor/worktrees.json'
const codexFolder = '.codex/environments'
const conductorFile = 'conductor.json'

/** The set-up files that exist, whatever is in them. */
export async function findPeerFiles(ports: Pick<Ports, 'files'>, checkout: string): Promise<string[]> {
  const names = await ports.files.readNames(path.join(checkout, codexFolder))
  const codex = names.filter((name) => name.endsWith('.toml')).sort()
  const candidates = [cursorFile, ...codex.map((name) => `${codexFolder}/${name}`), conductorFile]
  const kinds = await Promise.all(candidates.map((file) => ports.files.readKind(path.join(checkout, file))))
  // A symlink could lead out of the checkout.
  return candidates.filter((_, n) => kinds[n] === 'file')
}

/** Throws `badSettings` when the file cannot be parsed. */
export async function readPeerFile(
  ports: Pick<Ports, 'files' | 'settings'>,
  checkout: string,
  file: string,
): Promise<PeerFile> {
  const text = (await ports.files.readText(path.join(checkout, file))) ?? ''
  try {
    if (file === conductorFile) return { file, hooks: conductorHooks(parsedJson(text)) }
    if (file !== cursorFile) return { file, hooks: codexHooks(await ports.settings.parseToml(text)) }
    const setup = cursorSetup(parsedJson(text))
    return { file, hooks: withoutEmpty({ postStart: await scriptCommand(ports, checkout, setup) }) }
  } catch (thrown) {
    const error = appError(thrown)
    throw new AppError('badSettings', `${file}: ${error.message}`, {
      path: path.join(checkout, file),
      hint: error.hint,
    })
  }
}

function parsedJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new AppError('badSettings', 'It is no JSON object.', {
    hint: 'Correct the file, or copy its commands by hand into .offshoot.yaml.',
  })
}

/** The setting is a list of commands, or one text. */
export function cursorSetup(json: Record<string, unknown>): string | undefined {
  const setup = json['setup-worktree-unix'] ?? json['setup-worktree']
  if (setup === undefined || typeof setup === 'string') return setup
  if (Array.isArray(setup) && setup.every((line) => typeof line === 'string'))
    return setup.length > 1 ? ['set -e', ...setup].join('\n') : setup[0]
  throw notText('setup-worktree')
}

/** A single word may name a script beside the file. */
async function scriptCommand(
  ports: Pick<Ports, 'files'>,
  checkout: string,
  setup: string | undefined,
): Promise<string | undefined> {
  if (setup === undefined || !/^[\w./-]+$/.test(setup) || setup.includes('..')) return setup
  const script = path.posix.join(path.posix.dirname(cursorFile), setup)
  return (await ports.files.readKind(path.join(checkout, script))) === 'file' ? `sh ${script}` : setup
}

/** `[setup]` and `[cleanup]` have a script each, and may have others for one system alone: `[setup.darwin]`. */
export function codexHooks(toml: Record<string, unknown>): PeerHooks {
  const script = (name: string) => {
    const table = tableOf(toml[name])
    const found = table.script ?? ''
    if (typeof found !== 'string') throw notText(`${name}.script`)
    const system = Object.keys(table).find((key) => 'script' in tableOf(table[key]))
    if (found.trim() === '' && system !== undefined)
      throw new AppError('badSettings', `It has only ${name}.${system}.script, for one system.`, {
        hint: 'Copy the command by hand into hooks.postStart of .offshoot.yaml.',
      })
    return found
  }
  return withoutEmpty({ postStart: script('setup'), preRemove: script('cleanup') })
}

function tableOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

export function conductorHooks(json: Record<string, unknown>): PeerHooks {
  const scripts = (json.scripts ?? {}) as Record<string, unknown>
  const script = (key: string) => {
    const found = scripts[key] ?? ''
    if (typeof found !== 'string') throw notText(`scripts.${key}`)
    return found
  }
  return withoutEmpty({ postStart: script('setup'), preRemove: script('archive') })
}

function notText(key: string): AppError {
  return new AppError('badSettings', `${key} is neither a string nor a list of strings.`, {
    hint: 'Copy the command by hand into hooks.postStart of .offshoot.yaml.',
  })
}

/** Drops empty commands. */
function withoutEmpty(hooks: PeerHooks): PeerHooks {
  const said = Object.entries(hooks).map(([hook, command]: [string, string | undefined]) => [
    hook,
    command?.trim(),
  ])
  return Object.fromEntries(said.filter(([, command]) => command)) as PeerHooks
}

/** A hook of a set-up file, as a setting of ours. */
export interface HookSetting {
  readonly key: string
  readonly value: string
  /** The file that it is from. */
  readonly from: string
}

/** One command for each hook. Throws where two files differ. Pure. */
export function hookSettings(files: readonly PeerFile[]): HookSetting[] {
  const found = new Map<string, HookSetting>()
  for (const { file, hooks } of files) {
    for (const [hook, value] of Object.entries(hooks) as [string, string][]) {
      const key = `hooks.${hook}`
      const other = found.get(key)
      if (other && other.value !== value) {
        throw new AppError('wrongUsage', `${other.from} and ${file} differ.`, {
          hint: `Name one of them: offshoot config import ${quoted(file)}`,
        })
      }
      if (!other) found.set(key, { key, value, from: file })
    }
  }
  return [...found.values()]
}
