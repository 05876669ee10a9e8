/** Nothing that writes is left out of the faults. */
import { expect, test } from 'vitest'
import { landingStrategies } from '../../src/core/landing/index.ts'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { journeys } from '../faults/journeys.ts'

/** The rows of test/faults/journeys.ts that strike an action, or why it needs none. */
const struck: Partial<Record<ActionName, { readonly rows: RegExp } | { readonly reason: string }>> = {
  'task.start': { rows: /^(start|recreate)/ },
  'task.checkpoint': { rows: /^checkpoint/ },
  'task.rewind': { rows: /^rewind/ },
  'task.run': { rows: /^run/ },
  'task.detach': {
    reason: 'it makes the task as task.start does, and the process that it starts is struck as task.run',
  },
  'task.install': { rows: /^agents install/ },
  'task.answer': { reason: 'it appends one event, which the waiting run reads' },
  'task.say': { reason: 'it appends one event, which the run reads when its turn is over' },
  'task.stop': { reason: 'it writes one event, and the run that it ends sweeps up' },
  'task.accept': { rows: /^accept/ },
  'task.update': { rows: /^update/ },
  'task.reject': { rows: /^reject/ },
  'task.delete': { rows: /^delete/ },
  'task.repair': { rows: /^repair/ },
  'task.prune': { rows: /^prune/ },
  'worktree.remove': { rows: /^remove/ },
  'system.undo': { rows: /^(undo|redo)/ },
  'system.forget': { rows: /^repos forget/ },
  'system.pool': { rows: /^pool/ },
  'system.direct': { reason: 'it records nothing, so that there is nothing to leave half-way' },
  'system.trust': { reason: 'it is one note' },
  'token.create': { reason: 'it replaces one file by rename' },
  'token.revoke': { reason: 'it replaces one file by rename' },
  'system.import': { reason: 'it replaces one file by rename' },
}

const writing = (Object.keys(actions) as ActionName[]).filter((action) => actions[action].writes)

test.each(writing)('P2: %s is struck by faults, or there is a reason not to', (action) => {
  const found = struck[action]
  expect(found, `${action} writes: give it a row in test/faults/journeys.ts and a line here`).toBeDefined()
  if (found && 'rows' in found) {
    const { rows } = found
    expect(journeys.filter(({ name }) => rows.test(name)).length).toBeGreaterThan(0)
  }
})

test.each(landingStrategies)('A4: accept --as $name is struck', ({ name: as }) => {
  expect(journeys.map(({ name }) => name)).toContain(`accept --as ${as}`)
})

test.each(['only', 'hunks'])('A4: accept --%s is struck', (part) => {
  expect(journeys.map(({ name }) => name)).toContain(`accept --${part}`)
})
