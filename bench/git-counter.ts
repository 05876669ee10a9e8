/** Counts calls of git with a shim in PATH. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { BenchRepo } from './repos.ts'

/** An environment in which each call of git leaves a line in a file. */
export function gitCounter({ home, env }: BenchRepo) {
  const folder = path.join(path.dirname(home), 'shim')
  const log = path.join(folder, 'calls')
  const shim = path.join(folder, 'git')
  mkdirSync(folder)
  writeFileSync(log, '')
  writeFileSync(shim, `#!/bin/sh\necho called >>'${log}'\nPATH=\${PATH#*:} exec git "$@"\n`)
  chmodSync(shim, 0o755)
  return {
    env: { ...env, PATH: `${folder}${path.delimiter}${env.PATH}` },
    read: () => readFileSync(log, 'utf8').split('\n').length - 1,
  }
}
