/**
 * As much of TOML as the environment files of Codex use: tables, lists of tables, and on one line each a text, a number or a
 * truth; texts may be of several lines. Anything else is refused with its line, never guessed.
 */
import { AppError } from './errors.ts'

type TomlValue = string | number | boolean
/** Values by table and key: `setup.script`. Those of lists of tables are left out. */
export type TomlValues = ReadonlyMap<string, TomlValue>

const name = '[A-Za-z0-9_-]+'
const table = new RegExp(`^\\[\\s*(${name}(?:\\s*\\.\\s*${name})*)\\s*\\]$`)
const listed = new RegExp(`^\\[\\[\\s*${name}(?:\\s*\\.\\s*${name})*\\s*\\]\\]$`)
const assignment = new RegExp(`^(${name}(?:\\s*\\.\\s*${name})*)\\s*=\\s*(.*)$`, 's')

export function parsedToml(text: string): TomlValues {
  const values = new Map<string, TomlValue>()
  const lines = text.split(/\r?\n/)
  let prefix: string | undefined = ''
  for (let n = 0; n < lines.length; n++) {
    const line = (lines[n] ?? '').trim()
    if (line === '' || line.startsWith('#')) continue
    const bare = line.replace(/\s+#.*$/, '')
    const [, opened] = table.exec(bare) ?? []
    if (opened !== undefined) prefix = `${opened.replaceAll(/\s/g, '')}.`
    else if (listed.test(bare)) prefix = undefined
    else {
      const [, key, begin] = assignment.exec(line) ?? []
      if (key === undefined || begin === undefined) throw refused(n)
      const { value, last } = readValue(lines, n, begin)
      if (prefix !== undefined) values.set(prefix + key.replaceAll(/\s/g, ''), value)
      n = last
    }
  }
  return values
}

function readValue(lines: readonly string[], n: number, begin: string): { value: TomlValue; last: number } {
  const fence = ['"""', "'''"].find((mark) => begin.startsWith(mark))
  if (fence !== undefined) return readLongText(lines, n, begin.slice(3), fence)
  const [, literal] = /^'([^']*)'\s*(?:#.*)?$/.exec(begin) ?? []
  if (literal !== undefined) return { value: literal, last: n }
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(begin) ?? []
  if (quoted !== undefined) return { value: unescaped(quoted, n), last: n }
  const plain = begin.replace(/\s*#.*$/, '')
  if (plain === 'true' || plain === 'false') return { value: plain === 'true', last: n }
  if (/^[+-]?\d+$/.test(plain)) return { value: Number(plain), last: n }
  throw refused(n)
}

/** To the next mark; a line break right after the first one does not count. */
function readLongText(lines: readonly string[], n: number, first: string, fence: string) {
  const parts: string[] = []
  for (let last = n, rest = first; last < lines.length; rest = lines[++last] ?? '') {
    const end = endOf(rest, fence)
    parts.push(end === undefined ? rest : rest.slice(0, end))
    if (end === undefined) continue
    if (!/^\s*(?:#.*)?$/.test(rest.slice(end + 3))) throw refused(last)
    const text = (parts[0] === '' && parts.length > 1 ? parts.slice(1) : parts).join('\n')
    return { value: fence === '"""' ? unescaped(text, n) : text, last }
  }
  throw refused(n)
}

function endOf(line: string, fence: string): number | undefined {
  for (let at = 0; at < line.length; at++) {
    if (fence === '"""' && line[at] === '\\') at++
    else if (line.startsWith(fence, at)) return at
  }
  return undefined
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
}

function unescaped(text: string, n: number): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\s*\n\s*|.)/g, (_, code: string) => {
    if (/^[uU]/.test(code) && code.length > 1) {
      const point = Number.parseInt(code.slice(1), 16)
      if (point > 0x10_ffff) throw refused(n)
      return String.fromCodePoint(point)
    }
    if (code.includes('\n')) return ''
    const known = escapes[code]
    if (known === undefined) throw refused(n)
    return known
  })
}

function refused(n: number): AppError {
  return new AppError(
    'WT_016',
    `Line ${n + 1} is not understood: only tables, texts, numbers and truths are read.`,
    {
      hint: 'Take what it says over by hand: hooks.postStart in .offshoot.yaml.',
    },
  )
}
