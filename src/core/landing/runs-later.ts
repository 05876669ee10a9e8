/**
 * The list of files that run later, by themselves or by habit, or that steer a tool which runs something
 * (docs/adr/0039-landing-tells.md). Source: the documentation of each tool, last gone through on 2026-11-17; to add one is
 * to add a word here. Names are compared in lower case, because some file systems do not tell `MAKEFILE` from `Makefile`.
 */

import { agentFileNames, agentFolderNames } from '../model/agent-files.ts'
import { settingsFile } from '../model/layout.ts'

interface Later {
  /** Follows the path in a message: `AGENTS.md (tells agents what to do)`. */
  readonly why: string
  /** Names of files, in any folder. */
  readonly names?: readonly string[]
  /** Folders, in any folder; all files below count. */
  readonly folders?: readonly string[]
  /** Ends of names. */
  readonly ends?: readonly string[]
}

// biome-ignore format: a list
const list: readonly Later[] = [
  {
    why: 'settings of offshoot',
    names: [settingsFile(''), '.offshoot.yml', '.worktreeinclude', 'conductor.json'],
    folders: ['.offshoot', '.conductor'],
  },
  {
    why: 'tells agents what to do',
    names: [
      ...agentFileNames, 'agents.md', 'agents.override.md', 'claude.md', 'claude.local.md', 'gemini.md', 'qwen.md', 'warp.md', '.cursorrules', '.windsurfrules', '.clinerules',
      '.goosehints', '.aider.conf.yml', 'mcp.json', 'crush.json', '.crush.json', '.roomodes',
      'copilot-instructions.md', 'copilot-setup-steps.yml', 'skill.md',
    ],
    folders: [
      ...agentFolderNames, '.claude-plugin', '.cursor', '.windsurf', '.cline', '.clinerules', '.roo', '.kiro', '.amazonq', '.junie', '.qwen',
      '.continue', '.agents', '.factory', '.amp', '.augment', '.goose', '.github/instructions', '.github/prompts', '.github/agents', '.github/chatmodes',
    ],
  },
  {
    why: 'runs with git',
    names: [
      '.gitattributes', '.gitmodules', '.lfsconfig', '.pre-commit-config.yaml', '.pre-commit-config.yml', '.pre-commit-hooks.yaml', 'lefthook.yml', 'lefthook.yaml',
      '.lefthook.yml', '.lefthook.yaml', 'lefthook.toml', 'lefthook.json', 'lefthook-local.yml', '.overcommit.yml', '.huskyrc', '.huskyrc.json', '.huskyrc.js', '.lintstagedrc',
      '.lintstagedrc.json', '.lintstagedrc.js', '.lintstagedrc.mjs', '.lintstagedrc.cjs', '.lintstagedrc.yml', '.lintstagedrc.yaml', '.simple-git-hooks.json', '.simple-git-hooks.js',
      '.gitconfig', 'pre-commit', 'commit-msg', 'prepare-commit-msg', 'post-commit', 'pre-push', 'pre-rebase', 'post-checkout', 'post-merge', 'post-rewrite', 'pre-receive', 'post-receive',
    ],
    folders: ['.husky', '.githooks', 'githooks', 'git-hooks', '.lefthook'],
  },
  {
    why: 'runs in CI or at a release',
    names: [
      '.gitlab-ci.yml', '.gitlab-ci.yaml', 'jenkinsfile', '.travis.yml', '.travis.yaml', 'azure-pipelines.yml', 'azure-pipelines.yaml', 'appveyor.yml', '.appveyor.yml',
      'bitbucket-pipelines.yml', '.drone.yml', '.drone.yaml', '.drone.jsonnet', '.drone.star', '.woodpecker.yml', '.woodpecker.yaml', 'cloudbuild.yaml', 'cloudbuild.yml',
      'buildspec.yml', 'buildspec.yaml', '.cirrus.yml', '.cirrus.star', 'codefresh.yml', 'wercker.yml', 'semaphore.yml', 'bitrise.yml', 'codemagic.yaml', 'netlify.toml',
      'vercel.json', 'fly.toml', 'render.yaml', 'heroku.yml', 'procfile', 'skaffold.yaml', 'tiltfile', '.goreleaser.yml', '.goreleaser.yaml', '.releaserc',
      '.releaserc.json', '.releaserc.js', 'renovate.json', 'renovate.json5', '.renovaterc', '.renovaterc.json', 'dependabot.yml', 'action.yml', 'action.yaml', 'earthfile', 'dagger.json',
      'wrangler.toml', 'wrangler.json', 'wrangler.jsonc', 'firebase.json', 'amplify.yml', 'serverless.yml', 'serverless.yaml', 'samconfig.toml',
    ],
    folders: [
      '.github/workflows', '.github/actions', '.circleci', '.buildkite', '.gitlab', '.woodpecker', '.semaphore', '.teamcity', '.azure-pipelines', '.forgejo', '.gitea', '.drone', '.tekton',
    ],
    ends: ['.jenkinsfile'],
  },
  {
    why: 'runs with a build or a test',
    names: [
      'makefile', 'gnumakefile', 'bsdmakefile', 'justfile', '.justfile', 'taskfile.yml', 'taskfile.yaml', 'taskfile.dist.yml', 'taskfile.dist.yaml', 'build.rs', 'build.zig',
      'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'init.gradle', 'gradle.properties', 'gradlew', 'gradlew.bat', 'gradle-wrapper.properties',
      'gradle-wrapper.jar', 'pom.xml', 'mvnw', 'mvnw.cmd', 'build.xml', 'build.sbt', 'build.sc', 'build.mill', 'cmakelists.txt', 'cmakepresets.json', 'meson.build', 'configure',
      'configure.ac', 'wscript', 'sconstruct', 'sconscript', 'build.ninja', 'xmake.lua', 'premake5.lua', 'rakefile', 'thorfile', 'guardfile', 'fastfile', 'capfile', 'dangerfile', 'mix.exs', 'rebar.config',
      'project.clj', 'deps.edn', 'build.boot', 'setup.hs', 'package.yaml', 'stack.yaml', 'cabal.project', 'dune', 'dune-project', 'package.swift', 'podfile', 'cartfile', 'brewfile',
      'conftest.py', 'noxfile.py', 'fabfile.py', 'tasks.py', 'dodo.py', 'setup.py', 'setup.cfg', 'pyproject.toml', 'tox.ini', 'pytest.ini', '.pytest.ini', 'manage.py', 'sitecustomize.py',
      'usercustomize.py', '.coveragerc', '.pylintrc', 'pylintrc', 'build', 'build.bazel', 'workspace', 'workspace.bazel', 'module.bazel', '.bazelrc', '.bazelversion', '.buckconfig', 'buck',
      'pants.toml', 'dockerfile', 'containerfile', 'docker-compose.yml', 'docker-compose.yaml', 'docker-compose.override.yml', 'docker-compose.override.yaml', 'compose.yml', 'compose.yaml',
      'compose.override.yml', 'compose.override.yaml', 'docker-bake.hcl', 'vagrantfile', 'deno.json', 'deno.jsonc', 'bunfig.toml', 'turbo.json', 'nx.json', 'lerna.json', 'rush.json', 'angular.json',
      '.babelrc', '.babelrc.json', '.swcrc', '.mocharc', '.mocharc.json', '.mocharc.yml', '.nycrc', 'nodemon.json', 'package.json', 'makefile.am', 'makefile.in', 'makefile.pl', 'build.pl', 'phpunit.xml',
      'phpunit.xml.dist', 'global.json', 'nuget.config', 'directory.build.props', 'directory.build.targets', 'directory.packages.props', 'gruntfile.js', 'gulpfile.js', 'gulpfile.ts', 'gulpfile.mjs',
      'gulpfile.cjs', 'gruntfile.cjs', 'gruntfile.ts', 'jakefile.js', 'jakefile', '.golangci.yml', '.golangci.yaml', 'clippy.toml', '.rubocop.yml', '.rspec', 'cliff.toml',
    ],
    folders: ['.cargo', 'buildsrc', '.mvn', '.config/nextest', '.storybook', 'xtask', 'debian'],
    ends: [
      '.mk', '.mak', '.cmake', '.pth', '.gradle', '.gradle.kts', '.bzl', '.csproj', '.fsproj', '.vbproj', '.vcxproj', '.props', '.targets', '.sln', '.pbxproj', '.xcscheme', '.gemspec', '.cabal', '.dockerfile',
      '.config.js', '.config.ts', '.config.mjs', '.config.cjs', '.config.mts', '.config.cts', '.conf.js', '.conf.ts', '.setup.js', '.setup.ts', '.nix', '.tf', '.spec.in',
      '.service', '.timer', '.desktop',
    ],
  },
  {
    why: 'chooses the packages that are installed',
    names: [
      '.npmrc', '.yarnrc', '.yarnrc.yml', '.yarnrc.yaml', '.pnpmfile.cjs', '.pnpmfile.js', '.pnpmfile.mjs', 'pnpm-workspace.yaml', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb',
      'deno.lock', 'cargo.toml', 'cargo.lock', 'rust-toolchain', 'rust-toolchain.toml', 'go.mod', 'go.sum', 'go.work', 'gemfile', 'gemfile.lock', 'gems.rb', '.gemrc', 'composer.json', 'composer.lock',
      'pipfile', 'pipfile.lock', 'poetry.lock', 'uv.lock', 'uv.toml', 'pdm.lock', 'pip.conf', '.pypirc', 'environment.yml', 'environment.yaml', 'pixi.toml', 'mix.lock', 'podfile.lock', 'packages.lock.json', 'flake.lock',
      'pubspec.yaml', 'package.resolved', '.condarc', 'bower.json', '.bowerrc',
    ],
    folders: ['.yarn/releases', '.yarn/plugins', '.yarn/sdks', '.bundle'],
  },
  {
    why: 'runs when a shell or an editor opens the folder',
    names: [
      '.envrc', '.env.sh', 'mise.toml', '.mise.toml', 'mise.local.toml', '.tool-versions', '.nvmrc', '.node-version', '.python-version', '.ruby-version', '.sdkmanrc', 'flake.nix', 'shell.nix', 'default.nix', 'devbox.json', 'devenv.nix',
      'devenv.yaml', '.exrc', '.nvimrc', '.nvim.lua', '.vimrc', '.gvimrc', '.lvimrc', '.local.vimrc', '.dir-locals.el', '.dir-locals-2.el', '.projectile', '.ycm_extra_conf.py', '.clangd',
      '.lldbinit', '.gdbinit', '.bashrc', '.bash_profile', '.bash_login', '.profile', '.zshrc', '.zshenv', '.zprofile', '.inputrc', '.irbrc', '.pryrc', '.pythonrc', '.rprofile', '.tmux.conf', '.autoenv', '.autoenv.zsh', '.gitpod.yml', '.gitpod.dockerfile',
      'devcontainer.json', '.devcontainer.json', '.replit', 'replit.nix', '.sublime-project', '.stackblitzrc', '.luarc.json', '.neoconf.json',
    ],
    folders: ['.vscode', '.idea', '.fleet', '.zed', '.vs', '.nvim', '.vim', '.devcontainer', '.direnv', '.mise', '.config/mise', '.jupyter', '.ipython', '.theia', '.settings'],
    ends: ['.code-workspace', '.sublime-project', '.sublime-commands', '.iml'],
  },
]

const whyOf = (words: (later: Later) => readonly string[] | undefined) =>
  new Map(list.flatMap((later) => (words(later) ?? []).map((word) => [word, later.why])))
const byName = whyOf(({ names }) => names)
const byFolder = whyOf(({ folders }) => folders)
const byEnd = whyOf(({ ends }) => ends)

/** `Dockerfile.prod`, `docker-compose.ci.yml`, `requirements.txt`, `tsconfig.json`, `.eslintrc.js`. */
const byPattern =
  /^(?:dockerfile|containerfile|jenkinsfile|makefile|docker-compose|compose|requirements|constraints|tsconfig)[._-]|^\..*rc\.[cm]?[jt]s$/

/** Why a file of that path runs later; undefined if it does not. Pure. */
export function whyLater(path: string): string | undefined {
  const parts = path.toLowerCase().split('/')
  const name = parts.pop() ?? ''
  const known = byName.get(name)
  if (known !== undefined) return known
  for (const [index, part] of parts.entries()) {
    const inside = byFolder.get(part) ?? byFolder.get(`${part}/${parts[index + 1]}`)
    if (inside !== undefined) return inside
  }
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const ended = byEnd.get(name.slice(dot))
    if (ended !== undefined) return ended
  }
  return byPattern.test(name) ? 'runs with a build or a test' : undefined
}

/** Fields of a `package.json` that no tool runs or installs by. */
const harmless: ReadonlySet<string> = new Set([
  'name',
  'version',
  'description',
  'keywords',
  'author',
  'contributors',
  'license',
  'homepage',
  'repository',
  'bugs',
  'files',
  'private',
  'funding',
])

/** Whether a `package.json` changed where it matters: scripts, dependencies, settings of tools. Pure. */
export function changesPackage(before: string | undefined, after: string | undefined): boolean {
  const [from, to] = [fieldsOf(before), fieldsOf(after)]
  if (!from || !to) return true
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...names].some(
    (name) => !harmless.has(name) && JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  )
}

function fieldsOf(content: string | undefined): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(content ?? '')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
