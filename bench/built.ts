/** The package as users get it: measured is what was built, started by the Node that this runs on. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import type * as Composition from '../src/compose/full.ts'
import type * as Library from '../src/index.ts'

const root = path.resolve(import.meta.dirname, '..')

export const bin = path.join(root, 'bin', 'offshoot.js')

export function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
}

export function library(): Promise<typeof Library> {
  return load('index.js')
}

/** For preparing records only: nothing of it is measured. */
export function composition(): Promise<typeof Composition> {
  return import('../src/compose/full.ts')
}

function load<T>(file: string): Promise<T> {
  return import(path.join(root, 'dist', file)) as Promise<T>
}
