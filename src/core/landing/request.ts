/** The command line that opens a pull request: the tool, the host, the text. Pure. */
import { AppError } from '../model/errors.ts'

export const tools = ['gh', 'glab'] as const
export type Tool = (typeof tools)[number]

/** Host and path of a remote's address. `git@github.com:me/shop.git` is `{host: 'github.com', path: 'me/shop'}`. */
export interface RemoteHost {
  readonly host: string
  /** `owner/name`, or deeper. */
  readonly path: string
}

export function remoteHost(url: string): RemoteHost | undefined {
  const [, host, path] =
    /^(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+)$/.exec(url) ??
    /^(?:[^@/:]+@)?([^/:@]{2,}):(?!\/\/)(.+)$/.exec(url) ??
    []
  if (host === undefined || path === undefined) return undefined
  return { host, path: path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '') }
}

/** The tool for the host; for an unknown host, the first that is installed. */
export function toolFor(wanted: Tool | 'auto', host: string | undefined, installed: readonly Tool[]): Tool {
  const named = wanted !== 'auto' ? wanted : nameIn(host ?? '')
  const tool = named ?? installed[0]
  if (tool !== undefined && installed.includes(tool)) return tool
  const missing = named === undefined ? 'Neither gh nor glab is installed.' : `${named} is not installed.`
  throw new AppError('programMissing', missing, {
    hint: 'Install gh (cli.github.com) or glab (gitlab.com/gitlab-org/cli), or choose with pr.tool.',
  })
}

function nameIn(host: string): Tool | undefined {
  if (/(^|[.-])github([.-]|$)/i.test(host)) return 'gh'
  return /(^|[.-])gitlab([.-]|$)/i.test(host) ? 'glab' : undefined
}

export interface Request {
  readonly remote: RemoteHost | undefined
  readonly branch: string
  readonly base: string
  readonly title: string
  readonly body: string
}

/** The hosts refuse a longer body, so the rest is cut off. */
const longest = 60_000

export function requestArgs(tool: Tool, { remote, branch, base, title, body }: Request): string[] {
  const said = body.length > longest ? `${body.slice(0, longest)}\n…` : body
  const where = remote ? ['--repo', `${remote.host}/${remote.path}`] : []
  if (tool === 'gh')
    return [
      'gh',
      'pr',
      'create',
      ...where,
      '--head',
      branch,
      '--base',
      base,
      '--title',
      title,
      '--body',
      said,
    ]
  const wherein = remote ? ['--repo', `https://${remote.host}/${remote.path}`] : []
  const branches = ['--source-branch', branch, '--target-branch', base]
  return ['glab', 'mr', 'create', ...wherein, ...branches, '--title', title, '--description', said, '--yes']
}

/** The last address that the tool printed. */
export function addressIn(output: string): string | undefined {
  return output.match(/https?:\/\/[^\s"'<>]+/g)?.at(-1)
}
