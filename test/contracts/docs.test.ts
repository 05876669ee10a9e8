/** README and docs agree with what they quote: the package, the figures, the examples and each other. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { documents, prose, read, root } from './documents.ts'

const tagline = 'Undo for coding agents.'

test('README and package.json have the same tagline', () => {
  expect(read('README.md')).toContain(`**${tagline}**`)
  expect((JSON.parse(read('package.json')) as { description: string }).description).toBe(tagline)
})

test('the two commands are a block of their own on README’s first screen', () => {
  const block = /```sh\n(npm ci && npx offshoot demo.*\nnpm ci && npm test.*)\n```/.exec(read('README.md'))
  expect(block).not.toBeNull()
  expect(read('README.md').split('\n').slice(0, 20).join('\n')).toContain(block?.[1])
})

test('each figure of README is one of docs/figures.md', () => {
  const bullets = read('README.md').match(/^- .*\*\*.*(?:ms|faults|histories).*$/gm) ?? []
  expect(bullets).toHaveLength(4)
  const figures = bullets.flatMap((bullet) => bullet.match(/\d[\d,.]*\d(?: ms)?/g) ?? [])
  expect(figures.length).toBeGreaterThanOrEqual(8)
  for (const figure of figures) expect(read('docs/figures.md')).toContain(figure)
})

test.each(['agent-loop.ts', 'ai-sdk.ts'])('docs/library.md shows docs/examples/%s as it is', (name) => {
  expect(read('docs/library.md')).toContain(`\`\`\`ts\n${read(`docs/examples/${name}`)}\`\`\``)
})

/** Those that are read on their own pages; decisions and releases stay as they were written. */
const pages = documents.filter((document) => !/adr|CHANGELOG|NOTICE|commands/.test(document))

test.each(pages)('%s: lines of prose fit 125 columns', (document) => {
  const lines = read(document)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
  expect(lines.filter((line) => line.length > 125 && !/^[|!]/.test(line))).toEqual([])
})

describe('each relative link leads to a file, and to a heading of it', () => {
  test.each(documents)('%s', (document) => {
    const broken = links(document).filter(({ file, heading }) => {
      if (!existsSync(file)) return true
      return heading !== undefined && !anchors(file).includes(heading)
    })
    expect(broken).toEqual([])
  })
})

function links(document: string): { file: string; heading: string | undefined }[] {
  return [...prose(document).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', heading] = target.split('#')
    return [
      {
        file: file === '' ? path.join(root, document) : path.resolve(root, path.dirname(document), file),
        heading,
      },
    ]
  })
}

/** As a forge makes them of headings. */
function anchors(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
