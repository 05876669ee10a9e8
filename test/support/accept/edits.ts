/** Random edits of a folder, as values that shrink well. */
import { fc } from '../random.ts'
import { type Entry, isBelow, type Tree } from './tree.ts'

/** Few names, so that the two sides meet, as file, folder and link. */
const names = ['a', 'b', 'c', 'd', 'd/e', 'd/f', 'd/g/h', 'i', 'i/j']
const ignoredNames = ['x.ign', 'd/y.ign', 'i/z.ign']

export const isIgnored = (file: string) => file.endsWith('.ign')

export type Edit =
  | { readonly do: 'edit'; readonly pick: number; readonly line: number; readonly text: number }
  | { readonly do: 'add' | 'link'; readonly name: string; readonly text: number }
  | { readonly do: 'delete' | 'mode' | 'relink' | 'unfold' | 'fold'; readonly pick: number }
  | { readonly do: 'rename'; readonly pick: number; readonly name: string }

const pick = fc.nat(8)
const text = fc.nat(2)
const name = fc.constantFrom(...names)

const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('edit' as const), pick, line: fc.nat(lines() - 1), text }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('add' as const), name, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), name, text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'delete' as const,
        'mode' as const,
        'relink' as const,
        'unfold' as const,
        'fold' as const,
      ),
      pick,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('rename' as const), pick, name }) },
)

const ignoredEdit: fc.Arbitrary<Edit> = fc.record({
  do: fc.constant('add' as const),
  name: fc.constantFrom(...ignoredNames),
  text,
})

export const edits = (maxLength: number) => fc.array(edit, { maxLength })
export const someEdits = (maxLength: number) => fc.array(edit, { minLength: 1, maxLength })
export const looseEdits = (maxLength: number) =>
  fc.array(fc.oneof({ weight: 5, arbitrary: edit }, { weight: 1, arbitrary: ignoredEdit }), { maxLength })

function lines() {
  return 12
}

/** Lines that no other file has, all of about one length: git then sees the same renames as the reference. */
function fileText(origin: string): string {
  return Array.from({ length: lines() }, (_, n) => `${`${origin} line ${n}`.padEnd(24, '.')}\n`).join('')
}

export const baseTree: fc.Arbitrary<Tree> = fc
  .uniqueArray(fc.record({ name, link: fc.boolean(), executable: fc.boolean(), rare: fc.nat(4) }), {
    selector: (file) => file.name,
    minLength: 3,
    maxLength: 7,
  })
  .map((files) => {
    const tree = new Map<string, Entry>([['.gitignore', { mode: '100644', text: '*.ign\n' }]])
    for (const { name: file, link, executable, rare } of files) {
      if (isBlocked(tree, file)) continue
      if (link && rare === 0) tree.set(file, { mode: '120000', text: `base-${file.replaceAll('/', '-')}` })
      else tree.set(file, { mode: executable ? '100755' : '100644', text: fileText(`base ${file}`) })
    }
    return tree
  })

function isBlocked(tree: Tree, file: string): boolean {
  return [...tree.keys()].some((other) => isBelow(other, file) || isBelow(file, other))
}

/** The tree after the edits. What cannot be done, because something else is in that place, is not done. */
export function edited(tree: Tree, who: string, all: readonly Edit[]): Tree {
  const result = new Map(tree)
  for (const [n, one] of all.entries()) apply(result, `${who}${n}`, who, one)
  return result
}

function apply(tree: Map<string, Entry>, unique: string, who: string, edit: Edit): void {
  const picked = 'pick' in edit ? pickFile(tree, edit.pick) : undefined
  const there = picked === undefined ? undefined : tree.get(picked)
  if (edit.do === 'add' || edit.do === 'link') {
    if (isBlocked(tree, edit.name)) return
    // Text 0 is the same whoever adds it: both sides may do the same thing.
    const origin = edit.text === 0 ? `new ${edit.name}` : unique
    if (edit.do === 'add') tree.set(edit.name, { mode: '100644', text: fileText(origin) })
    else
      tree.set(edit.name, {
        mode: '120000',
        text: edit.text === 1 ? 'd' : `to-${origin.replaceAll(/[ /]/g, '-')}`,
      })
    return
  }
  if (picked === undefined || !there) return
  if (edit.do === 'edit') {
    if (there.mode === '120000') return
    const now = there.text.split('\n')
    now[edit.line] = `${edit.text === 0 ? 'same' : who} ${edit.text} edit ${edit.line}`.padEnd(24, '.')
    tree.set(picked, { ...there, text: now.join('\n') })
  }
  if (edit.do === 'delete') tree.delete(picked)
  if (edit.do === 'mode' && there.mode !== '120000')
    tree.set(picked, { ...there, mode: there.mode === '100644' ? '100755' : '100644' })
  if (edit.do === 'relink') tree.set(picked, { mode: '120000', text: `to-${unique}` })
  if (edit.do === 'rename') {
    tree.delete(picked)
    if (isBlocked(tree, edit.name) || tree.has(edit.name)) tree.set(picked, there)
    else tree.set(edit.name, there)
  }
  if (edit.do === 'unfold') {
    tree.delete(picked)
    tree.set(`${picked}/inside`, { mode: '100644', text: fileText(unique) })
  }
  const folder = picked.slice(0, Math.max(0, picked.lastIndexOf('/')))
  if (edit.do === 'fold' && folder !== '') {
    for (const file of tree.keys()) if (isBelow(file, folder) && !isIgnored(file)) tree.delete(file)
    if (!isBlocked(tree, folder)) tree.set(folder, { mode: '100644', text: fileText(unique) })
  }
}

function pickFile(tree: Tree, n: number): string | undefined {
  const files = [...tree.keys()].filter((file) => file !== '.gitignore' && !isIgnored(file)).sort()
  return files[n % Math.max(1, files.length)]
}
