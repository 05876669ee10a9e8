/** The keys in what a terminal in raw mode sends. */

const named: Readonly<Record<string, string>> = {
  '\u0003': 'ctrl-c',
  '\r': 'enter',
  '\n': 'enter',
  ' ': 'page-down',
  '\u001B': 'escape',
  '\u001B[A': 'up',
  '\u001BOA': 'up',
  '\u001B[B': 'down',
  '\u001BOB': 'down',
  '\u001B[5~': 'page-up',
  '\u001B[6~': 'page-down',
  '\u001B[H': 'home',
  '\u001BOH': 'home',
  '\u001B[1~': 'home',
  '\u001B[F': 'end',
  '\u001BOF': 'end',
  '\u001B[4~': 'end',
}

// oxlint-disable-next-line no-control-regex -- an escape sequence is one key
const sequence = /\u001B\[[0-9;?]*[ -/]*[@-~]|\u001BO.|\u001B.|./gsu

/** `j`, `up`, `ctrl-c`; an escape sequence that has no name here is a key that does nothing. */
export function keysOf(sent: string): string[] {
  return (sent.match(sequence) ?? []).map((key) => named[key] ?? key)
}
