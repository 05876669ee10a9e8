/** Starts a shell beside each command, which ends the command if we are killed. */
import { startApart } from './spawn.ts'

/**
 * Waits for a line from us. If we die without sending one, the pipe closes, and the shell kills the group and every
 * process with the mark of the run, or in its control group. A waiting shell costs next to nothing. `kill -9 -- -PID` would do nothing in dash,
 * which takes `--` for a process after a number.
 */
const script = `
read -r word && exit 0
kill -s KILL -- "-$1"
for round in 1 2 3; do
  if [ -d /proc/self ]; then
    for file in $(grep -slzxF "$2" /proc/[0-9]*/environ) $(grep -slE "^0::.*/$3(/|$)" /proc/[0-9]*/cgroup); do
      pid=\${file#/proc/}
      kill -9 "\${pid%/*}"
    done
  else
    ps -Axww -E -o pid=,command= | grep -F " $2 " | while read -r pid rest; do kill -9 "$pid"; done
  fi
done`

/** Ends a command if we die. Call the returned function when the command has ended by itself. */
export function watch(group: number, run: string | undefined): () => void {
  const mark = run === undefined ? ' none ' : `OFFSHOOT_RUN=${run}`
  const args = ['-c', script, 'offshoot-watch', String(group), mark, `offshoot-${run ?? ' none '}`]
  const call = { program: '/bin/sh', args, cwd: '/', env: { PATH: '/usr/bin:/bin' } }
  // If the shell cannot be started, the next recovery still ends the remaining processes.
  const { stdin } = startApart(call, ['pipe', 'ignore', 'ignore'])
  stdin?.on('error', () => {})
  return () => void stdin?.end('done\n')
}
