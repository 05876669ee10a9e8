import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offshoot, tempFolder, testRepo } from '../support/repo.ts'
import { withEnv } from '../support/workspace.ts'

/** An editor that notes its folder and its arguments. */
function editorIn(folder: string, name: string) {
  mkdirSync(folder, { recursive: true })
  const noted = path.join(folder, `${name}.noted`)
  writeFileSync(path.join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$PWD" "$@" > '${noted}'\n`)
  chmodSync(path.join(folder, name), 0o755)
  return { program: path.join(folder, name), noted: () => readFileSync(noted, 'utf8').split('\n') }
}

test('I1: `open` opens the workspace in the editor of VISUAL, with its own arguments first', async () => {
  const user = testRepo()
  const editor = editorIn(path.join(tempFolder(), 'my tools'), 'edit')
  const at = withEnv(user, { VISUAL: `'${editor.program}' --new` })
  const { json } = await offshoot(at, 'start', 'T1', '--json')
  const opened = await offshoot(at, 'open', 'T1', '--json')
  expect(opened.json).toEqual({ ok: true, path: json.task.path, editor: `'${editor.program}' --new` })
  expect(editor.noted()).toEqual([user.dir, '--new', json.task.path, ''])
})

test('I1: the setting editor.command wins over VISUAL, and a known editor is found without both', async () => {
  const user = testRepo()
  const folder = tempFolder()
  const setting = editorIn(folder, 'mine')
  const code = editorIn(folder, 'code')
  const PATH = `${folder}:${user.env.PATH}`
  await offshoot(user, 'start', 'T1')
  const both = { VISUAL: 'false', OFFSHOOT_EDITOR_COMMAND: setting.program, PATH }
  expect((await offshoot(withEnv(user, both), 'open', 'T1')).code).toBe(0)
  expect(setting.noted()).toHaveLength(3)
  expect((await offshoot(withEnv(user, { PATH, VISUAL: '' }), 'open', 'T1')).code).toBe(0)
  expect(code.noted()).toHaveLength(3)
})

test('I1: EDITOR counts after VISUAL, and before a known editor', async () => {
  const user = testRepo()
  const folder = tempFolder()
  const [visual, editor] = [editorIn(folder, 'visual').program, editorIn(folder, 'editor').program]
  editorIn(folder, 'code')
  const PATH = `${folder}:${user.env.PATH}`
  await offshoot(user, 'start', 'T1')
  const opened = async (VISUAL: string) =>
    (await offshoot(withEnv(user, { PATH, VISUAL, EDITOR: editor }), 'open', 'T1', '--json')).json.editor
  expect([await opened(visual), await opened('')]).toEqual([visual, editor])
})

test('H1: a repository’s own file names no editor, and no script of the workspace is run as one', async () => {
  const user = testRepo()
  const started = await offshoot(user, 'start', 'T1', '--json')
  const workspace: string = started.json.task.path
  const planted = editorIn(path.join(workspace, 'tools'), 'edit')
  const own = editorIn(path.join(user.dir, 'tools'), 'edit')
  const opened = await offshoot(withEnv(user, { OFFSHOOT_EDITOR_COMMAND: './tools/edit' }), 'open', 'T1')
  expect(opened.code).toBe(0)
  expect(own.noted()).toEqual([user.dir, workspace, ''])
  expect(planted.noted).toThrow('ENOENT')
  user.write('.offshoot.yaml', 'editor:\n  command: ./tools/edit\n')
  const { json } = await offshoot(user, 'open', 'T1', '--json')
  expect(json.error).toMatchObject({ code: 'WT_016', data: { key: 'editor.command' } })
})

test('I5: without an editor, and with one that fails, `open` says what to set', async () => {
  const user = testRepo()
  await offshoot(user, 'start', 'T1')
  const none = await offshoot(withEnv(user, { VISUAL: '', PATH: '/usr/bin:/bin' }), 'open', 'T1', '--json')
  expect(none.json).toMatchObject({
    ok: false,
    error: { code: 'WT_005', hint: expect.stringContaining('VISUAL') },
  })
  const failed = await offshoot(withEnv(user, { VISUAL: 'false' }), 'open', 'T1', '--json')
  expect(failed.json).toMatchObject({ ok: false, error: { code: 'WT_020' } })
})
