import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nodeFiles } from '../../src/files/node.ts'
import { asOther, giveToOther } from '../support/other-user.ts'
import { hasTwoFileSystems, memoryRoot } from '../support/temp-folders.ts'

const files = nodeFiles()
let root: string
const at = (...parts: string[]) => path.join(root, ...parts)
const mode = (target: string) => (statSync(target).mode & 0o777).toString(8)

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'offshoot-files-')))
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

async function withUmask(umask: number, work: () => Promise<unknown>): Promise<void> {
  const before = process.umask(umask)
  try {
    await work()
  } finally {
    process.umask(before)
  }
}

describe('reading', () => {
  test('a kind is that of the thing itself, never of what it links to', async () => {
    writeFileSync(at('file'), '')
    symlinkSync('nowhere', at('link'))
    spawnSync('mkfifo', [at('pipe')])
    const kinds = await Promise.all(
      ['', 'file', 'link', 'pipe', 'none', 'file/none'].map((name) => files.readKind(at(name))),
    )
    expect(kinds).toEqual(['folder', 'file', 'link', 'other', undefined, undefined])
  })

  test('a text is that of a file, undefined of nothing, and never that of a link', async () => {
    writeFileSync(at('file'), 'grüße')
    symlinkSync('file', at('link'))
    expect(await files.readText(at('file'))).toBe('grüße')
    expect(await files.readText(at('none'))).toBeUndefined()
    await expect(files.readText(at('link'))).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(files.readText(root)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  test('a pipe in the place of a file keeps nobody waiting', async () => {
    spawnSync('mkfifo', [at('pipe')])
    expect(await files.readText(at('pipe'))).toBe('')
  })

  test('names are those in a folder, none where there is no folder', async () => {
    mkdirSync(at('folder', 'a'), { recursive: true })
    symlinkSync('folder', at('link'))
    expect(await files.readNames(at('folder'))).toEqual(['a'])
    expect(await files.readNames(at('none'))).toEqual([])
    expect(await files.readNames(at('link'))).toEqual([])
  })

  test('the time of a file is when it was written, of a folder when a name came or went', async () => {
    const long = new Date('2020-01-01')
    mkdirSync(at('folder'))
    writeFileSync(at('folder', 'file'), '')
    for (const name of ['folder/file', 'folder']) utimesSync(at(name), long, long)
    writeFileSync(at('folder', 'file'), 'again')
    expect(await files.readTime(at('folder'))).toEqual(long)
    expect(await files.readTime(at('folder', 'file'))).not.toEqual(long)
    expect(await files.readTime(at('none'))).toBeUndefined()
  })

  test('S1: a real path has all links resolved, as far as it exists', async () => {
    mkdirSync(at('real'))
    symlinkSync('real', at('link'))
    symlinkSync('../outside/new', at('real', 'dangling'))
    expect(await files.readRealPath(at('link'))).toBe(at('real'))
    expect(await files.readRealPath(at('link', 'not', 'yet'))).toBe(at('real', 'not', 'yet'))
    expect(await files.readRealPath(at('link', 'dangling', 'x'))).toBe(at('outside', 'new', 'x'))
  })

  test('S1: links in a circle are an error, not a path', async () => {
    symlinkSync('b', at('a'))
    symlinkSync('a', at('b'))
    await expect(files.readRealPath(at('a', 'x'))).rejects.toMatchObject({ code: 'ELOOP' })
  })

  test('free space is told for a path that is yet to be made', async () => {
    const { free, total } = await files.readFreeSpace(at('not', 'yet'))
    expect(free).toBeGreaterThan(0)
    expect(total).toBeGreaterThanOrEqual(free)
  })
})

describe('making', () => {
  test('a folder is made with its parents, each with the mode, whatever the umask', async () => {
    mkdirSync(at('there'), { mode: 0o755 })
    await withUmask(0o077, () => files.makeFolder(at('there', 'a', 'b'), 0o750))
    expect([at('there'), at('there', 'a'), at('there', 'a', 'b')].map(mode)).toEqual(['755', '750', '750'])
    await files.makeFolder(at('there'), 0o700)
    expect(mode(at('there'))).toBe('755')
  })

  test('WT_001: a new folder is not made where something is', async () => {
    await files.makeNewFolder(at('new'))
    symlinkSync('nowhere', at('link'))
    for (const taken of ['new', 'link']) {
      await expect(files.makeNewFolder(at(taken))).rejects.toMatchObject({ code: 'WT_001', path: at(taken) })
    }
  })
})

describe('writing', () => {
  test('a file is replaced whole, with the mode that was asked for, whatever the umask', async () => {
    await withUmask(0o077, () => files.write(at('file'), 'one', 0o644))
    expect(mode(at('file'))).toBe('644')
    await files.write(at('file'), 'two', 0o600)
    expect(readFileSync(at('file'), 'utf8')).toBe('two')
    expect(mode(at('file'))).toBe('600')
    expect(readdirSync(root)).toEqual(['file'])
  })

  test('P2.13: drafts that cannot all take their names fail, and none is left behind', async () => {
    mkdirSync(at('taken/inside'), { recursive: true })
    const targets = ['one', 'taken'].map((name) => at(name))
    const drafts = []
    for (const target of targets)
      drafts.push({ target, draft: await files.writeDraft(target, Buffer.from('text'), 0o600) })
    await expect(files.placeDrafts(drafts)).rejects.toMatchObject({ code: expect.any(String) })
    expect(readdirSync(root).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('a new durable file never takes the place of another, and leaves no draft behind', async () => {
    const write = (name: string, text: string) => files.writeDurableNew(at(name), Buffer.from(text), 0o600)
    // Each begins before any has ended.
    const taken = await Promise.all(['one', 'two', 'three'].map((text) => write('folder/file', text)))
    const kept = readFileSync(at('folder/file'), 'utf8')
    expect(taken).toEqual(['one', 'two', 'three'].map((text) => text === kept))
    expect(mode(at('folder/file'))).toBe('600')
    expect(readdirSync(at('folder'))).toEqual(['file'])
    symlinkSync('nowhere', at('link'))
    expect(await write('link', 'text')).toBe(false)
    expect(readlinkSync(at('link'))).toBe('nowhere')
  })

  test('a link is replaced, not written through', async () => {
    writeFileSync(at('target'), 'keep')
    symlinkSync('target', at('link'))
    await files.write(at('link'), 'new')
    expect(readFileSync(at('target'), 'utf8')).toBe('keep')
    expect(await files.readKind(at('link'))).toBe('file')
  })

  test('a write that fails leaves nothing behind', async () => {
    mkdirSync(at('folder', 'full'), { recursive: true })
    await expect(files.write(at('folder'), 'x')).rejects.toMatchObject({ code: /EISDIR|ENOTEMPTY|EEXIST/ })
    await expect(files.write(at('none', 'file'), 'x')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(readdirSync(root)).toEqual(['folder'])
  })

  test('a reader sees the old or the new content, never a part', async () => {
    const contents = ['a', 'b'].map((letter) => letter.repeat(1_000_000))
    await files.write(at('file'), contents[0]!)
    let writing = true
    const writes = (async () => {
      for (let n = 0; n < 20; n++) await files.write(at('file'), contents[n % 2]!)
      writing = false
    })()
    while (writing) expect(contents).toContain(await files.readText(at('file')))
    await writes
  })
})

/** A folder of a workspace as it is found in the wild. */
function makeTree(folder: string): void {
  mkdirSync(path.join(folder, 'sub'), { recursive: true })
  writeFileSync(path.join(folder, 'sub', 'tool'), 'run', { mode: 0o755 })
  chmodSync(path.join(folder, 'sub', 'tool'), 0o755)
  symlinkSync('sub/tool', path.join(folder, 'relative'))
  symlinkSync('nowhere', path.join(folder, 'dangling'))
  spawnSync('mkfifo', [path.join(folder, 'pipe')])
}

function readTree(folder: string) {
  const tool = path.join(folder, 'sub', 'tool')
  return {
    tool: readFileSync(tool, 'utf8'),
    mode: mode(tool),
    links: ['relative', 'dangling'].map((name) => readlinkSync(path.join(folder, name))),
  }
}

const wholeTree = { tool: 'run', mode: '755', links: ['sub/tool', 'nowhere'] }

describe('moving and removing', () => {
  test('a copy is exact: modes, and links as they are written', async () => {
    makeTree(at('from'))
    await files.copy(at('from'), at('to'))
    expect(readTree(at('to'))).toEqual(wholeTree)
    expect(readTree(at('from'))).toEqual(wholeTree)
  })

  test('a copy replaces a link, and does not write through it', async () => {
    writeFileSync(at('from'), 'new')
    writeFileSync(at('target'), 'keep')
    symlinkSync('target', at('to'))
    await files.copy(at('from'), at('to'))
    expect(readFileSync(at('target'), 'utf8')).toBe('keep')
    expect(readFileSync(at('to'), 'utf8')).toBe('new')
  })

  test('a rename takes everything along', async () => {
    makeTree(at('from'))
    await files.rename(at('from'), at('to'))
    expect(readTree(at('to'))).toEqual(wholeTree)
    expect(existsSync(at('from'))).toBe(false)
  })

  test('a move within a file system is a rename', async () => {
    makeTree(at('from'))
    const before = statSync(at('from')).ino
    await files.move(at('from'), at('to'))
    expect(statSync(at('to')).ino).toBe(before)
  })

  describe.skipIf(!hasTwoFileSystems())('across file systems', () => {
    let far: string
    beforeEach(() => {
      far = mkdtempSync(path.join(memoryRoot(), 'offshoot-files-'))
    })
    afterEach(() => {
      rmSync(far, { recursive: true })
    })

    test('P2: a move brings all there, then takes the old away', async () => {
      makeTree(path.join(far, 'from'))
      await files.move(path.join(far, 'from'), at('to'))
      expect(readTree(at('to'))).toEqual(wholeTree)
      expect(readdirSync(far)).toEqual([])
      expect(readdirSync(root)).toEqual(['to'])
    })

    test('P2: a move that fails keeps the old and leaves nothing new', async () => {
      makeTree(path.join(far, 'from'))
      mkdirSync(at('to', 'full'), { recursive: true })
      await expect(files.move(path.join(far, 'from'), at('to'))).rejects.toMatchObject({
        code: /ENOTEMPTY|EEXIST/,
      })
      expect(readTree(path.join(far, 'from'))).toEqual(wholeTree)
      expect(readdirSync(root)).toEqual(['to'])
    })
  })

  test('a removal takes what is in a folder, not what it links to, and minds nothing that is gone', async () => {
    mkdirSync(at('keep'))
    writeFileSync(at('keep', 'file'), '')
    mkdirSync(at('folder'))
    symlinkSync('../keep', at('folder', 'link'))
    symlinkSync('keep', at('link'))
    await files.remove(at('folder'))
    await files.remove(at('link'))
    await files.remove(at('none'))
    expect(readdirSync(root)).toEqual(['keep'])
    expect(readdirSync(at('keep'))).toEqual(['file'])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a removal takes folders that may not be written or read, and changes nothing outside of them',
    async () => {
      mkdirSync(at('folder', 'cache', 'module'), { recursive: true })
      writeFileSync(at('folder', 'cache', 'module', 'file'), '')
      const odd = Buffer.concat([Buffer.from(at('folder', 'cache/')), Buffer.from([0xff])])
      mkdirSync(odd)
      writeFileSync(Buffer.concat([odd, Buffer.from('/file')]), '')
      mkdirSync(at('folder', 'closed', 'sub'), { recursive: true })
      mkdirSync(at('keep', 'sub'), { recursive: true })
      symlinkSync('../../keep', at('folder', 'cache', 'link'))
      giveToOther(root)
      chmodSync(odd, 0o555)
      for (const name of ['folder/cache/module', 'folder/cache', 'folder', 'keep']) chmodSync(at(name), 0o555)
      chmodSync(at('folder', 'closed'), 0)
      const removed = (target: string) =>
        asOther('files/node.ts', `await loaded.nodeFiles().remove(${JSON.stringify(target)})`)
      expect(await removed(at('folder'))).toBeNull()
      expect([readdirSync(root), readdirSync(at('keep')), mode(at('keep'))]).toEqual([
        ['keep'],
        ['sub'],
        '555',
      ])
      expect(await removed(at('keep', 'sub'))).toEqual({ error: 'EACCES' })
      expect([readdirSync(at('keep')), mode(at('keep'))]).toEqual([['sub'], '555'])
    },
  )

  test.skipIf(process.getuid?.() !== 0)(
    'what may be listed and not be reached has no size, and stops nothing',
    async () => {
      mkdirSync(at('folder', 'listed'), { recursive: true })
      writeFileSync(at('folder', 'listed', 'file'), Buffer.alloc(100_000, 'x'))
      writeFileSync(at('folder', 'file'), Buffer.alloc(100_000, 'x'))
      giveToOther(root)
      chmodSync(at('folder', 'listed'), 0o444)
      const target = JSON.stringify(at('folder'))
      const bytes = await asOther('files/node.ts', `return loaded.nodeFiles().readUsage(${target})`)
      expect(bytes).toBeGreaterThanOrEqual(100_000)
      expect(bytes).toBeLessThan(200_000)
    },
  )

  test('an empty folder is removed, any other thing stays', async () => {
    mkdirSync(at('empty'))
    mkdirSync(at('full', 'sub'), { recursive: true })
    symlinkSync('full', at('link'))
    for (const name of ['empty', 'full', 'link', 'none']) await files.removeEmptyFolder(at(name))
    expect(readdirSync(root).sort()).toEqual(['full', 'link'])
  })
})

test('a folder that something is mounted in is not deleted, nor is anything behind the mount', async (context) => {
  for (const name of ['user', 'trash/workspace/mounted']) mkdirSync(at(name), { recursive: true })
  writeFileSync(at('user', 'file'), 'of the user')
  if (spawnSync('mount', ['--bind', at('user'), at('trash/workspace/mounted')]).status !== 0)
    return context.skip('needs to be root, with the right to mount')
  try {
    await expect(files.remove(at('trash'))).rejects.toMatchObject({
      code: 'WT_008',
      path: at('trash/workspace/mounted'),
    })
    expect(readFileSync(at('user', 'file'), 'utf8')).toBe('of the user')
  } finally {
    spawnSync('umount', [at('trash/workspace/mounted')])
  }
  await files.remove(at('trash'))
  expect(readdirSync(root)).toEqual(['user'])
})
