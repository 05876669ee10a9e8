/** A shell beside each command that ends the command when we are killed. */
import { startApart } from './spawn.ts'

/**
 * Waits for a word from us. Should we die without one, the pipe closes, and it ends the group and whatever carries the
 * mark of the run. A shell, because it costs next to nothing while it waits. `kill -9 -- -PID` would do nothing in dash,
 * which takes `--` for a process after a number.
 */
const script = `
read -r word && exit 0
kill -s KILL -- "-$1"
for round in 1 2 3; do
  if [ -d /proc/self ]; then
    for file in $(grep -slzxF "$2" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -9 "\${pid%/environ}"
    done
  else
    ps -Axww -E -o pid=,command= | grep -F " $2 " | while read -r pid rest; do kill -9 "$pid"; done
  fi
done`

/** Ends a command together with us. Call the answer when the command has ended by itself. */
export function watch(group: number, run: string | undefined): () => void {
  const mark = run === undefined ? ' none ' : `OFFSHOOT_RUN=${run}`
  const args = ['-c', script, 'offshoot-watch', String(group), mark]
  const call = { program: '/bin/sh', args, cwd: '/', env: { PATH: '/usr/bin:/bin' } }
  // Where it cannot be started, the next recovery still ends what is left.
  const { stdin } = startApart(call, ['pipe', 'ignore', 'ignore'])
  stdin?.on('error', () => {})
  return () => void stdin?.end('done\n')
}
