import { describe, expect, test } from 'vitest'
import { unreadableFolders } from './scan.ts'

describe('folders that git could not open', () => {
  const warning = (rest: string) => `warning: could not open directory '${rest}\n`

  test('K5: each is named, but for one that was deleted meanwhile', () => {
    const warnings = [
      "sub/closed/': Permission denied",
      "gone/': No such file or directory",
      "it's/': Permission denied",
    ]
    expect(unreadableFolders(warnings.map(warning).join(''))).toEqual(['sub/closed/', "it's/"])
  })

  test('K5: of a path that the warning cuts off, the folders that are whole are named', () => {
    expect(unreadableFolders(warning('deep/xxxx/xx'))).toEqual(['deep/xxxx/'])
    expect(unreadableFolders('error: something else\n')).toEqual([])
  })
})
