/** Commits as objects: their bytes, and what is read from them. */
import type { Objects } from './objects.ts'

interface CommitParts {
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
  readonly at: string
  readonly author?: { name: string; email: string }
}

export function commitContent({ tree, parents, message, at, author }: CommitParts): Buffer {
  const { name, email } = author ?? { name: 'offshoot', email: 'offshoot@localhost' }
  const who = `${name} <${email}> ${Math.floor(Date.parse(at) / 1000)} +0000`
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who}`,
    `committer ${who}`,
    '',
    message,
  ]
  return Buffer.from(lines.join('\n'))
}

interface ParsedCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
}

export function parseCommit(content: Uint8Array): ParsedCommit {
  const text = Buffer.from(content).toString()
  const head = text.slice(0, text.indexOf('\n\n'))
  return {
    tree: /^tree (\w+)/m.exec(head)?.[1] ?? '',
    parents: [...head.matchAll(/^parent (\w+)/gm)].map((match) => match[1] ?? ''),
    message: text.slice(head.length + 2),
  }
}

export async function readTree({ objects }: { readonly objects: Objects }, commit: string): Promise<string> {
  return parseCommit(await objects.readObject(commit)).tree
}
