/** Recovery before it settles anything: the children of the dead process have ended, or nothing is touched. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isRunning, killHard, runProgram } from '../support/processes.ts'
import { quickFolder, testRepo } from '../support/repo.ts'
import { library } from '../support/workspace.ts'
import { compose, type ComposeOptions } from '../../src/compose/full.ts'
import { appError } from '../../src/core/model/errors.ts'
import { settleAll } from '../../src/core/recovery/settle.ts'

type Around = NonNullable<ComposeOptions['around']>

/** An accept that died when all was staged, and could take nothing back. */
async function diedInAccept() {
  const user = testRepo({ f: 'one\n' }, quickFolder())
  const repo = library(user)
  const { task } = await repo.start({ task: 'T1' })
  writeFileSync(path.join(task.path, 'f'), 'of the agent\n')
  let died = false
  const die = () => {
    died = true
    return Promise.reject(new Error('here it dies'))
  }
  const around: Around = {
    checkouts: (checkouts) => ({ ...checkouts, place: die }),
    vault: (vault) => ({ ...vault, capture: (...call) => (died ? die() : vault.capture(...call)) }),
  }
  const accepting = library(user, { around }).accept({ task: 'T1', as: 'patch' })
  await expect(accepting).rejects.toThrow('here it dies')
  return user
}

test('P2.9: a verb is left alone as long as a child of its dead process runs', async () => {
  const user = await diedInAccept()
  const ports = compose({ env: user.env, background: false })
  onTestFinished(() => ports.close())
  const stuck = () => Promise.reject(appError(new Error('it does not end')))
  const [settled] = await settleAll({ ...ports, processes: { ...ports.processes, endChildren: stuck } })
  expect(settled).toMatchObject({ verdict: 'left alone', why: 'it does not end' })
  expect(user.git('status', '--porcelain')).toBe('')
  expect(await settleAll(ports)).toMatchObject([{ verdict: 'finished' }])
  expect(user.git('status', '--porcelain')).toBe(' M f\n')
})

test('P2.9: the children of a dead process that was in no verb are ended as well', async () => {
  const user = testRepo({ f: 'one\n' }, quickFolder())
  await library(user).start({ task: 'T1' })
  const program = new URL('../contracts/process.owner.ts', import.meta.url)
  const folder = path.join(user.env.OFFSHOOT_HOME ?? '', 'children')
  const running = runProgram(program, folder, 'sleep 1000 & echo $!; wait')
  const { child, grandchild } = JSON.parse(await running.line()) as { child: number; grandchild: number }
  onTestFinished(() => killHard(child, grandchild))
  await running.kill()
  expect([child, grandchild].map(isRunning)).toEqual([true, true])
  expect(await library(user).recover()).toEqual([])
  expect([child, grandchild].map(isRunning)).toEqual([false, false])
})
