/** Hints that nobody can follow in a test of seconds, each with the reason. */
export const prose: readonly { readonly name: string; readonly why: string }[] = [
  {
    name: 'cli/by-daemon.ts: The next command finishes it',
    why: 'it takes a daemon that is killed at a question; doors/by-daemon.test.ts kills one, and types the command',
  },
  {
    name: 'core/verbs/doctor.ts: Name a folder on a local disk',
    why: 'it needs a network file system; src/core/base/network-fs.test.ts knows which ones are',
  },
  {
    name: 'files/held.ts: Something else is at work there',
    why: 'it takes somebody who exchanges a folder for a link at the moment of a write, as attacks/links.test.ts does',
  },
  {
    name: 'git/reader.ts: Something there may be no plain file',
    why: 'it comes after a minute of silence; src/git/reader.test.ts waits for less, and types the command',
  },
  {
    name: 'process/processes.ts: End it',
    why: 'it takes a process that the kernel does not end within five seconds of a SIGKILL',
  },
]
