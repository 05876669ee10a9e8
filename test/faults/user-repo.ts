import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Fixture } from './journey-runner.ts'

/** A line at the top for the user, one at the bottom for the agent. */
export const shared = (top: string, bottom: string) => [top, ...'12345678'.split(''), bottom, ''].join('\n')

/** A checkout in the middle of somebody's work: every kind of thing that must stay as it is. */
export async function makeUserRepo({ dir, git }: Fixture): Promise<void> {
  for (const folder of ['src', 'old']) mkdirSync(path.join(dir, folder), { recursive: true })
  const write = (name: string, content: string) => writeFileSync(path.join(dir, name), content)
  await git('init', '--quiet', '--initial-branch=main', '--template=')
  write('a.txt', shared('one', 'two'))
  write('src/b.txt', 'two\n')
  write('old/gone.txt', 'soon gone\n')
  write('src/run.sh', '#!/bin/sh\n')
  chmodSync(path.join(dir, 'src/run.sh'), 0o755)
  write('.gitignore', '*.log\n')
  await git('add', '--all')
  await git('commit', '--quiet', '--message=First commit')
  await git('tag', 'v1')
  await git('checkout', '--quiet', '-b', 'feature')
  write('feature.txt', 'a feature\n')
  await git('add', '--all')
  await git('commit', '--quiet', '--message=A feature')
  await git('checkout', '--quiet', 'main')
  await git('pack-refs', '--all')
  write('a.txt', 'stashed\n')
  await git('stash', '--quiet')
  await git('config', 'user.name', 'Somebody')
  await git('config', 'user.email', 'somebody@example.com')
  mkdirSync(path.join(dir, '.git/hooks'), { recursive: true })
  write('.git/hooks/reference-transaction', '#!/bin/sh\necho ran >> "$HOME/hook-ran"\n')
  chmodSync(path.join(dir, '.git/hooks/reference-transaction'), 0o755)
  mkdirSync(path.join(dir, '.git/info'), { recursive: true })
  write('.git/info/exclude', '*.bak\n')
  write('a.txt', shared('not staged', 'two'))
  write('staged.txt', 'staged\n')
  await git('add', 'staged.txt')
  write('untracked.txt', 'untracked\n')
  write('ignored.log', 'ignored\n')
}
