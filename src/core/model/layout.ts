/**
 * Every path that offshoot gives a name to. No other file spells one (test/contracts/spelling.test.ts). The state folder:
 *
 *     state.db                       records and events (with -wal and -shm while in use)
 *     vaults/<repo>.git/
 *       objects/  refs/tasks/<uid>   steps; the ref is the newest one
 *       refs/operations/<id>         the changes of each operation, with the files that finishing or undoing it needs
 *       operations.jsonl             which of them were completed, in that order
 *       repo.json                    the repository that it belongs to
 *       tasks/<uid>/                 `taskFiles`: derived files, the repository's config at the start, and notes
 *       tasks/<uid>/runs/            the transcript of each run
 *       scratch/                     copies of large files and packs in transit, and of the index of a checkout during a run
 *       forecast.json                the last forecast, and merges.json what its merges came to: made again if lost
 *       clean/                       a git folder in which the user's conversions work, for commits of no task
 *     workspaces/<repo>/<name>/      the workspaces, unless a setting puts them elsewhere
 *     workspaces/<repo>/.pool/       workspaces made ahead; each slot has slot.json, git/, files/ and task/
 *     workspaces/<repo>/.trash/      removed workspaces, and files that stood in the way of a rewind
 *     locks/                         one file per lock, never deleted, with the process that holds it
 *     children/                      one file per running child
 *     runs/                          the output of detached runs
 *     run-folders/                   files that an agent reads during one run, and the socket of its hooks; deleted with it
 *     aside/                         damaged databases and state of other tools, as `repair` found them
 *     scratch/                       a commit message while a hook reads it
 *     daemon.json                    the running daemon: its address, its process and its token
 *     daemon.sock                    its socket, unless the path would be too long
 *     daemon.log                     what it did, and daemon.log.1 before that
 *     tokens.json                    the hashes of tokens and of page keys
 *     compiled/                      compiled code of the command, which Node makes again when it is missing
 *
 * In a git folder of the user's: `offshoot-…`, and `offshoot.json` in the registration of a worktree. In a checkout:
 * `.offshoot.yaml`. The names of refs are in refs.ts.
 */
import path from 'node:path'
import { taskRef } from './refs.ts'

const database = 'state.db'

export function databaseFile(home: string): string {
  return path.join(home, database)
}

/** All files of the database. It comes last: a log that is left beside a new one would be taken for its own. */
export const databaseNames: readonly string[] = [`${database}-wal`, `${database}-shm`, database]

export function locksFolder(home: string): string {
  return path.join(home, 'locks')
}

export function childrenFolder(home: string): string {
  return path.join(home, 'children')
}

/** The output of one detached run. */
export function runLogFile(home: string, name: string): string {
  return path.join(home, 'runs', `${name}.log`)
}

export function runFolder(home: string, run: string): string {
  return path.join(home, 'run-folders', run)
}

/** All that the question of a run is about, while it waits for an answer. */
export function questionFile(home: string, run: string): string {
  return path.join(runFolder(home, run), 'question.json')
}

/** Where one `repair` puts what it takes out of the way. */
export function asideFolder(home: string, now: Date): string {
  return path.join(home, 'aside', now.toISOString().replaceAll(':', '-'))
}

/** A commit message while a hook reads it. */
export function messageFile(home: string, id: string): string {
  return path.join(home, 'scratch', `message-${id}`)
}

/** Compiled code of the command. */
export function compiledFolder(home: string): string {
  return path.join(home, 'compiled')
}

const daemonName = 'daemon.json'
const tokensName = 'tokens.json'

/** The files of ours in the state folder that are JSON; any other was left by an older tool. */
export const jsonNames: readonly string[] = [daemonName, tokensName]

/** The address and the token of the daemon, while it runs. */
export function daemonFile(home: string): string {
  return path.join(home, daemonName)
}

/** The socket of the daemon in its folder: the state folder, or a folder with a shorter path. */
export function daemonSocket(folder: string): string {
  return path.join(folder, 'daemon.sock')
}

export function daemonLogFile(home: string): string {
  return path.join(home, 'daemon.log')
}

/** The log before the present one. */
export function olderLogFile(log: string): string {
  return `${log}.1`
}

/** The hashes of tokens and of page keys. */
export function tokensFile(home: string): string {
  return path.join(home, tokensName)
}

/** The base folder of a repository's workspaces, unless a setting names another one. */
export function workspacesFolder(home: string, repo: string): string {
  return path.join(home, 'workspaces', repo)
}

export function vaultsFolder(home: string): string {
  return path.join(home, 'vaults')
}

const vaultEnd = '.git'

export function vaultFolder(home: string, repo: string): string {
  return path.join(vaultsFolder(home), `${repo}${vaultEnd}`)
}

/** The repository that a name in the folder of vaults stands for; undefined when it is no vault. */
export function repoOfVault(name: string): string | undefined {
  return name.endsWith(vaultEnd) ? name.slice(0, -vaultEnd.length) : undefined
}

/** Says which repository a vault belongs to. */
export function repoFile(vault: string): string {
  return path.join(vault, 'repo.json')
}

/** Says which operations were completed, one line for each. */
export function completedFile(vault: string): string {
  return path.join(vault, 'operations.jsonl')
}

/** The last forecast of the tasks of a repository, and the merges that it was made from. */
export function forecastFiles(vault: string): { forecast: string; merges: string } {
  return { forecast: path.join(vault, 'forecast.json'), merges: path.join(vault, 'merges.json') }
}

/** A file or folder that a process works on in a vault; without a name, the folder of all. */
export function scratchIn(vault: string, name = ''): string {
  return path.join(vault, 'scratch', name)
}

export function taskFoldersIn(vault: string): string {
  return path.join(vault, 'tasks')
}

/** The folder with what only saves work: the index and the overlay of one task. */
export function taskFolder(vault: string, task: { readonly uid: string }): string {
  return path.join(taskFoldersIn(vault), task.uid)
}

/** The transcripts of a task's runs: they go with its steps. */
export function transcriptsFolder(home: string, repo: string, task: { readonly uid: string }): string {
  return path.join(taskFolder(vaultFolder(home, repo), task), 'runs')
}

/** The file of the ref that is a task's newest step. */
export function tipFile(vault: string, task: { readonly uid: string }): string {
  return path.join(vault, taskRef(task.uid))
}

/** The files in the folder of a task in the vault. */
export const taskFiles = {
  /** The index of the moment when the workspace was filled. */
  index: 'index',
  /** How files looked when they were last captured. */
  overlay: 'overlay',
  /** The commit of step 0. */
  first: 'first',
  /** Commit and tree of a workspace that was made ahead. */
  made: 'made',
  /** The trees that the index was made from. */
  indexed: 'indexed',
  /** Paths that are in no step. */
  keptOut: 'kept-out',
  /** Which step is which commit on the branch. */
  published: 'published',
  /** The branch for the steps of a task whose own branch was there before. */
  branch: 'branch',
  /** The tree that the vault has a copy of. */
  adopted: 'adopted',
  /** The repository's config and attributes as they were at the start. */
  config: 'config',
  attributes: 'attributes',
  /** A git folder in which the user's conversions work. */
  clean: 'clean',
  /** A git folder to push from. */
  push: 'push',
  /** A git folder in which an index is made again. */
  room: 'room',
} as const

/** Beside an index of ours: says that it is younger than the files that it describes. */
export function agedMark(index: string): string {
  return `${index}.aged`
}

/** A git folder in which the user's conversions work, for commits of no task. */
export function cleanFolder(vault: string): string {
  return path.join(vault, taskFiles.clean)
}

/** Where the slots of a base folder are. Beside the workspaces: a rename must not cross file systems. */
export function poolOf(base: string): string {
  return path.join(base, '.pool')
}

/** The parts of a slot: what is known of it, its git folder, its files, and what becomes the task's folder in the vault. */
export function slotParts(slot: string): { record: string; git: string; files: string; task: string } {
  const at = (name: string) => path.join(slot, name)
  return { record: at('slot.json'), git: at('git'), files: at('files'), task: at('task') }
}

const trashName = '.trash'

/** The trash of a base folder. Beside the workspaces: a rename must not cross file systems. */
export function trashOf(base: string): string {
  return path.join(base, trashName)
}

/** The trash that a workspace goes to. */
export function trashBeside(workspace: string): string {
  return trashOf(path.dirname(workspace))
}

/** The folder of a workspace in the trash: the first of that name, or the n-th. */
export function trashFolderOf(workspace: string, n = 1): string {
  const name = path.basename(workspace)
  return path.join(trashBeside(workspace), n === 1 ? name : `${name}.${n}`)
}

/** Where files go that stand in the way of a rewind. */
export function trashAsideOf(workspace: string): string {
  return `${trashFolderOf(workspace)}.aside`
}

/** Beside it: files of a rewind until they take their places. */
export function draftsBeside(aside: string): string {
  return `${aside}.drafts`
}

/** The name of the workspace that a name in the trash was made from. */
export function workspaceOfTrash(name: string): string {
  return name.replace(/\.(\d+|aside|aside\.drafts)$/, '')
}

/** Whether a folder is directly in a trash. */
export function isInTrash(folder: string): boolean {
  return path.basename(path.dirname(folder)) === trashName
}

/** The parts of a folder in the trash. `leaving` is a workspace that is being deleted, `git` a git folder that was mended. */
export function trashParts(trash: string): {
  workspace: string
  leaving: string
  registration: string
  git: string
} {
  const at = (name: string) => path.join(trash, name)
  return {
    workspace: at('workspace'),
    leaving: at('workspace.gone'),
    registration: at('registration'),
    git: at('git'),
  }
}

/** The files of an operation until they take their places; on the same file system as the checkout. */
export function operationFolder(gitDir: string, id: string): string {
  return path.join(gitDir, `offshoot-${id}`)
}

/** Where files of a task in the user's checkout go that stand in the way of a rewind. */
export function shadowAside(gitDir: string): string {
  return path.join(gitDir, 'offshoot-aside')
}

/** The registration of a worktree before it takes its place. */
export function registrationDraft(commonDir: string, workspace: string): string {
  return path.join(commonDir, `offshoot-${path.basename(workspace)}.tmp`)
}

/** In the registration of a worktree of ours: the task that it was made for. */
export const registrationMark = 'offshoot.json'

export const settingsName = '.offshoot.yaml'

/** The repository's own settings. */
export function settingsFile(checkout: string): string {
  return path.join(checkout, settingsName)
}

/** The user's settings, in the folder that programs keep theirs in. */
export function userSettingsFile(configFolder: string): string {
  return path.join(configFolder, 'offshoot', 'config.yaml')
}
