/** Lists of tools and their uses as people write them: `Read,Bash(git log *)`. */
import { AppError } from '../model/errors.ts'

export interface ToolUse {
  /** A tool, a kind of tool, or a pattern with `*`. */
  readonly name: string
  /** The words in brackets; undefined: every use. */
  readonly use: string | undefined
}

/** Splits at commas outside of brackets and quotes: `Read,Bash(node -e "f()")` names two. */
export function splitTools(list: string): string[] {
  const found = ['']
  for (const { text, depth } of pieces(list)) {
    if (text === ',' && depth === 0) found.push('')
    else found[found.length - 1] += text
  }
  return found.map((tool) => tool.trim()).filter((tool) => tool !== '')
}

/** Throws `wrongUsage` where a bracket or a quote is not closed, or where text follows the last bracket. */
export function toolUse(pattern: string): ToolUse {
  const given = pattern.trim()
  const [, name = '', use] = /^([^()]*)(?:\((.*)\))?$/s.exec(given) ?? []
  const depths = pieces(given).map(({ depth }) => depth)
  const closed = depths.slice(0, -1).every((depth, at) => depth > 0 || at < given.indexOf('('))
  if (
    name.trim() === '' ||
    /\s/.test(name.trim()) ||
    depths.at(-1) !== 0 ||
    (use !== undefined && (!closed || use.trim() === ''))
  )
    throw new AppError('wrongUsage', `${pattern} is no tool and no use of one.`, {
      hint: 'Write the name of a tool, or a use of it in brackets: Edit, Bash(npm test *), Edit(src/**)',
    })
  return { name: name.trim(), use: isAll(use) ? undefined : use?.trim() }
}

/** `Bash(*)` is the tool as a whole. */
const isAll = (use: string | undefined) => use === undefined || /^(?::?\*\s*)+$/.test(use.trim())

/** Each character with the number of open brackets after it; what is in quotes inside of brackets is one piece. */
function pieces(list: string): { readonly text: string; readonly depth: number }[] {
  let depth = 0
  return (list.match(/"(?:\\.|[^"\\])*"|'[^']*'|./gs) ?? []).flatMap((text) => {
    if (text.length > 1 && depth === 0) return text.split('').map((one) => ({ text: one, depth: 0 }))
    if (text === '(') depth++
    if (text === ')') depth--
    return [{ text, depth }]
  })
}
