import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openRepo } from '../../src/index.ts'
import { offshoot, testRepo } from '../support/repo.ts'

async function taskIn(files?: Record<string, string>) {
  const user = testRepo(files)
  const repo = openRepo(user.dir, { env: user.env })
  await repo.start({ task: 'T1' })
  return { user, repo, task: repo.task('T1') }
}

const names = (steps: readonly { tool: string; summary: string }[]) =>
  steps.map((step) => `${step.tool}: ${step.summary}`)

test('K7: one call wraps the tools of an agent loop, and each call that changes files becomes a step', async () => {
  const { user, repo, task } = await taskIn()
  const answer = await task.run('my loop', async ({ workspace, wrap }) => {
    const tools = wrap(
      {
        write: ({ path: name, text }: { path: string; text: string }) => {
          writeFileSync(path.join(workspace, name), text)
          return 'written'
        },
        read: ({ path: name }: { path: string }) => readFileSync(path.join(workspace, name), 'utf8'),
      },
      { readOnly: ['read'] },
    )
    await tools.write({ path: 'b.txt', text: 'b\n' })
    await tools.write({ path: 'b.txt', text: 'b\n' })
    await tools.write({ path: 'c.txt', text: 'c\n' })
    return tools.read({ path: 'b.txt' })
  })
  const steps = await task.log()
  expect(answer).toBe('b\n')
  expect(names(steps)).toEqual(['write: b.txt', 'write: c.txt'])
  expect(steps.map((step) => step.files)).toEqual([
    [{ path: 'b.txt', status: 'added' }],
    [{ path: 'c.txt', status: 'added' }],
  ])
  expect(new Set(steps.map((step) => step.run)).size).toBe(1)
  expect(user.git('log', '--format=%s', 'main..offshoot/T1')).toBe(
    'AI Tool: write - c.txt\nAI Tool: write - b.txt\n',
  )
  expect(await task.show()).toMatchObject({
    state: 'completed',
    checkpoints: 2,
    files: 2,
    insertions: 2,
    runs: 1,
  })
  await repo.close()
})

test('K7: tools that are objects, as AI SDKs have them, keep their other properties and their call id', async () => {
  const { repo, task } = await taskIn()
  await task.run('sdk', async ({ workspace, wrap }) => {
    const write = {
      description: 'Write a file',
      async execute({ file }: { file: string }, { toolCallId }: { toolCallId: string }) {
        expect(toolCallId).toBe('call_1')
        writeFileSync(path.join(workspace, file), 'x')
      },
    }
    const tools = wrap({ write })
    expect(tools.write.description).toBe('Write a file')
    await tools.write.execute({ file: 'x.txt' }, { toolCallId: 'call_1' })
  })
  expect(await task.log()).toMatchObject([{ tool: 'write', summary: 'x.txt', call: 'call_1' }])
  await repo.close()
})

test('K7: a loop with a single executor is wrapped the same way', async () => {
  const { repo, task } = await taskIn()
  await task.run('loop', async ({ workspace, wrapExecutor }) => {
    const execute = wrapExecutor(async (tool, input) => {
      if (tool === 'Edit') appendFileSync(path.join(workspace, 'a.txt'), String(input))
      return tool
    })
    expect(await execute('Edit', 'more\n')).toBe('Edit')
    expect(await execute('Look', 'nothing')).toBe('Look')
  })
  expect(names(await task.log())).toEqual(['Edit: more'])
  await repo.close()
})

test('K2, K4: a tool that throws makes no step of its name; what it left is swept up; the task stays active', async () => {
  const { repo, task } = await taskIn()
  await task.run('loop', async ({ workspace, wrap }) => {
    const tools = wrap({
      half: () => {
        writeFileSync(path.join(workspace, 'half.txt'), 'half')
        throw new Error('no more')
      },
      write: () => writeFileSync(path.join(workspace, 'whole.txt'), 'whole'),
    })
    await expect(tools.half()).rejects.toThrow('no more')
    expect((await task.show()).state).toBe('active')
    await tools.write()
  })
  const steps = await task.log()
  expect(names(steps)).toEqual(['sweep: left by half, which failed', 'write: '])
  expect(steps[1]?.files).toEqual([{ path: 'whole.txt', status: 'added' }])
  await repo.close()
})

test('K3: tool calls at the same time are safe: every file is in some step, and steps count up without a gap', async () => {
  const { repo, task } = await taskIn()
  await task.run('loop', async ({ workspace, wrap }) => {
    const tools = wrap({
      write: ({ path: name }: { path: string }) => writeFileSync(path.join(workspace, name), name),
    })
    await Promise.all(Array.from({ length: 12 }, (_, n) => tools.write({ path: `f${n}.txt` })))
  })
  const steps = await task.log()
  expect(steps.map((step) => step.n)).toEqual(steps.map((_, index) => index + 1))
  expect(steps.flatMap((step) => step.files.map((file) => file.path)).sort()).toEqual(
    Array.from({ length: 12 }, (_, n) => `f${n}.txt`).sort(),
  )
  await repo.close()
})

test('K13: calls that end together share a step that names every one of them, in JSON, in the log and in trailers', async () => {
  const { user, repo, task } = await taskIn()
  const ids = Array.from({ length: 15 }, (_, n) => `call_${n}`)
  await task.run('loop', async ({ workspace, wrap }) => {
    const tools = wrap({
      write: {
        execute: async ({ path: name }: { path: string }, { toolCallId }: { toolCallId: string }) => {
          await writeFile(path.join(workspace, name), toolCallId)
        },
      },
    })
    await Promise.all(
      ids.map((toolCallId) => tools.write.execute({ path: `${toolCallId}.txt` }, { toolCallId })),
    )
  })
  const steps = await task.log()
  const named = (calls: readonly { id?: string | undefined }[]) => calls.map(({ id }) => id)
  expect(new Set(steps.flatMap(({ calls }) => named(calls)))).toEqual(new Set(ids))
  for (const { files, calls } of steps)
    for (const file of files) expect(calls).toContainEqual(callOf(file.path))
  const trailers = user.git('log', '--format=%(trailers:key=Offshoot-Call,valueonly)', 'main..offshoot/T1')
  expect(new Set(trailers.trim().split(/\n+/))).toEqual(new Set(ids))
  const { stdout } = await offshoot(user, 'log', 'T1')
  for (const id of ids) expect(stdout).toContain(`write: ${id}.txt (${id})`)
  await repo.close()
})

const callOf = (file: string) => ({ id: path.basename(file, '.txt'), tool: 'write', summary: file })

test('K13: what a failed call left beside another is named as failed', async () => {
  const { repo, task } = await taskIn()
  await task.run('loop', async ({ workspace, wrap }) => {
    const tools = wrap({
      half: () => {
        writeFileSync(path.join(workspace, 'half.txt'), 'half')
        throw new Error('no more')
      },
      write: () => writeFileSync(path.join(workspace, 'whole.txt'), 'whole'),
    })
    await Promise.allSettled([tools.half(), tools.write()])
  })
  const half = (await task.log()).find(({ files }) => files.some((file) => file.path === 'half.txt'))
  expect(half?.calls).toContainEqual({ tool: 'half', summary: '', failed: true })
  await repo.close()
})

test('K7: a tool that names the file it wrote is believed; the rest is found at the end of the run', async () => {
  const { repo, task } = await taskIn()
  await task.run('loop', async ({ workspace, wrap }) => {
    const tools = wrap(
      {
        edit: ({ path: name }: { path: string }) => {
          writeFileSync(path.join(workspace, name), 'new')
          writeFileSync(path.join(workspace, 'aside.txt'), 'aside')
        },
      },
      { files: (_, input) => [(input as { path: string }).path] },
    )
    await tools.edit({ path: 'named.txt' })
  })
  const steps = await task.log()
  expect(steps.map((step) => step.files.map((file) => file.path))).toEqual([['named.txt'], ['aside.txt']])
  expect(steps[1]?.tool).toBe('sweep')
  await repo.close()
})

test('a loop that throws has failed, and its work is kept', async () => {
  const { repo, task } = await taskIn()
  const loop = task.run('loop', async ({ workspace }) => {
    writeFileSync(path.join(workspace, 'kept.txt'), 'kept')
    throw new Error('the model is gone')
  })
  await expect(loop).rejects.toThrow('the model is gone')
  expect(await task.show()).toMatchObject({
    state: 'failed',
    reason: 'the model is gone',
    checkpoints: 1,
    dirty: false,
  })
  await repo.close()
})

test('two runs of one task at once: the second is refused and names the first', async () => {
  const { repo, task } = await taskIn()
  await task.run('first', async () => {
    await expect(task.run('second', async () => {})).rejects.toMatchObject({ code: 'WT_012' })
  })
  await repo.close()
})

test('R9: what a tool was given is cut to its length without half of a secret being left', async () => {
  const { repo, task } = await taskIn()
  const token = `ghp_${'x1'.repeat(18)}`
  await task.run('my loop', async ({ workspace, wrap }) => {
    const write = ({ command }: { command: string }) => writeFileSync(path.join(workspace, 'x.txt'), command)
    await wrap({ write }).write({ command: `push ${'a'.repeat(80)} ${token}` })
  })
  expect(names(await task.log())).toEqual([`write: push ${'a'.repeat(80)} ***`])
  await repo.close()
})
