/** Changes to a tree, on a store in memory. */
import { expect, test } from 'vitest'
import { changeTree, compareTrees, type Leaf, type TreeEntry, type TreeStore } from './tree.ts'

/** A store in memory, whose ids are the entries as JSON. */
function memory(): TreeStore {
  const trees = new Map<string, TreeEntry[]>()
  return {
    read: async (oid) => (oid === null ? [] : (trees.get(oid) ?? [])),
    async write(entries) {
      const all = [...entries]
      const oid = JSON.stringify(all)
      trees.set(oid, all)
      return oid
    },
  }
}

const leaf = (oid: string): Leaf => ({ mode: '100644', oid })

async function after(before: Record<string, Leaf>, changes: Record<string, Leaf | null>) {
  const store = memory()
  const { tree } = await changeTree(store, null, new Map(Object.entries(before)))
  const { tree: now } = await changeTree(store, tree, new Map(Object.entries(changes)))
  const all = await compareTrees(store, null, now)
  return Object.fromEntries(Array.from(all, ([file, { to }]) => [file, to?.oid]))
}

test('K5: a path deleted below a file leaves the file', async () => {
  expect(await after({ i: leaf('file') }, { 'i/j': null, 'i/k/l': null })).toEqual({ i: 'file' })
})

test('K5: a file becomes a folder, and a folder a file', async () => {
  expect(await after({ i: leaf('file') }, { 'i/j': leaf('inside') })).toEqual({ 'i/j': 'inside' })
  expect(await after({ 'i/j': leaf('inside') }, { i: leaf('file'), 'i/j': null })).toEqual({ i: 'file' })
  expect(await after({ i: leaf('file') }, { i: null, 'i/j': null })).toEqual({})
})
