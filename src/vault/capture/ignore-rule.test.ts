import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder, testRepo } from '../../../test/support/repo.ts'
import { nodeFiles } from '../../files/node.ts'
import { type GitExec, gitExec } from '../../git/exec.ts'
import { makeVault } from '../place.ts'
import { findIgnored, isNew, keptOutOf, scanIgnored, scanNamed, withoutIgnored } from './ignore-rule.ts'
import type { ScanScope } from './scan-scope.ts'

const leaf = { mode: '100644', oid: 'a'.repeat(40) } as const

test('the rules count for a path that no step holds, also when it was deleted', () => {
  expect([isNew(undefined), isNew(null), isNew(leaf)]).toEqual([true, true, false])
})

test('an ignored path that the agent has added is in', () => {
  expect(keptOutOf(new Set(['a', 'b']), new Map([['b', leaf]]))).toEqual(['a'])
})

async function scopeWith(rules: {
  ignore: string
  exclude: string
}): Promise<{ exec: GitExec; scope: ScanScope }> {
  const repo = testRepo()
  const files = nodeFiles()
  const vault = path.join(tempFolder(), 'vault')
  await makeVault(files, vault, 'sha1')
  writeFileSync(path.join(repo.dir, '.gitignore'), rules.ignore)
  writeFileSync(path.join(repo.dir, '.git/info/exclude'), rules.exclude)
  for (const file of ['build/a.o', 'build/keep.txt', 'notes.log', '.env', 'src/a.ts']) {
    mkdirSync(path.dirname(path.join(repo.dir, file)), { recursive: true })
    writeFileSync(path.join(repo.dir, file), file)
  }
  const exec = gitExec({ env: repo.env, recordChild: () => () => {} })
  const scope = {
    files,
    vault,
    workspace: repo.dir,
    index: path.join(repo.dir, '.git/index'),
    alternates: [path.join(repo.dir, '.git/objects')],
    excludes: path.join(repo.dir, '.git/info/exclude'),
  }
  return { exec, scope }
}

test('a .gitignore overrules the list of the repository', async () => {
  const { exec, scope } = await scopeWith({ ignore: '/build/\n!notes.log\n', exclude: '*.log\n.env\n' })
  const paths = ['build/a.o', 'notes.log', '.env', 'src/a.ts']
  expect(await findIgnored(exec, scope, paths)).toEqual(new Set(['build/a.o', '.env']))
  expect(await withoutIgnored(exec, scope, paths)).toEqual(['notes.log', 'src/a.ts'])
  expect((await scanIgnored(exec, scope)).toSorted()).toEqual(['.env', 'build/'])
})

test('patterns name only what a rule ignores, too', async () => {
  const { exec, scope } = await scopeWith({ ignore: '/build/\n', exclude: '.env\n' })
  const rules = path.join(scope.vault, 'patterns')
  writeFileSync(rules, '.env\n*.txt\n*.ts\n')
  expect((await scanNamed(exec, scope, { rules, folders: false })).toSorted()).toEqual([
    '.env',
    'build/keep.txt',
  ])
})
