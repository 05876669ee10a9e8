/** The program that is killed, as one file: thousands of starts would spend most of their time on loading modules. */
import path from 'node:path'
import { build } from 'rolldown'

export async function bundleChild(folder: string): Promise<string> {
  const file = path.join(folder, 'child.mjs')
  await build({
    input: path.join(import.meta.dirname, 'child.ts'),
    platform: 'node',
    logLevel: 'warn',
    output: { file, format: 'esm', codeSplitting: false },
  })
  return file
}
