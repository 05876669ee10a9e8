/** Nothing of ours is read from where others write: the compiled code (C1) and the state folder (M4). */
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { attacker, folderOf, giveTo, readablePackage, runAs, victim, whyNoUsers } from '../support/as-user.ts'
import { tempFolder } from '../support/repo.ts'

const why = whyNoUsers()
if (why !== undefined) console.log(`Attacks between users are skipped: ${why}.`)

/** A home of the victim's in a folder that everybody may write, as /tmp. */
function ground() {
  const shared = tempFolder()
  chmodSync(shared, 0o1777)
  const home = folderOf(victim, path.join(shared, 'home'))
  return { shared, home, state: path.join(home, '.local/state/offshoot') }
}

const mode = (file: string) => (lstatSync(file).mode & 0o7777).toString(8)

describe.skipIf(why !== undefined)('compiled code', () => {
  /** A cache entry for our own front file, which is accepted as its code and writes its user's id into `proof`. */
  function poison(bin: string, proof: string) {
    const chunks = path.join(path.dirname(bin), '../dist/chunks')
    const front = path.join(chunks, readdirSync(chunks).find((name) => name.startsWith('front-'))!)
    const genuine = readFileSync(front, 'utf8')
    // V8 compares the length of the source, so the evil code takes the place of a comment.
    const code = `process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(proof)}, String(process.geteuid()));`
    const [comment = ''] = genuine.match(/^\/\*\*[ -~\n]{160,}?\*\/$/m) ?? []
    expect(comment.length).toBeGreaterThan(code.length)
    const entries = () => {
      const cache = folderOf(victim, path.join(tempFolder(), 'cache'), 0o755)
      chmodSync(path.dirname(cache), 0o755)
      runAs(victim, [process.execPath, bin, '--version'], { env: { NODE_COMPILE_CACHE: cache, HOME: '/' } })
      const [tag = ''] = readdirSync(cache)
      const all = readdirSync(path.join(cache, tag))
      return { tag, all: new Map(all.map((name) => [name, readFileSync(path.join(cache, tag, name))])) }
    }
    const before = entries()
    writeFileSync(front, genuine.replace(comment, code.padEnd(comment.length)))
    const after = entries()
    writeFileSync(front, genuine)
    rmSync(proof)
    // Node keeps the size of the source in bytes 4 to 8 of the header.
    const size = Buffer.byteLength(genuine)
    const [name, bytes] = [...after.all].find(([, entry]) => entry.readUInt32LE(4) === size)!
    // And its hash in bytes 12 to 16.
    before.all.get(name)!.copy(bytes, 12, 12, 16)
    return {
      plant(uid: number, folder: string, open: number) {
        const place = path.join(folder, before.tag)
        mkdirSync(place, { recursive: true })
        writeFileSync(path.join(place, name), bytes)
        giveTo(uid, folder)
        chmodSync(folder, open)
      },
    }
  }

  /** Each makes the place in which the poison is, and says where. */
  const places: Record<
    string,
    (at: ReturnType<typeof ground>) => { uid: number; folder: string; mode: number }
  > = {
    'in the folder for temporary files': ({ shared }) => ({
      uid: attacker,
      folder: path.join(shared, 'node-compile-cache'),
      mode: 0o777,
    }),
    'in the state folder, made by another user': ({ state }) => ({
      uid: attacker,
      folder: path.join(state, 'compiled'),
      mode: 0o755,
    }),
    'in the state folder, open to others': ({ state }) => ({
      uid: victim,
      folder: path.join(state, 'compiled'),
      mode: 0o777,
    }),
    'behind a link of another user': ({ home, state }) => {
      const elsewhere = path.join(home, 'clone')
      symlinkSync(elsewhere, path.join(state, 'compiled'))
      chmodSync(state, 0o777)
      return { uid: victim, folder: elsewhere, mode: 0o700 }
    },
    'below a folder that others may write': ({ home, state }) => {
      chmodSync(path.dirname(state), 0o777)
      chmodSync(home, 0o755)
      return { uid: victim, folder: path.join(state, 'compiled'), mode: 0o700 }
    },
  }

  function runPoisoned(
    place: (at: ReturnType<typeof ground>) => { uid: number; folder: string; mode: number },
  ): boolean {
    const at = ground()
    const proof = path.join(at.shared, 'proof')
    const bin = readablePackage()
    folderOf(victim, at.state)
    giveTo(victim, at.home)
    const { uid, folder, mode: open } = place(at)
    poison(bin, proof).plant(uid, folder, open)
    const env = { HOME: at.home, TMPDIR: at.shared }
    const { code, stdout } = runAs(victim, [process.execPath, bin, '--version'], { env })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d/)])
    return existsSync(proof)
  }

  test('S7, C1: the poison of these tests runs where the cache is trusted', () => {
    expect(
      runPoisoned(({ state }) => ({ uid: victim, folder: path.join(state, 'compiled'), mode: 0o700 })),
    ).toBe(true)
  })

  test.each(Object.keys(places))('S7, C1: compiled code is not read %s', (name) => {
    expect(runPoisoned(places[name]!)).toBe(false)
  })

  test('S7, C1: compiled code is kept in the state folder, for its user alone', () => {
    const { shared, home, state } = ground()
    const bin = readablePackage()
    const env = { HOME: home, TMPDIR: shared }
    for (let n = 0; n < 2; n++) runAs(victim, [process.execPath, bin, 'repos'], { env })
    expect(mode(path.join(state, 'compiled'))).toBe('700')
    expect(readdirSync(path.join(state, 'compiled'))).toHaveLength(1)
    expect(readdirSync(shared)).toEqual(['home'])
  })
})

describe.skipIf(why !== undefined)('the state folder', () => {
  const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
  const list = (home: string, state: string) =>
    runAs(victim, [process.execPath, bin, 'repos', '--json'], { env: { HOME: home, OFFSHOOT_HOME: state } })

  const refused = (at: string, reason: string) => ({
    code: 6,
    json: { ok: false, error: { code: 'WT_022', message: `The state folder is not safe: ${at} ${reason}.` } },
  })

  test('S6, M4: a state folder that another user made is refused, and nothing is put there', () => {
    const { shared, home } = ground()
    const state = folderOf(attacker, path.join(shared, 'state'), 0o777)
    expect(list(home, state)).toMatchObject(refused(state, `belongs to another user (${attacker})`))
    expect(readdirSync(state)).toEqual([])
  })

  test('S6, M4: a state folder of ours that is open to others is closed', () => {
    const { home } = ground()
    const state = folderOf(victim, path.join(home, 'state'), 0o777)
    expect(list(home, state)).toMatchObject({ code: 0 })
    expect(mode(state)).toBe('700')
  })

  test.each(['vaults', 'state.db', 'locks', 'children'])(
    'S6, M4: %s of another user in our state folder is refused',
    (name) => {
      const { home } = ground()
      const state = folderOf(victim, path.join(home, 'state'), 0o777)
      const planted = path.join(state, name)
      if (name === 'state.db') writeFileSync(planted, '')
      else mkdirSync(planted)
      giveTo(attacker, planted)
      expect(list(home, state)).toMatchObject(refused(planted, `belongs to another user (${attacker})`))
    },
  )

  test('S6, M4: a link of another user is not followed to a folder of ours', () => {
    const { shared, home } = ground()
    const ours = folderOf(victim, path.join(home, 'clone'))
    const state = path.join(shared, 'state')
    symlinkSync(ours, state)
    lchownSync(state, attacker, attacker)
    expect(list(home, state)).toMatchObject(refused(state, `belongs to another user (${attacker})`))
    expect(readdirSync(ours)).toEqual([])
  })

  test('S6, M4: a folder in which others could replace the state folder is named, with the command that closes it', () => {
    const { home } = ground()
    const loose = folderOf(victim, path.join(home, 'loose'), 0o777)
    const { json, ...rest } = list(home, path.join(loose, 'state'))
    expect({ json, ...rest }).toMatchObject(refused(loose, 'can be written by others'))
    expect(json.error.hint).toContain(`chmod go-w ${loose}`)
    chmodSync(loose, 0o755)
    expect(list(home, path.join(loose, 'state')).code).toBe(0)
  })

  test('S6, M4: a folder for everybody is not taken, nor is its mode changed', () => {
    const { shared, home } = ground()
    giveTo(victim, shared)
    chmodSync(shared, 0o1777)
    expect(list(home, shared)).toMatchObject(refused(shared, 'is a folder for everybody'))
    expect(mode(shared)).toBe('1777')
  })

  test('S6, M4: a state folder that its user has linked to another disk is used', () => {
    const { home } = ground()
    const disk = folderOf(victim, path.join(home, 'disk'))
    symlinkSync(disk, path.join(home, 'linked'))
    lchownSync(path.join(home, 'linked'), victim, victim)
    expect(list(home, path.join(home, 'linked', 'state')).code).toBe(0)
    expect(readdirSync(path.join(disk, 'state'))).toContain('state.db')
  })
})
