/** Everything that a program and its children did to the disk, as strace saw it. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** One call that changed something or synced it. Paths are absolute; `from` is the number of calls that had ended when it began. */
export type Call =
  | {
      readonly kind: 'open'
      readonly file: string
      readonly creates: boolean
      readonly empties: boolean
      readonly appends: boolean
      readonly mode: number
    }
  | { readonly kind: 'write'; readonly file: string; readonly data: Buffer; readonly at?: number }
  | { readonly kind: 'copy'; readonly from: string; readonly file: string }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'folder'; readonly file: string; readonly mode: number }
  | { readonly kind: 'unlink'; readonly file: string }
  | { readonly kind: 'link' | 'rename'; readonly old: string; readonly file: string }
  | { readonly kind: 'symlink'; readonly target: string; readonly file: string }
  | { readonly kind: 'chmod'; readonly file: string; readonly mode: number }
  | { readonly kind: 'sync'; readonly file: string; readonly began: number }
  | { readonly kind: 'sync all'; readonly began: number }
  | { readonly kind: 'said'; readonly text: string }

const traced = [
  'open,openat,creat,write,pwrite64,writev,pwritev,copy_file_range,sendfile,ftruncate,truncate,lseek',
  'rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat',
  'chmod,fchmod,fchmodat,fsync,fdatasync,sync,syncfs',
].join(',')

/** The arguments of strace that write such a log; the program follows them. */
export const straceArgs = (log: string) => {
  return ['-f', '--seccomp-bpf', '-qq', '-y', '-xx', '-s', '16777216', '-e', `trace=${traced}`, '-o', log]
}

/** What happened below the folder, in the order in which the calls ended, and what was said on the standard output. */
export function readDiskLog(log: string, root: string): Call[] {
  const calls: Call[] = []
  const begun = new Map<string, { readonly text: string; readonly began: number }>()
  const context = { folders: new Map<string, string>(), held: new Map<string, string>() }
  for (const line of readFileSync(log, 'latin1').split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/s.exec(line) ?? []
    const unfinished = /^(.*) <unfinished \.\.\.>$/s.exec(rest)
    if (unfinished) {
      begun.set(pid, { text: unfinished[1] ?? '', began: calls.length })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest)
    const before = resumed ? begun.get(pid) : undefined
    const whole = resumed ? `${before?.text ?? ''}${resumed[1]}` : rest
    const [, name = '', args = '', answer = ''] = /^(\w+)\((.*)\) += (.*)$/s.exec(whole) ?? []
    if (name === '' || answer.startsWith('-1')) continue
    calls.push(...parse(context, { pid, name, args, answer, began: before?.began ?? calls.length }))
  }
  const isInside = (file: string) => file === root || file.startsWith(`${root}/`)
  return calls.filter(
    (call) => !('file' in call) || isInside(call.file) || ('old' in call && isInside(call.old)),
  )
}

interface Context {
  /** The working folder of each process. */
  readonly folders: Map<string, string>
  /** The folders that are held open, by their descriptor. */
  readonly held: Map<string, string>
}

interface Line {
  readonly pid: string
  readonly name: string
  readonly args: string
  readonly answer: string
  readonly began: number
}

const unhex = (text: string) => Buffer.from(text.replaceAll('\\x', ''), 'hex')

/** The strings among the arguments, each resolved against the descriptor before it where it is a path. */
function pathsOf({ folders, held }: Context, { pid, args }: Line): string[] {
  const cwd = /AT_FDCWD<([^>]*)>/.exec(args)?.[1]
  if (cwd !== undefined) folders.set(pid, unhex(cwd).toString('latin1'))
  const found: string[] = []
  for (const [, at, text = ''] of args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:\\x..)*)"/g)) {
    const base = at === undefined ? (folders.get(pid) ?? '/') : unhex(at).toString('latin1')
    const named = unhex(text).toString('latin1')
    const [, descriptor, rest] = /^\/proc\/self\/fd\/(\d+)(.*)$/s.exec(named) ?? []
    const real = descriptor === undefined ? named : `${held.get(descriptor) ?? ''}${rest}`
    found.push(path.resolve(base, real))
  }
  return found
}

const descriptorOf = (text: string) => unhex(/^\d+<([^>]*)>/.exec(text)?.[1] ?? '').toString('latin1')
const lastNumber = (args: string) => Number(/(\d+)$/.exec(args)?.[1] ?? 0)
/** The mode among the arguments, as the umask leaves it. */
const modeOf = (args: string, umask = 0o022) =>
  Number.parseInt(/, (0\d+)$/.exec(args)?.[1] ?? '0644', 8) & ~umask
const dataOf = (args: string) =>
  Buffer.concat(Array.from(args.matchAll(/"((?:\\x..)*)"/g), ([, text = '']) => unhex(text)))

function parse(context: Context, line: Line): Call[] {
  const { name, args, answer, began } = line
  const [first = '', second = ''] = pathsOf(context, line)
  const opened = descriptorOf(args)
  switch (name) {
    case 'open':
    case 'openat':
    case 'creat': {
      const file = descriptorOf(answer)
      if (args.includes('O_PATH')) context.held.set(/^\d+/.exec(answer)?.[0] ?? '', file)
      const isWritten = name === 'creat' || /O_WRONLY|O_RDWR/.test(args)
      if (!isWritten) return []
      const creates = name === 'creat' || args.includes('O_CREAT')
      const empties = name === 'creat' || args.includes('O_TRUNC')
      const appends = args.includes('O_APPEND')
      return [{ kind: 'open', file, creates, empties, appends, mode: modeOf(args) }]
    }
    case 'write':
    case 'writev':
      if (args.startsWith('1<') && !opened.startsWith('/'))
        return [{ kind: 'said', text: dataOf(args).toString() }]
      return [{ kind: 'write', file: opened, data: dataOf(args).subarray(0, Number(answer)) }]
    case 'pwrite64':
    case 'pwritev':
      return [
        { kind: 'write', file: opened, data: dataOf(args).subarray(0, Number(answer)), at: lastNumber(args) },
      ]
    case 'lseek':
      return [{ kind: 'write', file: opened, data: Buffer.alloc(0), at: Number(answer) }]
    case 'copy_file_range':
    case 'sendfile': {
      const [one = '', two = ''] = Array.from(args.matchAll(/\d+<([^>]*)>/g), ([, text = '']) =>
        unhex(text).toString('latin1'),
      )
      if (answer === '0') return []
      return [
        name === 'sendfile' ? { kind: 'copy', from: two, file: one } : { kind: 'copy', from: one, file: two },
      ]
    }
    case 'ftruncate':
      return [{ kind: 'truncate', file: opened, size: lastNumber(args) }]
    case 'truncate':
      return [{ kind: 'truncate', file: first, size: lastNumber(args) }]
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return [{ kind: 'rename', old: first, file: second }]
    case 'link':
    case 'linkat':
      return [{ kind: 'link', old: first, file: second }]
    case 'symlink':
    case 'symlinkat':
      return [
        {
          kind: 'symlink',
          target: unhex(/"((?:\\x..)*)"/.exec(args)?.[1] ?? '').toString('latin1'),
          file: second,
        },
      ]
    case 'unlink':
    case 'unlinkat':
    case 'rmdir':
      return [{ kind: 'unlink', file: first }]
    case 'mkdir':
    case 'mkdirat':
      return [{ kind: 'folder', file: first, mode: modeOf(args) }]
    case 'chmod':
    case 'fchmodat':
      return [{ kind: 'chmod', file: first, mode: modeOf(args, 0) }]
    case 'fchmod':
      return [{ kind: 'chmod', file: opened, mode: modeOf(args, 0) }]
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', file: opened, began }]
    default:
      return [{ kind: 'sync all', began }]
  }
}
