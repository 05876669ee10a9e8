import { expect, test } from 'vitest'
import { changesPackage, whyLater } from './runs-later.ts'

// biome-ignore format: a list
const running = [
  '.offshoot.yaml', '.worktreeinclude', 'conductor.json', '.codex/config.toml', '.gemini/settings.json', '.opencode/plugin/x.ts', 'opencode.json', 'AGENTS.md', 'CLAUDE.md',
  'sub/AGENTS.md', '.cursorrules', '.cursor/mcp.json', '.claude/settings.json', '.mcp.json', '.github/copilot-instructions.md', '.gitattributes', '.gitmodules', 'GNUmakefile', 'makefile',
  'Makefile', 'rules.mk', 'Justfile', 'Taskfile.yml', 'pyproject.toml', 'setup.py', 'conftest.py', 'tests/conftest.py', 'x.pth', 'build.rs', '.cargo/config.toml', 'build.gradle', 'pom.xml',
  'CMakeLists.txt', 'Rakefile', 'Gemfile', 'Dockerfile', 'Dockerfile.prod', 'docker-compose.yml', 'docker-compose.ci.yml', 'compose.yaml', '.npmrc', '.yarnrc.yml', '.pnpmfile.cjs',
  '.yarn/releases/yarn-4.cjs', 'vite.config.ts', 'jest.config.js', '.eslintrc.js', '.gitlab-ci.yaml', '.gitlab-ci.yml', 'azure-pipelines.yml', '.travis.yml', '.buildkite/pipeline.yml',
  'flake.nix', 'mise.toml', '.exrc', '.nvim.lua', '.dir-locals.el', 'x.code-workspace', '.zed/tasks.json', 'lefthook.yaml', '.husky/pre-commit', '.vscode/tasks.json', '.idea/workspace.xml',
  '.github/workflows/ci.yml', '.circleci/config.yml', 'Jenkinsfile', '.envrc', '.devcontainer/devcontainer.json', 'package.json', 'package-lock.json', 'requirements.txt', 'hooks/pre-commit', '.GITHUB/Workflows/x.yml',
]

test.each(running)('A9: %s is known as something that runs later', (path) => {
  expect(whyLater(path)).toBeTypeOf('string')
})

// biome-ignore format: a list
test.each([
  'README.md', 'src/index.ts', 'src/hooks/use-user.ts', 'src.ts', 'docs/agents-overview.md', 'lib/makefiles.py', 'image.png', 'test/a.test.ts', 'data.json', 'config.ts', 'Main.java', 'github/workflows.md',
])('A9: %s is not', (path) => {
  expect(whyLater(path)).toBeUndefined()
})

const manifest = { name: 'x', version: '1.0.0', scripts: { test: 'vitest' } }

test.each([
  [{ ...manifest, version: '1.0.1', description: 'more' }, false],
  [{ ...manifest, scripts: { test: 'vitest', postinstall: 'x' } }, true],
  [{ ...manifest, dependencies: { a: '1' } }, true],
  [{ ...manifest, 'lint-staged': {} }, true],
])('A9: a package.json that becomes %j runs other things: %s', (after, changes) => {
  expect(changesPackage(JSON.stringify(manifest), JSON.stringify(after))).toBe(changes)
})

test('A9: a package.json that cannot be read may run anything', () => {
  expect(changesPackage('{', JSON.stringify(manifest))).toBe(true)
  expect(changesPackage(undefined, JSON.stringify(manifest))).toBe(true)
})
