/** Takes steps and says each one that was acknowledged: `node power-child.ts <repo> <how>`. */
import { execFileSync } from 'node:child_process'
import { writeFileSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import path from 'node:path'
import type { ComposeOptions } from '../../src/compose.ts'
import { openRepo } from '../../src/index.ts'
import { powerContent } from './power-content.ts'

const [repo, how] = process.argv.slice(2) as [string, 'synced' | 'unsynced' | 'git']
// Written at once: what is still in a buffer would not be known as acknowledged.
const say = (line: string) => writeSync(1, `${line}\n`)
const many = 500

/** The same without a single sync: what it would be worth if we trusted the file system. */
const careless: ComposeOptions['around'] = {
  files: (files) => ({
    ...files,
    async writeDurable(target, content, mode) {
      await rename(await files.writeDraft(target, content, mode), target)
    },
    async placeDrafts(drafts) {
      for (const { draft, target } of drafts) await rename(draft, target)
    },
    async syncFiles() {},
    async syncFolders() {},
  }),
  exec: (exec) => (call) => exec({ ...call, durable: false }),
}

function edit(folder: string, n: number): void {
  for (const [name, content] of Object.entries(powerContent(n)))
    writeFileSync(path.join(folder, name), content)
}

if (how === 'git') {
  for (let n = 1; n <= many; n++) {
    edit(repo, n)
    execFileSync('git', ['add', '--all'], { cwd: repo, stdio: 'ignore' })
    execFileSync('git', ['commit', '--quiet', `--message=${n}`], { cwd: repo })
    say(`${n} ${execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repo, encoding: 'utf8' }).trim()}`)
  }
} else {
  const offshoot = openRepo(repo, how === 'unsynced' ? { around: careless } : {})
  const { task } = await offshoot.start({ task: 'T1' })
  for (let n = 1; n <= many; n++) {
    edit(task.path, n)
    const { checkpoint } = await offshoot.checkpoint({ task: 'T1', tool: 'Edit', summary: `step ${n}` })
    say(`${checkpoint.n} ${checkpoint.commit}`)
  }
  await offshoot.close()
}
