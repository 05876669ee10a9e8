/** The blocks of a prompt become text in which files of the checkout have their relative path. */
import { expect, test } from 'vitest'
import { promptText } from './prompt.ts'

const checkout = '/home/me/shop'
const link = (uri: string) => ({ type: 'resource_link' as const, uri, name: 'x' })

test.each([
  ['file:///home/me/shop/src/a%20b.ts', '@src/a b.ts'],
  ['/home/me/shop/a.ts', '@a.ts'],
  ['file:///home/me/shop', '@.'],
  ['file:///home/me/shop2/a.ts', '@/home/me/shop2/a.ts'],
  ['file:///etc/hosts', '@/etc/hosts'],
  ['https://example.com/a', '@https://example.com/a'],
  ['file://elsewhere/x', '@file://elsewhere/x'],
])('E1: a link to %s is %s', (uri, text) => expect(promptText([link(uri)], checkout)).toBe(text))

test('E1: texts and links are one text, and a file that the editor hands over is in it', () => {
  const blocks = [
    { type: 'text' as const, text: 'Look at ' },
    link('file:///home/me/shop/a.ts'),
    { type: 'text' as const, text: ' please.' },
    { type: 'resource' as const, resource: { uri: 'file:///home/me/shop/b.ts', text: 'let b' } },
  ]
  expect(promptText(blocks, checkout)).toBe('Look at @a.ts please.\n\nb.ts:\n```\nlet b\n```\n\n')
})

test.each(['image', 'audio'] as const)('E1: a prompt with %s is refused', (type) =>
  expect(() => promptText([{ type, data: '', mimeType: 'x/y' }], checkout)).toThrow(type),
)
