/** Other versions of git, built from the source packages of the Debian archive that this machine uses. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface BuiltGit {
  readonly version: string
  /** The folder to put in front of the PATH. */
  readonly bin: string
}

/** Outside of the repository: a build takes minutes, and is kept. */
const cache = path.resolve(
  process.env.OFFSHOOT_TEST_GITS ?? path.join(os.homedir(), '.cache/offshoot-test-gits'),
)
const suites = ['stable', 'testing', 'unstable']
const tools = ['apt-get', 'dpkg-source', 'make', 'cc']

/** What is built already, and what can be had today. Answers too why there is not more. */
export function otherGits(say: (line: string) => void): BuiltGit[] {
  const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0)
  if (missing.length > 0) say(`No other git is built: there is no ${missing.join(', no ')}.`)
  else for (const suite of suites) tryBuild(suite, say)
  return globSync(path.join(cache, 'built/*/bin/git')).map((git) => ({
    version: path.basename(path.dirname(path.dirname(git))),
    bin: path.dirname(git),
  }))
}

function tryBuild(suite: string, say: (line: string) => void): void {
  try {
    build(suite, say)
  } catch (error) {
    const { stderr, message } = error as { stderr?: Buffer; message: string }
    const told = stderr?.toString().trim().split('\n').at(-1)
    say(`The git of Debian ${suite} cannot be had: ${told || message}`)
  }
}

function build(suite: string, say: (line: string) => void): void {
  const apt = aptFor(suite)
  apt('update')
  const version = /\d[\d.]*\d/.exec(
    apt('--print-uris', '--only-source', 'source', 'git').match(/git_\S+orig/)?.[0] ?? '',
  )?.[0]
  if (version === undefined) throw new Error('no version is named')
  const target = path.join(cache, 'built', version)
  if (existsSync(path.join(target, 'bin/git'))) return
  say(`Building git ${version} of Debian ${suite} …`)
  const folder = path.join(cache, suite)
  for (const old of globSync(path.join(folder, 'git-*/'))) rmSync(old, { recursive: true })
  apt('source', 'git')
  const [source = ''] = globSync(path.join(folder, 'git-*/'))
  const draft = `${target}.new`
  const without = ['GETTEXT', 'TCLTK', 'PERL', 'PYTHON', 'CURL', 'EXPAT', 'OPENSSL', 'RUST', 'REGEX'].map(
    (part) => `NO_${part}=1`,
  )
  // A git knows the place that it was built for: it is told the last one, and put together in another.
  const args = [...without, 'INSTALL_SYMLINKS=1', `prefix=${target}`]
  const make = (...more: string[]) =>
    execFileSync('make', [...args, ...more], {
      cwd: source,
      stdio: ['ignore', 'ignore', 'pipe'],
      maxBuffer: 1 << 26,
    })
  make('-j2', 'all')
  make(`DESTDIR=${draft}`, 'install')
  renameSync(path.join(draft, target), target)
  for (const left of [draft, source]) rmSync(left, { recursive: true, force: true })
}

/** Apt with lists of its own: the machine's are not touched, and signatures are checked as ever. */
function aptFor(suite: string): (...args: string[]) => string {
  const folder = path.join(cache, suite)
  const lists = path.join(folder, 'lists')
  mkdirSync(path.join(lists, 'partial'), { recursive: true })
  const sources = path.join(folder, 'debian.sources')
  writeFileSync(sources, sourcesFor(suite))
  const settings = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Dir::State::Lists': lists,
    'Dir::Cache': path.join(folder, 'cache'),
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  return (...args) =>
    execFileSync('apt-get', ['-q', ...options, ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
}

/** The archive that the machine is set up with, whichever mirror that is. */
function sourcesFor(suite: string): string {
  const args = ['indextargets', '--format', '$(REPO_URI)', 'Origin: Debian', 'Label: Debian']
  const [uri] = execFileSync('apt-get', args, { encoding: 'utf8' }).split('\n')
  if (!uri) throw new Error('apt knows no Debian archive')
  return ['Types: deb-src', `URIs: ${uri}`, `Suites: ${suite}`, 'Components: main', ''].join('\n')
}
