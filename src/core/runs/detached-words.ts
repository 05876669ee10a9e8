/** The words after `offshoot` with which a process of its own carries out a run. */
import type { RunInput } from './run-input.ts'

export interface DetachInput extends RunInput {
  /** Removes the workspace at the end, if the run succeeds. */
  readonly cleanup?: boolean | undefined
}

/**
 * The prompt is not among them: the process reads it from stdin, because it may be long, begin with a dash, and should be in no
 * list of processes. The task is there, so what makes a new one is left out. A command without a prompt works beside others,
 * as `exec` does.
 */
export function detachedWords(input: DetachInput, task: string): string[] {
  const { argv, create, prompt, resume } = input
  const quietly = ['--json', '--quiet']
  const command = argv === undefined ? [] : ['--', ...argv]
  if (argv && prompt === undefined && !create) return ['exec', ...quietly, task, ...command]
  const going = resume ? [`--resume=${resume === true ? '' : resume}`] : []
  const said = prompt === undefined ? [] : ['-']
  return ['run', `--task=${task}`, ...quietly, ...going, ...optionsOf(input), ...said, ...command]
}

function optionsOf(input: DetachInput): string[] {
  const { agent, policy, allowed, denied, autoContinue, askTimeout, notify, cleanup } = input
  return [
    ...valued('agent', agent),
    ...valued('policy', policy),
    ...valued('ask-timeout', askTimeout),
    ...valued('allowed-tools', allowed?.join(',')),
    ...valued('denied-tools', denied?.join(',')),
    ...valued('notify', notify && (notify.join(',') || 'none')),
    ...(autoContinue ? ['--auto-continue'] : []),
    ...(cleanup ? ['--cleanup'] : []),
  ]
}

const valued = (name: string, value: string | undefined) =>
  value === undefined ? [] : [`--${name}=${value}`]
