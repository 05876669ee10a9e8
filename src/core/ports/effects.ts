/** The methods of ports that change the world, as a list: where the fault tests let a call fail or kill the process. */
import type { Checkouts } from './checkouts.ts'
import type { Commands } from './commands.ts'
import type { Contents } from './contents.ts'
import type { FileSystem } from './files.ts'
import type { Notes, RepoRecords, Store } from './store.ts'
import type { Journal } from './journal.ts'
import type { Seeding } from './seeding.ts'
import type { Steps } from './steps.ts'

/** By port, the names of its methods with an effect. */
export const effects = {
  files: [
    'makeFolder',
    'makeNewFolder',
    'write',
    'writeDurable',
    'writeDurableNew',
    'writeNew',
    'append',
    'appendDurable',
    'writeDraft',
    'placeDrafts',
    'sync',
    'copy',
    'copyNew',
    'link',
    'rename',
    'move',
    'remove',
    'removeEmptyFolder',
  ],
  store: ['append'],
  repos: ['put'],
  notes: ['put'],
  vault: ['restore', 'seedSetup', 'seedWith'],
  contents: ['exportFile', 'keep'],
  checkouts: ['place', 'removeFile', 'lockIndex', 'unlockIndex', 'changeIndex', 'placeIndex'],
  commands: ['run'],
} as const satisfies {
  files: (keyof FileSystem)[]
  store: (keyof Store)[]
  repos: (keyof RepoRecords)[]
  notes: (keyof Notes)[]
  vault: (keyof (Seeding & Steps))[]
  contents: (keyof (Contents & Journal))[]
  checkouts: (keyof Checkouts)[]
  commands: (keyof Commands)[]
}
