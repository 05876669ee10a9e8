/** The documents of the repository, for tests that read them. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')

/** Every Markdown file at the top and in docs, as paths from the root. */
export const documents: readonly string[] = ['.', 'docs', 'docs/adr', 'docs/proofs'].flatMap((folder) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name)),
)

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

/** The document without its blocks of code and without code in a line. */
export function prose(file: string): string {
  return read(file)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '`')
}
