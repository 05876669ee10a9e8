/** The question whether a tool may run: all of what is asked, made visible, page by page, and only then the answer. */
import type { Said, Told } from '../protocol/events.ts'
import { ask, canAsk, forgetTyped } from './ask.ts'
import type { Context } from './command.ts'
import { visible } from './output.ts'

export type Asked = Extract<Told, { event: 'asked' }>

/** The end of the question before: runs side by side must not mix theirs. */
let before: Promise<unknown> = Promise.resolve()

/** Asks the user about a tool call; `who` asks, where there are several. Undefined where nobody can answer. */
export function question(context: Context, told: Asked, who = ''): Promise<Said | undefined> | undefined {
  if (!canAsk()) return undefined
  const said = before.then(() => askAbout(context, told, who))
  before = said.catch(() => {})
  return said
}

async function askAbout({ signal, paint }: Context, told: Asked, who: string): Promise<Said | undefined> {
  signal.throwIfAborted()
  const { columns, rows } = process.stderr
  const asks = who === '' ? [] : [`${who} asks:`]
  const pages = pagesOf([...asks, ...questionLines(told)], columns || 80, rows || 24)
  for (const [n, page] of pages.entries()) {
    process.stderr.write(`${page.join('\n')}\n`)
    if (n === pages.length - 1) break
    const more = `Page ${n + 1} of ${pages.length}. Enter shows the next one; the answer comes after the last. `
    if ((await askNow(paint('bold', more), signal)) === undefined) return undefined
  }
  const all = paint('bold', `${asks.length > 0 ? `${who}: ` : ''}${visible(told.tool)}: allow exactly this?`)
  const said = await askNow(`${all} [y]es, [a]lways: this same call again in this task, [N]o: `, signal)
  if (said === undefined) return undefined
  return said === 'y' || said === 'yes' ? 'once' : said === 'a' || said === 'always' ? 'always' : 'deny'
}

/** A key that was pressed before the text had been shown answers nothing. */
async function askNow(words: string, signal: AbortSignal): Promise<string | undefined> {
  await forgetTyped()
  return ask(words, signal)
}

/** The tool, why it is asked about, and each part of its input; every line of the input begins with a mark. */
export function questionLines({ tool, reason, input, summary }: Asked): string[] {
  const given = input === undefined ? { summary } : input
  const parts: [string, unknown][] =
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.entries(given)
      : [['input', given]]
  return [
    `${visible(tool)} (${visible(reason)})`,
    ...parts.flatMap(([name, value]) => partLines(name, value)),
  ]
}

/** Edits look like a diff. */
const marks: Readonly<Record<string, string>> = {
  old_string: '-',
  oldString: '-',
  new_string: '+',
  newString: '+',
  new_source: '+',
  content: '+',
}

function partLines(name: string, value: unknown): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const mark = marks[name] ?? '|'
  return [`  ${visible(name)}:`, ...(text ?? '').split('\n').map((line) => `  ${mark} ${visible(line)}`)]
}

/** Lines cut to the width of the terminal, in pages of its height less the line of the question. */
export function pagesOf(lines: readonly string[], columns: number, rows: number): string[][] {
  const cut = lines.flatMap((line) => wrapped(line, Math.max(columns - 1, 20)))
  const height = Math.max(rows - 2, 3)
  return Array.from({ length: Math.ceil(cut.length / height) }, (_, n) =>
    cut.slice(n * height, (n + 1) * height),
  )
}

/** The rest of a long line begins with its own mark, so that it looks like no other line. */
function wrapped(line: string, width: number): string[] {
  const found = ['']
  let used = 0
  for (const char of line) {
    // Some letters take two columns; nobody can tell for every terminal.
    const size = char <= '~' ? 1 : 2
    if (used + size > width) {
      found.push('    \\ ')
      used = 6
    }
    found[found.length - 1] += char
    used += size
  }
  return found
}
