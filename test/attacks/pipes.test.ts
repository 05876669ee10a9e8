/** Pipes, links and folders in the place of our own records: no command waits for them, and none is taken for a record. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, testRepo } from '../support/repo.ts'

const stateOf = ({ home }: { readonly home: string }) => path.join(home, 'state')

test('P1: a pipe, a link or a folder among the records of children makes no command wait', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 'T0')
  const children = path.join(stateOf(repo), 'children')
  mkdirSync(children, { recursive: true })
  execFileSync('mkfifo', [path.join(children, '999999-8.5')])
  symlinkSync('/dev/zero', path.join(children, '999998-8.5'))
  mkdirSync(path.join(children, '999997-8.5'))
  expect(await offshoot(repo, 'start', 'T1')).toMatchObject({ code: 0 })
  expect(await offshoot(repo, 'recover')).toMatchObject({ code: 0 })
  expect(readdirSync(children).toSorted()).toEqual(['999997-8.5', '999998-8.5', '999999-8.5'])
}, 20_000)

test('P1: a pipe in the place of the note that names the holder of a lock makes no command wait', async () => {
  const repo = testRepo()
  await offshoot(repo, 'start', 'T1')
  const locks = path.join(stateOf(repo), 'locks')
  for (const name of readdirSync(locks).filter((one) => one.endsWith('.lock')))
    execFileSync('mkfifo', [path.join(locks, `${name}.holder`)])
  expect(await offshoot(repo, 'checkpoint', 'T1')).toMatchObject({ code: 0 })
}, 20_000)
