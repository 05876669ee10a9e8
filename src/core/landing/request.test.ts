import { expect, test } from 'vitest'
import { addressIn, remoteHost, requestArgs, toolFor } from './request.ts'

test.each([
  ['git@github.com:me/shop.git', 'github.com', 'me/shop'],
  ['https://github.com/me/shop', 'github.com', 'me/shop'],
  ['https://token@gitlab.example.org:8443/group/sub/shop.git/', 'gitlab.example.org', 'group/sub/shop.git'],
  ['ssh://git@code.example.org:2222/me/shop.git', 'code.example.org', 'me/shop'],
  ['work:me/shop.git', 'work', 'me/shop'],
])('A2: %s is at %s', (url, host, path) => {
  expect(remoteHost(url)).toMatchObject({ host, path: path.replace(/\.git$/, '') })
})

test.each(['/srv/git/shop.git', '../shop', 'C:/shop', 'file:///srv/shop.git'])(
  'A2: %s is a folder',
  (url) => {
    expect(remoteHost(url)).toBeUndefined()
  },
)

test('A2: the tool fits the host; where the host tells nothing, the first that is there does', () => {
  expect(toolFor('auto', 'github.com', ['gh', 'glab'])).toBe('gh')
  expect(toolFor('auto', 'gitlab.example.org', ['gh', 'glab'])).toBe('glab')
  expect(toolFor('auto', 'code.example.org', ['glab'])).toBe('glab')
  expect(toolFor('glab', 'github.com', ['gh', 'glab'])).toBe('glab')
  expect(() => toolFor('auto', 'gitlab.com', ['gh'])).toThrow('glab is not installed.')
  expect(() => toolFor('auto', undefined, [])).toThrow('Neither gh nor glab is installed.')
})

test('A2: title and body reach the tool as words of their own, whatever they hold', () => {
  const request = { remote: { host: 'github.com', path: 'me/shop' }, branch: 'b', base: 'main' }
  const words = { title: '--web; rm -rf', body: '$(x)\n- "y"' }
  expect(requestArgs('gh', { ...request, ...words })).toEqual(
    'gh pr create --repo github.com/me/shop --head b --base main --title'
      .split(' ')
      .concat(words.title, '--body', words.body),
  )
  expect(requestArgs('glab', { ...request, ...words })).toContain(words.body)
  expect(
    requestArgs('gh', { ...request, title: 't', body: 'x'.repeat(100_000) }).at(-1)?.length,
  ).toBeLessThan(65_536)
})

test('A2: the address is the last that the tool prints', () => {
  expect(addressIn('Creating in https://github.com/me/shop\n\nhttps://github.com/me/shop/pull/7\n')).toBe(
    'https://github.com/me/shop/pull/7',
  )
  expect(addressIn('done\n')).toBeUndefined()
})
