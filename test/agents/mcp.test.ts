/** Programs of others with offshoot as their MCP server: Claude Code against a scripted model, and the inspector of MCP. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type TestRepo, testRepo } from '../support/repo.ts'
import { library, withEnv } from '../support/workspace.ts'
import { agentsUnderTest } from './agents-under-test.ts'
import { install, type Package } from './install.ts'
import { scriptedModel } from './model/server.ts'
import type { ScriptedCall } from './model/turn.ts'

const bin = path.resolve(import.meta.dirname, '../../bin/offshoot.js')
const claude = agentsUnderTest.find(({ agent }) => agent === 'claude')!
const inspector: Package = { name: '@modelcontextprotocol/inspector', version: '2.12.0' }

/** The folder of its programs, or undefined and a line that says why. */
function installed(wanted: Package): string | undefined {
  try {
    const programs = install(wanted)
    if (programs === undefined) console.log(`skipped: the registry has no ${wanted.name}@${wanted.version}`)
    return programs
  } catch (error) {
    console.log(`skipped: ${wanted.name}@${wanted.version} cannot be installed: ${String(error)}`)
    return undefined
  }
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function ran(repo: TestRepo, program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: repo.dir, env: repo.env, maxBuffer: 16 * 1024 * 1024 }
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
    child.stdin?.end()
  })
}

const claudePrograms = installed(claude.package)

describe.skipIf(claudePrograms === undefined)(`claude ${claude.package.version}`, () => {
  const tool = (name: string, input: object): ScriptedCall => ({ name: `mcp__offshoot__${name}`, input })

  /** Claude Code as a user starts it, with offshoot in its list of servers. */
  async function played(...calls: ScriptedCall[]) {
    const plain = testRepo({ 'a.txt': 'one\n' })
    const home = path.join(plain.home, 'user')
    mkdirSync(home)
    const turns = [...calls.map((call) => ({ tools: [call] })), { text: 'Done.' }]
    const model = await scriptedModel(turns)
    const reach = { PATH: `${claudePrograms}:${plain.env.PATH}`, HOME: home, SHELL: '/bin/bash' }
    const repo = withEnv(plain, { ...reach, ...claude.env(model.url, home) })
    const servers = {
      mcpServers: { offshoot: { command: process.execPath, args: [bin, 'mcp'], env: repo.env } },
    }
    const words = ['-p', 'Do what there is to do.', '--output-format', 'stream-json', '--verbose']
    const allowed = ['--allowedTools', 'mcp__offshoot', 'ReadMcpResourceTool']
    const mcp = ['--mcp-config', JSON.stringify(servers), '--strict-mcp-config']
    const ended = await ran(repo, path.join(claudePrograms!, 'claude'), [...words, ...mcp, ...allowed])
    expect(ended).toMatchObject({ code: 0 })
    const init = ended.stdout.split('\n').find((line) => line.includes('"subtype":"init"')) ?? '{}'
    const { tools } = JSON.parse(init) as { tools: string[] }
    return { repo, tools, said: JSON.stringify(model.asked.at(-1)) }
  }

  test('M1: starts a task, works in it, and reads its diff as an answer and as a resource', async () => {
    const { repo, said } = await played(
      tool('task_start', { task: 'T1', title: 'From the outside' }),
      tool('task_run', { task: 'T1', create: false, command: ['sh', '-c', 'echo from-claude > new.txt'] }),
      tool('task_diff', { task: 'T1' }),
      { name: 'ReadMcpResourceTool', input: { server: 'offshoot', uri: 'offshoot://task/T1/log' } },
    )
    expect(said).toContain('+from-claude')
    expect(said).toContain('offshoot://task/T1/log')
    const lib = library(repo)
    expect(await lib.show('T1')).toMatchObject({ title: 'From the outside', checkpoints: 1, files: 1 })
    expect(existsSync(path.join(repo.dir, 'new.txt'))).toBe(false)
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test('M2: is offered no tool that lands, and told why when it tries', async () => {
    const { tools, said, repo } = await played(
      tool('task_run', { task: 'T1', create: true, command: ['sh', '-c', 'echo x > x.txt'] }),
      tool('task_accept', { task: 'T1' }),
    )
    expect(tools).toContain('mcp__offshoot__task_diff')
    expect(tools).not.toContain('mcp__offshoot__task_accept')
    expect(said).toMatch(/No such tool available|WT_017/)
    expect(existsSync(path.join(repo.dir, 'x.txt'))).toBe(false)
  })
})

const inspectorPrograms = installed(inspector)

describe.skipIf(inspectorPrograms === undefined)(`inspector ${inspector.version}`, () => {
  async function inspected(repo: TestRepo, ...asked: string[]): Promise<Ended & { readonly json: unknown }> {
    const node = `${path.dirname(process.execPath)}:${repo.env.PATH}`
    const given = Object.entries(repo.env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    const words = ['--cli', ...given, process.execPath, bin, 'mcp', ...asked]
    const ended = await ran(
      withEnv(repo, { PATH: node }),
      path.join(inspectorPrograms!, 'mcp-inspector'),
      words,
    )
    return { ...ended, json: JSON.parse(ended.stdout) }
  }

  test('M1: lists the tools and finds no schema that a model could not take', async () => {
    const { code, json, stderr } = await inspected(testRepo(), '--method', 'tools/list', '--strict')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { tools } = json as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name)).toContain('task_diff')
  })

  test('M1: calls tools, and knows an answer from a refusal', async () => {
    const repo = testRepo()
    const calls = (name: string, ...pairs: string[]) =>
      inspected(
        repo,
        '--method',
        'tools/call',
        '--tool-name',
        name,
        ...pairs.flatMap((pair) => ['--tool-arg', pair]),
      )
    expect(await calls('task_start', 'task=T1')).toMatchObject({
      code: 0,
      json: { structuredContent: { ok: true, task: { id: 'T1' } } },
    })
    expect(await calls('task_show', 'task=NONE')).toMatchObject({
      code: 5,
      json: { isError: true, structuredContent: { error: { code: 'WT_007' } } },
    })
    expect(await inspected(repo, '--method', 'resources/list')).toMatchObject({
      code: 0,
      json: { resources: [{ uri: 'offshoot://task/T1/diff' }, {}, {}] },
    })
  })
})
