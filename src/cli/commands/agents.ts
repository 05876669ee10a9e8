/** `agents` and `agents install`: lists agents, and installs their slash commands in a workspace. */
import { type Answer, type Context, text } from '../command.ts'
import { type Fit, printableLines, table } from '../output.ts'

/** The name is what --agent takes, so it is not cut. */
const cut: Fit['cut'] = [
  { column: 4, least: 20 },
  { column: 2, least: 0 },
  { column: 1, least: 8 },
  { column: 4, least: 9 },
  { column: 1, least: 0 },
]

export async function agents(context: Context): Promise<Answer> {
  const { agents } = await context.call('system.agents', { repo: context.dir })
  const rows = agents.map(({ name, title, path, version, exact, asks, install }) => [
    name,
    title,
    exact ? 'a step per tool call' : 'a step per batch',
    asks ? 'asks' : 'does not ask',
    path === null ? (install === null ? '' : `not installed: ${install}`) : `${version ?? '?'} ${path}`,
  ])
  return { json: { agents }, text: await table(rows, { width: context.shell.stdout.columns, cut }) }
}

export async function install(context: Context): Promise<Answer> {
  const { dir: repo, positionals, values } = context
  const done = await context.call('task.install', {
    repo,
    task: positionals[0],
    agent: text(values, 'agent'),
  })
  const { task, files, skipped } = done
  const lines = [
    `Installed /session-status, /accept-session and /reject-session in the workspace of ${task.id}`,
    ...files.filter((file) => !file.endsWith('/.gitignore')).map((file) => `  ${file}`),
    ...skipped.map((file) => `  skipped, another file has that name: ${file}`),
  ]
  return { json: { ...done }, text: printableLines(lines) }
}
