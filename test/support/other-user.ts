/** A user who may not do everything, as root may. Only root can become one. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import path from 'node:path'
import { bundled } from './bundle.ts'
import { tempFolder, type TestRepo } from './repo.ts'

const nobody = 65534

/** The repository, and all that is beside it, now belongs to that user. */
export function ownedByOther(repo: TestRepo): TestRepo {
  repo.write('../state/.keep', '')
  giveToOther(repo.home)
  return repo
}

export function giveToOther(folder: string): void {
  execFileSync('chown', ['-R', '-h', `${nobody}:${nobody}`, folder])
  chmodSync(folder, 0o755)
}

/**
 * A script in a process of that user, with what the module exports as `loaded`. They may not get at Node or our sources: so
 * Node is started by us, and what it then loads is one file in a place that is open to all.
 */
export async function asOther(
  module: string,
  script: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<unknown> {
  const folder = tempFolder()
  chmodSync(folder, 0o755)
  const file = await bundled(path.resolve(import.meta.dirname, '../../src', module), folder)
  const code = `
    process.setgroups([]), process.setgid(${nobody}), process.setuid(${nobody})
    const loaded = await import(${JSON.stringify(file)})
    const fs = await import('node:fs')
    const answer = await (async () => { ${script} })().catch((error) => ({ error: error.code ?? String(error) }))
    console.log(JSON.stringify(answer ?? null))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    cwd: '/',
  })
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  await once(child, 'close')
  return JSON.parse(out)
}

/** The same with the library on a repository as `lib`. */
export function libraryAsOther(repo: TestRepo, script: string, flags: object = {}): Promise<unknown> {
  const options = JSON.stringify({ env: repo.env, flags })
  return asOther(
    'index.ts',
    `const lib = loaded.openRepo(${JSON.stringify(repo.dir)}, ${options})
     try { ${script} } finally { await lib.close() }`,
    repo.env,
  )
}
