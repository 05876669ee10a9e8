/** The commands in a hint, as a person reads them: which words are to be typed, and where the sentence goes on. */
import { commands } from '../../../src/cli/commands.ts'

const ofOurs = [...new Set(commands.map(({ name }) => name.split(' ')[0])), '-C', '--help', '\\{\\}']
const ofGit =
  'add|bisect|branch|cherry-pick|commit|config|merge|push|rebase|refs|remote|reset|revert|status|switch|tag|update-ref -d|worktree'

/** Where a command begins: with a word that offshoot or git knows, or with one of the few other programs. */
const begin = `(?<![\\w./-])(?:(?:[A-Z_]+=(?:'[^']*'|\\S+) |npx )?offshoot (?:${ofOurs.join('|')})|git(?: -C (?:'[^']*'|\\S+)|\\{\\})? (?:${ofGit}))(?![\\w-])`
const others = '(?<=: |\\()(?:cd|chmod|date|find|kill|rm|umount) '

export function namesCommand(text: string): boolean {
  return new RegExp(`${begin}|${others}`).test(text)
}

/** Words with which the sentence goes on after a command. */
const goesOn = new Set(
  `shows show lists names makes brings goes gives keeps lands writes opens finishes sets records says moves takes checks explains
   revokes prints also the imports lets adds puts discards changes repairs tells tries follows ends and or in to if where what with as`.split(
    /\s+/,
  ),
)

/** A word in quotes or without, with the white space before it. */
const word = /(\s*)((?:'[^']*'|"[^"]*"|[^\s'"])+)/y

/** The commands of a printed hint, in the order in which a person would type them. */
export function commandsOf(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(`${begin}|${others}`, 'g')), ({ index }) =>
    commandAt(text, index),
  ).filter((command, n, all) => !all.slice(0, n).some((before) => before.includes(` && ${command}`)))
}

function commandAt(text: string, index: number): string {
  const words: string[] = []
  word.lastIndex = index
  for (let found = word.exec(text); found; found = word.exec(text)) {
    const [, space = '', said = ''] = found
    // A wide gap is between two commands of one line.
    if (
      words.length > 0 &&
      (space.length !== 1 ||
        said.startsWith('(') ||
        (goesOn.has(said) && !/^(?:offshoot|git)$/.test(words.join(' '))))
    )
      break
    const typed = said.replace(/[.,;:)`]+$/, '')
    if (typed !== '') words.push(typed)
    if (typed !== said) break
  }
  return words.join(' ')
}
