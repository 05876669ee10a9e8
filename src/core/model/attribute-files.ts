/** The paths of attribute files, which say how git merges and converts other files. Pure. */
import type { BytePath } from '../model/bytes.ts'

/** The attribute files that may apply to these files. */
export function attributeFiles(files: Iterable<BytePath>): BytePath[] {
  const folders = new Set(Array.from(files).flatMap(foldersAbove))
  return ['.gitattributes', ...Array.from(folders, (folder) => `${folder}/.gitattributes`)]
}

/** Of `a/b/c`: `a`, then `a/b`. */
export function foldersAbove(file: BytePath): BytePath[] {
  const folders: BytePath[] = []
  for (let end = file.indexOf('/'); end !== -1; end = file.indexOf('/', end + 1))
    folders.push(file.slice(0, end))
  return folders
}
