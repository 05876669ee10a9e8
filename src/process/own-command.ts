/** The path of the `offshoot` command, for processes of ours that call it again. */
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export function ownCommand(): string {
  const manifest = fileURLToPath(import.meta.resolve('offshoot/package.json'))
  return path.join(path.dirname(manifest), 'bin', 'offshoot.js')
}
