import { expect, test } from 'vitest'
import {
  asideFolder,
  childrenFolder,
  completedFile,
  databaseFile,
  databaseNames,
  draftsBeside,
  isInTrash,
  locksFolder,
  messageFile,
  operationFolder,
  poolOf,
  registrationDraft,
  repoFile,
  repoOfVault,
  runFolder,
  runLogFile,
  scratchIn,
  settingsFile,
  shadowAside,
  slotParts,
  taskFolder,
  tipFile,
  trashAsideOf,
  trashBeside,
  trashFolderOf,
  trashOf,
  transcriptsFolder,
  trashParts,
  userSettingsFile,
  vaultFolder,
  workspaceOfTrash,
  workspacesFolder,
} from './layout.ts'

// On disks of users these names are there already: a new spelling would lose what is behind them.
test('the paths of the state folder stay as they are', () => {
  expect({
    database: databaseFile('/h'),
    databaseNames,
    locks: locksFolder('/h'),
    children: childrenFolder('/h'),
    runLog: runLogFile('/h', 'T1-0a'),
    runFolder: runFolder('/h', 'r1'),
    aside: asideFolder('/h', new Date('2026-01-02T03:04:05.678Z')),
    message: messageFile('/h', 'm1'),
    workspaces: workspacesFolder('/h', 'shop'),
    vault: vaultFolder('/h', 'shop'),
    transcripts: transcriptsFolder('/h', 'shop', { uid: 'u1' }),
  }).toEqual({
    database: '/h/state.db',
    databaseNames: ['state.db-wal', 'state.db-shm', 'state.db'],
    locks: '/h/locks',
    children: '/h/children',
    runLog: '/h/runs/T1-0a.log',
    runFolder: '/h/run-folders/r1',
    aside: '/h/aside/2026-01-02T03-04-05.678Z',
    message: '/h/scratch/message-m1',
    workspaces: '/h/workspaces/shop',
    vault: '/h/vaults/shop.git',
    transcripts: '/h/vaults/shop.git/tasks/u1/runs',
  })
})

test('the paths of a vault stay as they are', () => {
  const task = { uid: 'u1' }
  expect([repoFile('/v'), completedFile('/v'), scratchIn('/v'), scratchIn('/v', 'pack')]).toEqual([
    '/v/repo.json',
    '/v/operations.jsonl',
    '/v/scratch',
    '/v/scratch/pack',
  ])
  expect([taskFolder('/v', task), tipFile('/v', task)]).toEqual(['/v/tasks/u1', '/v/refs/tasks/u1'])
  expect(['shop.git', 'shop', 'a.git.tmp'].map(repoOfVault)).toEqual(['shop', undefined, undefined])
})

test('pool and trash are beside the workspaces', () => {
  expect([poolOf('/b'), trashOf('/b'), trashBeside('/b/T1')]).toEqual(['/b/.pool', '/b/.trash', '/b/.trash'])
  expect([trashFolderOf('/b/T1'), trashFolderOf('/b/T1', 2)]).toEqual(['/b/.trash/T1', '/b/.trash/T1.2'])
  expect(trashParts('/b/.trash/T1')).toEqual({
    workspace: '/b/.trash/T1/workspace',
    leaving: '/b/.trash/T1/workspace.gone',
    registration: '/b/.trash/T1/registration',
    git: '/b/.trash/T1/git',
  })
  expect(slotParts('/b/.pool/s1')).toEqual({
    record: '/b/.pool/s1/slot.json',
    git: '/b/.pool/s1/git',
    files: '/b/.pool/s1/files',
    task: '/b/.pool/s1/task',
  })
  expect(['/b/.trash/T1', '/b/.trash', '/b/.trash/T1/workspace'].map(isInTrash)).toEqual([true, false, false])
})

test('a name in the trash tells its workspace', () => {
  const aside = trashAsideOf('/b/T1')
  expect(aside).toBe('/b/.trash/T1.aside')
  const made = [trashFolderOf('/b/T1'), trashFolderOf('/b/T1', 12), aside, draftsBeside(aside)]
  const told = made.map((folder) => workspaceOfTrash(folder.slice('/b/.trash/'.length)))
  expect(told).toEqual(['T1', 'T1', 'T1', 'T1'])
  expect(workspaceOfTrash('T1.asides')).toBe('T1.asides')
})

test('the names in folders of the user stay as they are', () => {
  expect([
    operationFolder('/r/.git', 'o1'),
    shadowAside('/r/.git'),
    registrationDraft('/r/.git', '/b/T1'),
  ]).toEqual(['/r/.git/offshoot-o1', '/r/.git/offshoot-aside', '/r/.git/offshoot-T1.tmp'])
  expect([settingsFile('/r'), userSettingsFile('/home/me/.config')]).toEqual([
    '/r/.offshoot.yaml',
    '/home/me/.config/offshoot/config.yaml',
  ])
})
