/** A program of this folder as one file: thousands of starts would spend most of their time on loading modules. */
import path from 'node:path'
import { build } from 'rolldown'

export async function bundled(name: 'child' | 'hand', folder: string): Promise<string> {
  const file = path.join(folder, `${name}.mjs`)
  await build({
    input: path.join(import.meta.dirname, `${name}.ts`),
    platform: 'node',
    logLevel: 'warn',
    output: { file, format: 'esm', codeSplitting: false },
  })
  return file
}
