/**
 * A program that waits at a gate, its file descriptor 3, until it is on record. Should we die before that, the gate
 * closes and the program never runs: recovery would not know of it. The process stays the same.
 */
export function gated(program: string, args: readonly string[]): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', 'read -r _ <&3 && exec "$@" 3<&-', 'sh', program, ...args]]
}
