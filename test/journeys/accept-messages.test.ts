import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { worked } from '../support/worked.ts'

const settings = [
  'accept:',
  '  squashMessage: |',
  '    {title} ({task})',
  '',
  '    {steps}',
  '  mergeMessage: Join {task}',
]

test('A12: squash and merge say what the settings say, filled in; -m wins', async () => {
  const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n' }, { g: 'new\n' }])
  writeFileSync(path.join(user.dir, '.offshoot.yaml'), `${settings.join('\n')}\n`)
  const said = () => user.git('log', '-1', '--format=%B').trim()
  await repo.accept({ task: 'T1', as: 'squash' })
  expect(said()).toBe('Do the work (T1)\n\n- f\n- g')
  await repo.undo()
  await repo.accept({ task: 'T1', as: 'merge' })
  expect(said()).toBe('Join T1')
  await repo.undo()
  await repo.accept({ task: 'T1', as: 'squash', message: 'My own {task}' })
  expect(said()).toBe('My own {task}')
})

test('A12: without settings a squash says the title, or without one that the task lands', async () => {
  const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
  await repo.accept({ task: 'T1', as: 'squash' })
  const { task } = await repo.start({ task: 'T2' })
  writeFileSync(path.join(task.path, 'g'), 'g\n')
  await repo.accept({ task: 'T2', as: 'squash' })
  expect(user.git('log', '--format=%s', '-2')).toBe('Land T2\nDo the work\n')
})

test('I6: a placeholder that means nothing is refused, with the setting named', async () => {
  const { user, repo } = await worked({ f: 'one\n' }, [{ f: 'two\n' }])
  writeFileSync(path.join(user.dir, '.offshoot.yaml'), 'accept:\n  squashMessage: "{titel}"\n')
  await expect(repo.accept({ task: 'T1', as: 'squash' })).rejects.toMatchObject({
    code: 'WT_016',
    data: { key: 'accept.squashMessage' },
  })
})

test('A12: a rebase says of a step in one line what the branch of the task says', async () => {
  const { user, repo, task, at } = await worked({ f: 'one\n' })
  writeFileSync(at('f'), 'two\n')
  const summary = `Two\nlines\u0007, and ${'long '.repeat(60)}`
  await repo.checkpoint({ task: task.id, tool: 'Edit\nMore', summary })
  await repo.accept({ task: task.id, as: 'keep-branch' })
  const subject = user.git('log', '-1', '--format=%s', task.branch)
  await repo.undo()
  await repo.accept({ task: task.id, as: 'rebase' })
  expect(user.git('log', '-1', '--format=%B', 'main').trim()).toBe(subject.trim())
  expect(subject).toMatch(/^AI Tool: Edit More - Two lines , and long /)
})
