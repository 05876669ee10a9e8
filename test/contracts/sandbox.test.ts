import { expect, test } from 'vitest'
import { type SandboxKind, sandboxKinds } from '../../src/core/model/enums.ts'
import { sandboxes, sandboxesOn } from '../../src/sandbox/index.ts'
import { sandboxContract } from './sandbox.contract.ts'
import { thisMachine } from './sandbox.machine.ts'

for (const sandbox of sandboxes) sandboxContract(sandbox)

test('every kind that can be asked for is on the list, once', () => {
  expect(sandboxes.map(({ kind }) => kind)).toEqual([...sandboxKinds])
})

test('a sandbox that is not on the list is refused', async () => {
  const opened = sandboxesOn(thisMachine('/')).open('moon' as SandboxKind, { workspace: '/', env: {} })
  await expect(opened).rejects.toMatchObject({ message: 'There is no sandbox moon.' })
})
