/** Checks names that users give (task ids, branches), and makes names from them. Everything here is pure. */
import path from 'node:path'
import { AppError } from './errors.ts'
import { repoRoot } from './repo.ts'
import { workspacesFolder } from './layout.ts'

const longest = 64
/** Short names of the task that the user was last at work on, and of that of the present folder. No id begins like them. */
export const lastTask = '-'
export const taskHere = '@'

export const isShortName = (name: string) => name === lastTask || name === taskHere

const windowsDevices = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i

/** Throws unless the id can be a folder's and a branch's name on every file system. */
export function requireTaskId(id: string): string {
  if (id.includes('/') || id.includes('\\') || id.includes('..')) {
    throw new AppError('outsideBase', `The task id ${printableName(id)} would leave the base folder.`)
  }
  const wrong = taskIdFault(id)
  if (wrong) {
    throw new AppError('wrongUsage', `The task id ${printableName(id)} ${wrong}.`, {
      hint: `Use 1 to ${longest} of: letters, digits, ".", "_", "-".`,
    })
  }
  return id
}

function taskIdFault(id: string): string | undefined {
  if (id === '') return 'is empty'
  if (id.length > longest) return `has more than ${longest} characters`
  if (!/^[\x21-\x7e]+$/.test(id)) return 'has a space, or a character that is not printable ASCII'
  if (!/^[A-Za-z0-9]/.test(id)) return 'does not begin with a letter or digit'
  if (!/^[A-Za-z0-9._-]+$/.test(id)) return 'has characters other than letters, digits, ".", "_", "-"'
  if (/(\.|\.lock)$/i.test(id)) return 'ends in "." or ".lock"'
  if (windowsDevices.test(id)) return 'is a reserved name on Windows'
  return undefined
}

/** Throws unless git takes the branch name and every file system can hold it. */
export function requireBranchName(branch: string): string {
  const wrong = branchFault(branch)
  if (wrong) {
    throw new AppError('wrongUsage', `The branch name ${printableName(branch)} ${wrong}.`, {
      hint: 'Choose another: letters, digits, "-", "_", and "/" between its parts.',
    })
  }
  return branch
}

function branchFault(branch: string): string | undefined {
  if (branch === '' || branch === 'HEAD' || branch === '@') return 'is not a name'
  if (Buffer.byteLength(branch) > 200) return 'is longer than 200 bytes'
  if (branch.startsWith('-')) return 'begins with a dash'
  if (branch.startsWith('refs/')) return 'begins with refs/; give the short name'
  // Invisible and direction-changing characters make one name look like another.
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(branch)) return 'has control or invisible characters'
  if (!branch.isWellFormed()) return 'is not sound Unicode'
  if (/[ ~^:?*[\\]/.test(branch)) return 'has a space or one of ~ ^ : ? * [ \\'
  if (branch.includes('..') || branch.includes('@{') || branch.includes('//')) return 'has "..", "@{" or "//"'
  for (const part of branch.split('/')) {
    if (part === '' || part.startsWith('.') || /(\.|\.lock)$/i.test(part))
      return 'has a part that git refuses'
    if (windowsDevices.test(part)) return 'has a part that is a reserved name on Windows'
  }
  return undefined
}

/** The name for a message: quoted, shortened, and with every character that is not ASCII escaped. */
function printableName(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 77)}...` : name
  return JSON.stringify(short).replace(
    /[\u007f-\u{10ffff}]/gu,
    (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`,
  )
}

/** A task id from the first words of a title: `Fix the login form` gives `fix-the-login-form-3k9z`. */
export function taskIdFrom(title: string, uid: string): string {
  const words = title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .split('-')
    .filter(Boolean)
    .slice(0, 5)
    .join('-')
    .slice(0, 40)
  return `${words || 'task'}-${uid.slice(0, 4)}`
}

export interface NameParts {
  readonly task: string
  readonly uid: string
  readonly repo: string
  readonly now: Date
}

/** Fills in `{task}-{date}-{time}` and the like, in UTC: `T1-20261117-201500`. */
export function fromTemplate(template: string, parts: NameParts): string {
  const stamp = parts.now.toISOString().replace(/[-:]/g, '')
  const values: Record<string, string> = {
    task: parts.task,
    id8: parts.uid.slice(0, 8),
    repo: parts.repo,
    date: stamp.slice(0, 8),
    time: stamp.slice(9, 15),
  }
  return template.replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
}

/** The folder that holds a repository's workspaces. */
export function baseFolder(
  base: string,
  at: { home: string; repo: string; root: string; userHome: string },
): string {
  if (base === '') return workspacesFolder(at.home, at.repo)
  const expanded = base === '~' || base.startsWith('~/') ? path.join(at.userHome, base.slice(1)) : base
  return path.resolve(at.root, expanded)
}

/** Throws unless `name` is one plain step below `base`. */
export function requireInside(base: string, name: string): string {
  const full = path.resolve(base, name)
  if (path.dirname(full) !== path.resolve(base)) {
    throw new AppError('outsideBase', `${printableName(name)} is outside ${base}.`, { path: full })
  }
  return full
}

/** The name of a repository's folders in the state folder, such as `shop-1f3a9c2e`: readable, and never shared by two. */
export function repoName(commonDir: string, id: string): string {
  const slug = path
    .basename(repoRoot(commonDir))
    .replace(/\.git$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
  return `${(slug || 'repo').slice(0, 40)}-${id.slice(0, 8)}`
}
