/** The runs that docs/forecast.md shows are real ones. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'
import { lines } from '../support/worked.ts'
import { library } from '../support/workspace.ts'

const page = path.resolve(import.meta.dirname, '../../docs/forecast.md')

/** Each `$ offshoot …` of the page, with what follows it. */
function shownRuns(): { words: string[]; shown: string }[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/```console\n\$ offshoot ([^\n]*)\n([^]*?)```/g)
  return Array.from(blocks, ([, line = '', shown = '']) => ({ words: line.split(' '), shown }))
}

const works = {
  login: { 'login.js': lines({ 5: 'login' }), 'session.js': lines({ 3: 'login' }) },
  search: { 'search.js': lines({ 8: 'search' }), 'session.js': lines({ 3: 'search' }) },
  manual: { 'README.md': lines({ 2: 'manual' }) },
  tidy: { 'README.md': lines({ 15: 'tidy' }) },
}

test('F1, F2, F4: docs/forecast.md shows what a real run prints', async () => {
  const user = testRepo({
    'login.js': lines(),
    'session.js': lines(),
    'search.js': lines(),
    'README.md': lines(),
  })
  const lib = library(user)
  for (const [task, files] of Object.entries(works)) {
    const { path: folder } = (await lib.start({ task })).task
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
    await lib.checkpoint({ task })
  }
  user.write('README.md', lines({ 15: 'mine' }))
  const runs = shownRuns()
  expect(runs.map(({ words }) => words[0])).toEqual(['forecast', 'forecast', 'accept'])
  for (const { words, shown } of runs) expect((await offshoot(user, ...words)).stdout).toBe(shown)
})
