/** The agents themselves, at the versions that the suite was written for, in a cache outside of the repository. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface Package {
  readonly name: string
  readonly version: string
}

const cache = process.env.OFFSHOOT_TEST_AGENTS ?? path.join(os.homedir(), '.cache', 'offshoot-test-agents')

/** The folder of its programs; undefined when the registry has no such package. What else goes wrong is thrown. */
export function install({ name, version }: Package): string | undefined {
  const folder = path.join(cache, `${path.basename(name)}-${version}`)
  const programs = path.join(folder, 'node_modules', '.bin')
  if (existsSync(folder)) return programs
  const wanted = `${name}@${version}`
  if (!isInRegistry(wanted)) return undefined
  const part = `${folder}.${process.pid}`
  mkdirSync(part, { recursive: true })
  try {
    npm(['install', '--prefix', part, '--no-audit', '--no-fund', wanted])
    if (!existsSync(folder)) renameSync(part, folder)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
  return programs
}

function isInRegistry(wanted: string): boolean {
  try {
    return npm(['view', wanted, 'version']).trim() !== ''
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    if (stderr?.includes('E404') || stderr?.includes('ETARGET')) return false
    throw error
  }
}

function npm(args: string[]): string {
  const PATH = `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH, NODE_OPTIONS: '--use-system-ca' }
  return execFileSync('npm', args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
}
