/** Hints that nobody can follow in a test of seconds, each with the reason. */
export const prose: readonly { readonly name: string; readonly why: string }[] = [
  {
    name: 'acp/prompt.ts: Send text',
    why: 'an editor shows it, in which a test cannot type',
  },
  {
    name: 'acp/talks.ts: Open a folder',
    why: 'an editor shows it, in which a test cannot type',
  },
  {
    name: 'acp/updates.ts: The agent asks',
    why: 'an editor that cannot ask shows it; runs/questions.test.ts types the command',
  },
  {
    name: 'acp/updates.ts: Land it on your checkout',
    why: 'an editor shows it; doors/acp.test.ts reads it there, and types the commands',
  },
  {
    name: 'cli/commands/daemon.ts: It is version',
    why: 'it takes a daemon of an older version; doors/orchestrator.test.ts has one replaced by the command',
  },
  {
    name: 'core/runs/dispatch.ts: Ask for it again',
    why: 'it takes a record that is lost while its run waits, and is told in the log of the daemon',
  },
  {
    name: 'core/runs/orders.ts: offshoot daemon status',
    why: 'only the process of a queued run can meet it, whose place another one has taken at that moment',
  },
  {
    name: 'core/runs/run.ts: See what became of it',
    why: 'only the process of a queued run can meet it, whose task was closed at that moment',
  },
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
