/** Which file of a source folder imports which: values, types, re-exports and `import()`. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Each file with the files of the same source folder that it imports; paths are relative to that folder. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** `from './a.ts'`, `import './a.ts'`, `import('./a.ts')`; also as a type. */
const imported = /\b(?:from|import)\s*\(?\s*(['"])(\.[^'"\n]*)\1/g

/** Reads every file but the tests. */
export function readImportGraph(root: string): ImportGraph {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const known = new Set(files)
  return new Map(
    files.toSorted().map((file) => {
      const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '')
      const targets = Array.from(text.matchAll(imported), ([, , to = '']) =>
        path.join(path.dirname(file), to).replace(/\.js$/, '.ts'),
      )
      return [file, [...new Set(targets)].filter((to) => known.has(to))]
    }),
  )
}

export function countImports(graph: ImportGraph): number {
  return [...graph.values()].reduce((sum, targets) => sum + targets.length, 0)
}

/** The same for folders: an edge where a file of the one imports a file of the other. */
export function folderGraph(graph: ImportGraph, isFolder: (folder: string) => boolean): ImportGraph {
  const folders = new Map<string, Set<string>>()
  for (const [file, targets] of graph) {
    const from = path.dirname(file)
    if (!isFolder(from)) continue
    const edges = folders.get(from) ?? new Set()
    folders.set(from, edges)
    for (const to of targets.map((target) => path.dirname(target)))
      if (to !== from && isFolder(to)) edges.add(to)
  }
  return new Map(Array.from(folders, ([folder, edges]) => [folder, [...edges]]))
}

/**
 * One closed path for each group whose members all reach one another: `['a.ts', 'b.ts', 'a.ts']`. The groups are found
 * with Tarjan's algorithm.
 */
export function findCycles(graph: ImportGraph): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()]
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const to of graph.get(file) ?? []) {
      if (!index.has(to)) visit(to)
      if (stack.includes(to)) low.set(file, Math.min(low.get(file)!, low.get(to)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(pathThrough(graph, group))
  }
  for (const file of graph.keys()) if (!index.has(file)) visit(file)
  return cycles
}

/** A path from the first member that comes back to it, and changes the folder on its way if any such path does. */
function pathThrough(graph: ImportGraph, group: readonly string[]): string[] {
  const inside = new Set(group)
  const edges = group.flatMap((from) => (graph.get(from) ?? []).map((to) => ({ from, to })))
  const within = edges.filter(({ to }) => inside.has(to))
  const apart = within.find(({ from, to }) => path.dirname(from) !== path.dirname(to)) ?? within[0]!
  const before = new Map<string, string>([[apart.to, apart.from]])
  const queue = [apart.to]
  for (const file of queue) {
    if (file === apart.from) break
    for (const to of graph.get(file) ?? []) {
      if (!inside.has(to) || before.has(to)) continue
      before.set(to, file)
      queue.push(to)
    }
  }
  const found = [apart.from]
  for (let file = apart.from; file !== apart.to; ) {
    file = before.get(file)!
    found.unshift(file)
  }
  return [apart.from, ...found]
}

/** Whether the files of a cycle are of more than one folder. */
export function crossesFolders(cycle: readonly string[]): boolean {
  return new Set(cycle.map((file) => path.dirname(file))).size > 1
}
