/** Takes steps, lands and gives up, and says each act that was acknowledged: `node power-child.ts <repo> <how> <what>`. */
import { execFileSync } from 'node:child_process'
import { writeFileSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import path from 'node:path'
import type { ComposeOptions } from '../../src/compose/full.ts'
import type { OpenRepo } from '../../src/index.ts'
import { openAround } from '../support/open-around.ts'
import { landedContent, stepContent } from './step-content.ts'

export type How = 'synced' | 'unsynced' | 'git'
export type What = 'steps' | 'landings'

const [repo, how, what] = process.argv.slice(2) as [string, How, What]
// Written at once: what is still in a buffer would not be known as acknowledged.
const say = (...words: unknown[]) => writeSync(1, `${words.join(' ')}\n`)
const many = 500

/** The same without a single sync: what it would be worth if we trusted the file system. */
const careless: ComposeOptions['around'] = {
  files: (files) => ({
    ...files,
    async writeDurable(target, content, mode) {
      await rename(await files.writeDraft(target, content, mode), target)
    },
    async writeDurableNew(target, content, mode) {
      const draft = await files.writeDraft(target, content, mode)
      const isFree = (await files.readKind(target)) === undefined
      await (isFree ? rename(draft, target) : files.remove(draft))
      return isFree
    },
    async placeDrafts(drafts) {
      for (const { draft, target } of drafts) await rename(draft, target)
    },
    async sync() {},
  }),
  exec: (exec) => (call) => exec({ ...call, durable: false }),
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content)
}

function commitSteps(): void {
  for (let n = 1; n <= many; n++) {
    write(repo, stepContent(n))
    execFileSync('git', ['add', '--all'], { cwd: repo, stdio: 'ignore' })
    execFileSync('git', ['commit', '--quiet', `--message=${n}`], { cwd: repo })
    say(n, execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repo, encoding: 'utf8' }).trim())
  }
}

type Offshoot = OpenRepo

async function takeSteps(offshoot: Offshoot): Promise<void> {
  const { task } = await offshoot.start({ task: 'T1' })
  for (let n = 1; n <= many; n++) {
    write(task.path, stepContent(n))
    const { checkpoint } = await offshoot.checkpoint({ task: 'T1', tool: 'Edit', summary: `step ${n}` })
    say(checkpoint.n, checkpoint.commit)
  }
}

/** In turn: a patch into the checkout, work that is given up, a commit on the branch. */
async function land(offshoot: Offshoot): Promise<void> {
  for (let n = 1; n <= many; n++) {
    const id = `T${n}`
    const { task } = await offshoot.start({ task: id })
    write(task.path, landedContent(n))
    const { operation } =
      n % 3 === 2
        ? await offshoot.reject({ task: id })
        : await offshoot.accept({ task: id, as: n % 3 === 1 ? 'patch' : 'squash' })
    say(n, operation)
  }
}

if (how === 'git') commitSteps()
else {
  const offshoot = openAround(repo, how === 'unsynced' ? { around: careless } : {})
  await (what === 'steps' ? takeSteps : land)(offshoot)
  await offshoot.close()
}
