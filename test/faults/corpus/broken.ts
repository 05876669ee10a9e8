/** Its git, broken in every way that a folder can be. */
import type { Action } from './action.ts'

export const broken: readonly Action[] = [
  { name: 'deletes .git', script: 'rm -rf .git' },
  {
    name: 'starts git anew',
    script: 'rm -rf .git && git init --quiet && git add --all && git commit --quiet --message=anew',
  },
  { name: 'points .git at another repository', script: 'rm -rf .git && echo "gitdir: $OTHER/.git" > .git' },
  {
    name: 'puts a link to another repository in the place of .git',
    script: 'rm -rf .git && ln -s "$OTHER/.git" .git',
  },
  { name: 'empties .git', script: 'rm -rf .git && mkdir .git' },
  { name: 'deletes what git knows of its worktree', script: 'rm -rf "$COMMON/worktrees"' },
  { name: 'leaves index.lock', script: ': > "$GITDIR/index.lock"' },
  {
    name: 'leaves locks on refs',
    script:
      ': > "$COMMON/refs/heads/offshoot/T1.lock"; : > "$COMMON/packed-refs.lock"; : > "$GITDIR/HEAD.lock"',
  },
  {
    name: 'has a pre-commit hook that fails',
    script: `mkdir -p "$COMMON/hooks" && printf '#!/bin/sh\\nexit 1\\n' > "$COMMON/hooks/pre-commit" &&
      chmod +x "$COMMON/hooks/pre-commit" && ! git commit --quiet --all --message=no`,
  },
  {
    name: 'has a pre-commit hook that hangs',
    script: `mkdir -p "$COMMON/hooks" && printf '#!/bin/sh\\nexec sleep 3\\n' > "$COMMON/hooks/pre-commit" &&
      chmod +x "$COMMON/hooks/pre-commit" && ! timeout --signal=KILL 0.5 git commit --quiet --all --message=no`,
  },
  { name: 'sets core.bare', script: 'git config core.bare true' },
  { name: 'sets core.worktree to a folder outside', script: 'git config core.worktree "$OUTSIDE"' },
  { name: 'sets core.worktree to nowhere', script: 'git config core.worktree ../../nowhere/at/all' },
  {
    name: 'sets a repository format that nobody knows',
    script: 'git config core.repositoryFormatVersion 99',
  },
  { name: 'writes nonsense into its config', script: 'echo "[[[" >> "$COMMON/config"' },
  { name: 'writes nonsense into its index', script: 'head -c 4096 /dev/urandom > "$GITDIR/index"' },
  { name: 'empties its index', script: ': > "$GITDIR/index"' },
  { name: 'deletes its index', script: 'rm "$GITDIR/index"' },
  { name: 'writes nonsense into HEAD', script: 'echo nonsense > "$GITDIR/HEAD"' },
  {
    name: 'writes nonsense into its branch',
    script: 'mkdir -p "$COMMON/refs/heads/offshoot"; echo nonsense > "$COMMON/refs/heads/offshoot/T1"',
  },
  {
    name: 'empties its branch',
    script: 'mkdir -p "$COMMON/refs/heads/offshoot"; : > "$COMMON/refs/heads/offshoot/T1"',
  },
  {
    name: 'hides its edits from git status',
    script: `git update-index --assume-unchanged edited.txt src/b.txt && git update-index --skip-worktree run.sh &&
      echo hidden >> src/b.txt && echo hidden >> run.sh`,
  },
  { name: 'deletes every object in its reach', script: 'rm -rf "$COMMON"/objects/*' },
  { name: 'deletes the folder of objects', script: 'rm -rf "$COMMON/objects"' },
  {
    name: 'writes nonsense into every object in its reach',
    script: `find "$COMMON/objects" -type f -exec chmod u+w {} + &&
      find "$COMMON/objects" -type f -exec sh -c 'for f; do echo nonsense > "$f"; done' _ {} +`,
  },
  {
    name: 'borrows objects from another repository',
    script:
      'mkdir -p "$COMMON/objects/info" && echo "$OTHER/.git/objects" > "$COMMON/objects/info/alternates"',
  },
  {
    name: "links its index to the user's",
    script: 'rm "$GITDIR/index"; ln -s "$USERS/.git/index" "$GITDIR/index"',
  },
  {
    name: 'links its refs to those of another repository',
    script: 'rm -rf "$GITDIR/refs" && ln -s "$OTHER/.git/refs" "$GITDIR/refs"',
    only: 'clone',
  },
  {
    name: 'calls another repository its own',
    script: 'echo "$OTHER/.git" > "$GITDIR/commondir"',
    only: 'clone',
  },
  {
    name: 'puts pipes in the place of what git reads',
    script: `rm -f "$GITDIR/HEAD" "$GITDIR/index" && mkfifo "$GITDIR/HEAD" "$GITDIR/index"`,
  },
  { name: 'deletes its whole folder', script: 'cd / && rm -rf "$SPACE"' },
  { name: 'moves its whole folder away', script: 'cd / && mv "$SPACE" "$SPACE-moved"' },
  {
    name: 'puts a link in the place of its folder',
    script: 'cd / && rm -rf "$SPACE" && ln -s "$OUTSIDE" "$SPACE"',
  },
  { name: 'removes its own worktree', script: 'git worktree remove --force .', only: 'worktree' },
]
