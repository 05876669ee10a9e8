/** Git as agents use it, for better or worse. */
import type { Action } from './action.ts'

const commit = 'git add --all && git commit --quiet --message=agent'

export const gitVerbs: readonly Action[] = [
  { name: 'commits', script: commit },
  {
    name: 'commits, and amends what offshoot committed',
    script: 'git commit --quiet --all --amend --message=mine',
  },
  { name: 'checks out another branch', script: `${commit} && git checkout --quiet feature` },
  {
    name: "checks out the user's branch all the same, and commits",
    script: `${commit} && git checkout --quiet --ignore-other-worktrees main && echo more > main.txt && ${commit}`,
  },
  { name: 'resets hard, far back', script: 'git reset --quiet --hard HEAD~2' },
  { name: 'rebases', script: `${commit} && git rebase --quiet feature` },
  {
    name: 'stops in the middle of a rebase',
    script: `echo agent > clash.txt && ${commit} && ! git rebase --quiet feature 2> /dev/null`,
  },
  {
    name: 'stashes and clears the stash',
    script: 'git stash --quiet --include-untracked && git stash clear',
  },
  { name: 'cleans everything', script: 'git reset --quiet --hard && git clean --quiet -ffdx' },
  {
    name: 'prunes worktrees and collects garbage',
    script: 'git worktree prune && git gc --quiet --prune=now',
  },
  {
    name: 'expires every reflog and collects garbage',
    script:
      'git reset --quiet --hard HEAD~3 && git reflog expire --expire=now --all && git gc --quiet --prune=now',
  },
  { name: "moves the user's branch", script: 'git update-ref refs/heads/main HEAD~1' },
  {
    name: 'deletes its own branch',
    script: 'git checkout --quiet --detach && git branch --quiet -D offshoot/T1',
  },
  {
    name: 'deletes its own branch and all that was on it',
    script: `git checkout --quiet --detach feature && git branch --quiet -D offshoot/T1 &&
      git reflog expire --expire=now --all && git gc --quiet --prune=now`,
  },
  {
    name: 'deletes every ref it can reach but the checked-out ones',
    script: `git checkout --quiet --detach && git for-each-ref --format='delete %(refname)' |
      grep -v refs/heads/main | git update-ref --stdin`,
  },
  { name: 'replaces its base with another commit', script: 'git replace HEAD~3 feature' },
  { name: 'makes the repository shallow', script: 'git rev-parse HEAD > "$COMMON/shallow"' },
  {
    name: 'adds a worktree of its own',
    script: 'git worktree add --quiet -b mine mine-tree',
    skipped: ['mine-tree/.git'],
  },
  {
    name: 'starts a repository inside, without a commit',
    script: 'git init --quiet inner && echo in > inner/in.txt',
    skipped: ['inner/.git'],
  },
  {
    name: 'starts a repository inside, with a commit',
    script: `git init --quiet inner && echo in > inner/in.txt && cd inner && ${commit}`,
    skipped: ['inner/.git'],
  },
  {
    name: 'adds a submodule',
    script: `git clone --quiet "$OTHER" sub && git config --file .gitmodules submodule.sub.path sub &&
      git config --file .gitmodules submodule.sub.url https://example.com/sub.git && ${commit} 2> /dev/null`,
    skipped: ['sub'],
  },
]
