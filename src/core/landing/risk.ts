/** Judges the files of a change: those that run later are told, those that hold secrets or lead out are refused. Pure. */
import type { BytePath } from '../model/bytes.ts'
import { toText } from '../model/bytes.ts'
import { isSecretName } from '../model/secrets.ts'
import type { Leaf } from '../model/tree.ts'
import { whyLater } from './runs-later.ts'

/** A changed file, and what was seen in it. */
export interface SeenFile {
  readonly path: BytePath
  readonly from: Leaf | null
  readonly to: Leaf | null
  readonly holdsSecret: boolean
  /** Of a link: why it may not land. */
  readonly link?: string | undefined
  /** A `package.json` whose scripts and dependencies are as before. */
  readonly isHarmless?: boolean | undefined
}

/** A path, or the id of a commit, and what is the matter with it. */
export interface Risk {
  readonly path: string
  readonly why: string
}

export interface Risks {
  /** Files that run later without being asked for, or as a habit: hooks, workflows, `Makefile`. */
  readonly told: readonly Risk[]
  /** Files that land only if `--allow` names them. */
  readonly refused: readonly Risk[]
}

export function risks(files: readonly SeenFile[]): Risks {
  const named = (why: (file: SeenFile) => string | undefined) =>
    files.flatMap((file): Risk[] => {
      const reason = why(file)
      return reason === undefined ? [] : [{ path: toText(file.path), why: reason }]
    })
  return { told: named(whyTold), refused: named(whyNot) }
}

function whyTold({ path, to, isHarmless }: SeenFile): string | undefined {
  if (to === null || isHarmless) return undefined
  return whyLater(toText(path)) ?? (to.mode === '100755' ? 'can be run' : undefined)
}

function whyNot({ path, from, to, holdsSecret, link }: SeenFile): string | undefined {
  if (to?.mode === '160000' || from?.mode === '160000') return 'a change of a submodule'
  if (to === null) return undefined
  return link ?? whySecret(path, holdsSecret)
}

export function whySecret(path: BytePath, holdsSecret: boolean): string | undefined {
  if (isSecretName(toText(path))) return 'looks like a secret, by its name'
  return holdsSecret ? 'looks like it holds a secret' : undefined
}
