import os from 'node:os'
import path from 'node:path'

/** What git and offshoot may see of the machine: neither the developer's config nor their state. */
export function cleanEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    TMPDIR: os.tmpdir(),
    OFFSHOOT_HOME: path.join(home, 'state'),
    // What a process behind the scenes makes would be in the way of whoever counts folders.
    OFFSHOOT_POOL_SIZE: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'User',
    GIT_AUTHOR_EMAIL: 'user@example.com',
    GIT_COMMITTER_NAME: 'User',
    GIT_COMMITTER_EMAIL: 'user@example.com',
  }
}
