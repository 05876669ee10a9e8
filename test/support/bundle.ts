/**
 * A program, or the library, as one file: thousands of starts would spend most of their time on loading modules, and another
 * user may not get at the sources.
 */
import path from 'node:path'
import { build } from 'rolldown'

export async function bundled(source: string, folder: string): Promise<string> {
  const file = path.join(folder, `${path.basename(source, '.ts')}.mjs`)
  await build({
    input: source,
    platform: 'node',
    logLevel: 'warn',
    output: { file, format: 'esm', codeSplitting: false },
  })
  return file
}
