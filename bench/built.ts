/** Builds and loads the package as users get it. The benchmark measures the built code, on the Node that runs it. */
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

/** The sources, for preparing records only; they are not measured. */
export function composition(): Promise<typeof Composition> {
  return import('../src/compose/full.ts')
}

function load<T>(file: string): Promise<T> {
  return import(path.join(root, 'dist', file)) as Promise<T>
}
