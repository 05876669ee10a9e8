import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../test/support/repo.ts'
import { openStatic } from './static.ts'

test('D2: files of the page are those of its folder, and no path or link leads out of it', () => {
  const folder = tempFolder()
  const web = path.join(folder, 'web')
  mkdirSync(path.join(web, 'assets'), { recursive: true })
  writeFileSync(path.join(folder, 'secret'), 'no')
  writeFileSync(path.join(web, 'index.html'), '<p>')
  writeFileSync(path.join(web, 'assets/a.js'), '1')
  symlinkSync('../secret', path.join(web, 'link'))
  const files = openStatic(web)
  expect(files('/')).toMatchObject({ status: 200, body: Buffer.from('<p>') })
  expect(files('/assets/a.js').headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  })
  for (const asked of ['/link', '/../secret', '/%2e%2e/secret', '/assets/../../secret', '/assets', '/index'])
    expect(files(asked)).toEqual({ status: 404, body: '' })
  expect(openStatic(path.join(folder, 'none'))('/')).toMatchObject({ status: 404 })
})
