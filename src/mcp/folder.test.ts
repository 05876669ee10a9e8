import { expect, test } from 'vitest'
import { placed } from './folder.ts'

test('M6: a request without a repository means the folder, and a relative path begins there', () => {
  expect(placed({}, '/shop')).toEqual({ repo: '/shop' })
  expect(placed({ repo: 'api', task: 'T1' }, '/shop')).toEqual({ repo: '/shop/api', task: 'T1' })
  expect(placed({ repo: '/other', path: 'x' }, '/shop')).toEqual({ repo: '/other', path: '/other/x' })
})

test('M6: without a folder only an absolute path will do', () => {
  expect(placed({ repo: '/shop' }, undefined)).toEqual({ repo: '/shop' })
  expect(placed({}, undefined)).toEqual({})
  expect(() => placed({ repo: 'shop' }, undefined)).toThrow(expect.objectContaining({ code: 'WT_019' }))
})

test('I5: what is no text is left for the schema to refuse', () => {
  expect(placed({ repo: 1, path: ['x'] }, '/shop')).toEqual({ repo: 1, path: ['x'] })
})
