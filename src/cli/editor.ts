/** Finds the user's editor and opens a folder in it. */
import { quoted } from '../core/base/shell-quote.ts'
import { findProgram } from '../process/programs.ts'
import { startInTerminal } from '../process/spawn.ts'

/** Editors that open a whole folder, the first that is installed counts. */
const known = ['code', 'zed', 'cursor', 'idea']

/**
 * The command line of the editor: the setting `editor.command`, else `VISUAL`, else `EDITOR`, else a known editor that is installed. Never
 * one that the repository's config names, since an agent may have written it there.
 */
export function editorLine(setting: string, env: NodeJS.ProcessEnv): string | undefined {
  const named = [setting, env.VISUAL ?? '', env.EDITOR ?? ''].find((line) => line.trim() !== '')
  return named ?? known.find((program) => findProgram(program, '/', env.PATH) !== undefined)
}

/**
 * The exit code of the editor, which a window may answer at once. It starts in the user's checkout: a relative path of its
 * command line never names a file that an agent wrote in the workspace.
 */
export function openEditor(
  line: string,
  { folder, checkout }: { readonly folder: string; readonly checkout: string },
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = startInTerminal(`${line} ${quoted(folder)}`, checkout, env)
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
