import { expect, test } from 'vitest'
import { fillMessage, stepLines } from './message.ts'
import type { Step } from '../model/step.ts'
import type { Task } from '../model/task.ts'

const task = { id: 'T1', title: ' Greet\nlouder ' } as Task

function steps(...notes: Partial<Step>[]): Step[] {
  return [{ tool: 'start' }, ...notes].map((note, n) => {
    return { n, commit: '', tree: '', tool: 'Edit', summary: '', at: '', skipped: [], ...note }
  })
}

test('A12: the steps that count are listed, one line each; what was rewound and our own are not', () => {
  const all = steps(
    { summary: 'one' },
    { summary: 'two\nlines' },
    { summary: 'wrong' },
    { tool: 'rewind', rewindTo: 2 },
    { tool: 'update', summary: 'from main', basis: 'tree' },
    { tool: 'Write' },
  )
  expect(stepLines(all)).toEqual(['- one', '- two lines', '- Write'])
  expect(stepLines(steps())).toEqual([])
})

test('A12: what is filled in is not filled in again, and nothing left of it is the title', () => {
  expect(fillMessage('{task}: {title}\n\n{steps}', task, steps({ summary: '{task}' }))).toBe(
    'T1: Greet louder\n\n- {task}',
  )
  expect(fillMessage('{steps}', task, steps())).toBe('Greet louder')
  expect(fillMessage('{steps}', { ...task, title: '' }, [])).toBe('Land T1')
})
