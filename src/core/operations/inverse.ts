/** The operation that takes another one back. Pure (docs/adr/0015-operations-staged-then-finished.md). */
import type { FileMove, IndexPart, Operation } from '../model/operation.ts'

const swapped = (moves: readonly FileMove[]) =>
  moves.map(({ path: file, from, to }) => ({ path: file, from: to, to: from }))

export function swappedIndex(index: IndexPart): IndexPart {
  if ('moves' in index) return { ...index, moves: swapped(index.moves) }
  return { ...index, from: index.to, to: index.from }
}

/** The operation that takes this one back; `batch` is the undo that it belongs to. */
export function inverse(operation: Operation, id: string, at: string, batch?: string): Operation {
  const { files, strays, index, head, workspace, record } = operation
  return {
    id,
    verb: 'undo',
    task: operation.task,
    at,
    undoes: operation.id,
    batch,
    files: files && { ...files, moves: swapped(files.moves) },
    strays: strays?.map(({ folder, moves }) => ({ folder, moves: swapped(moves) })),
    index: index && swappedIndex(index),
    head: head && { ...head, from: head.to, to: head.from },
    refs: operation.refs.map(({ ref, old, new: now }) => ({ ref, old: now, new: old })),
    workspace: workspace && { ...workspace, to: workspace.to === 'trash' ? 'back' : 'trash' },
    record: { from: record.to, to: record.from },
    final: operation.final,
  }
}
