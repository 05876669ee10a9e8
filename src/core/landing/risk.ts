/** Finds risky files in a change: those that run code, hold secrets, or lead out of the repository. Pure. */
import path from 'node:path'
import { hasSecret, isSecretName } from '../model/secrets.ts'
import type { Leaf } from '../model/tree.ts'

export interface RiskyFile {
  readonly path: string
  readonly from: Leaf | null
  readonly to: Leaf | null
  /** Its new content, if it is small enough to be searched. */
  readonly content: Buffer | undefined
}

export interface Risks {
  /** Files whose code runs later without being asked for, or as a habit: hooks, workflows, `Makefile`. */
  readonly runsCode: readonly string[]
  /** Files that land only if `--allow` names them. */
  readonly refused: readonly { readonly path: string; readonly why: string }[]
}

const running = [
  /(^|\/)\.(vscode|idea|claude|cursor|husky|githooks|devcontainer)\//,
  /(^|\/)(hooks|git-hooks)\//,
  /^\.github\/(workflows|actions)\//,
  /(^|\/)(\.envrc|\.mcp\.json|\.gitlab-ci\.yml|Jenkinsfile|Makefile|justfile|package\.json|\.pre-commit-config\.yaml|lefthook\.yml)$/,
  /^\.circleci\//,
]

export function risks(files: readonly RiskyFile[]): Risks {
  const runsCode: string[] = []
  const refused: { path: string; why: string }[] = []
  for (const file of files) {
    if (file.to !== null && (running.some((pattern) => pattern.test(file.path)) || isNewlyExecutable(file)))
      runsCode.push(file.path)
    const why = refusal(file)
    if (why !== undefined) refused.push({ path: file.path, why })
  }
  return { runsCode, refused }
}

function isNewlyExecutable({ from, to }: RiskyFile): boolean {
  return to?.mode === '100755' && from?.mode !== '100755'
}

function refusal({ path: file, from, to, content }: RiskyFile): string | undefined {
  if (to?.mode === '160000' || from?.mode === '160000') return 'a change of a submodule'
  if (to === null) return undefined
  if (to.mode === '120000' && leadsOut(file, content?.toString() ?? ''))
    return 'a link that leads out of the repository'
  if (isSecretName(file)) return 'looks like a secret, by its name'
  if (content && hasSecret(content.toString('latin1'))) return 'looks like it holds a secret'
  return undefined
}

function leadsOut(file: string, target: string): boolean {
  if (path.posix.isAbsolute(target)) return true
  return path.posix.normalize(path.posix.join(path.posix.dirname(file), target)).startsWith('..')
}
