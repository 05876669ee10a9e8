/** Files of every shape. */
import type { Action } from './action.ts'

export const shapes: readonly Action[] = [
  {
    name: 'puts a pipe in the place of a tracked file',
    script: 'rm a.txt && mkfifo a.txt',
    skipped: ['a.txt'],
  },
  {
    name: 'puts a pipe in the place of .gitignore',
    script: 'rm .gitignore && mkfifo .gitignore',
    skipped: ['.gitignore'],
    ignored: [],
  },
  {
    name: 'puts a pipe in the place of .gitattributes',
    script: 'mkfifo src/.gitattributes && echo more >> src/b.txt',
    skipped: ['src/.gitattributes'],
  },
  {
    name: 'leaves a socket',
    script: `"$NODE" -e "require('net').createServer().listen('agent.sock', () => process.kill(process.pid, 9))" || true`,
    skipped: ['agent.sock'],
  },
  {
    name: 'makes a tracked file unreadable',
    script: 'echo more >> a.txt && chmod 000 a.txt',
    unreadable: ['a.txt'],
  },
  {
    name: 'makes a new file unreadable',
    script: 'echo secret > closed.txt && chmod 000 closed.txt',
    unreadable: ['closed.txt'],
  },
  {
    name: 'makes a tracked folder unreadable',
    script: 'chmod 000 src',
    unreadable: ['src/', 'src/b.txt', 'src/deep/c.txt'],
  },
  {
    name: 'makes a new folder unreadable',
    script: 'mkdir closed && echo secret > closed/x && chmod 000 closed',
    unreadable: ['closed/'],
  },
  {
    name: 'starts a repository inside and makes a part of it unreadable',
    script:
      'git init --quiet inner && mkdir inner/closed && echo x > inner/closed/x && chmod 000 inner/closed',
    skipped: ['inner/.git'],
    unreadable: ['inner/closed/'],
  },
  {
    name: 'wants its text in UTF-16',
    script: 'echo "*.txt working-tree-encoding=UTF-16" > .gitattributes && echo plain > utf.txt',
  },
  {
    name: 'wants an encoding that nobody knows',
    script: 'echo "*.txt text working-tree-encoding=no-such-thing" > .gitattributes && echo plain > utf.txt',
  },
  {
    name: 'wants other line ends',
    script: `printf '* text eol=crlf\\n*.u text eol=lf\\n' > .gitattributes && printf 'a\\r\\nb\\n' > mixed.txt && printf 'a\\r\\n' > x.u`,
  },
  {
    name: 'ignores its own work',
    script: 'echo "*" > .gitignore && echo hidden > hidden.txt',
    ignored: ['hidden.txt', 'new.txt', 'noise.log', 'open.txt'],
  },
  {
    name: 'ignores its own work where nobody looks',
    script: 'mkdir -p "$COMMON/info" && echo "*.txt" >> "$COMMON/info/exclude" && echo hidden > hidden.txt',
  },
  {
    name: 'writes a file while it is read',
    script: 'seq 200000 > moving.out',
    meanwhile: 'while :; do seq 200000 > moving.out; : > moving.out; done',
    moving: 'moving.out',
  },
  {
    name: 'truncates a log while it is read',
    script: 'for i in 1 2 3 4 5; do seq 1 400000; done > moving.out',
    meanwhile:
      'while :; do truncate --size=0 moving.out; seq 1 400000 >> moving.out; seq 1 400000 >> moving.out; done',
    moving: 'moving.out',
  },
  {
    name: 'puts a link to the outside in the place of a tracked folder',
    script: 'rm -rf src && ln -s "$OUTSIDE" src',
  },
  {
    name: 'puts a link to the outside in the place of a tracked folder, and ignores it',
    script: 'rm -rf src && ln -s "$OUTSIDE" src && echo src >> .gitignore',
    ignored: ['noise.log', 'src'],
  },
  {
    name: 'makes links that lead nowhere and round in circles',
    script: 'ln -s nowhere dangling && ln -s loop loop && ln -s .. up',
  },
  {
    name: 'takes names that git keeps for itself',
    script: `mkdir -p .GIT src/.Git && echo '[core]' > .GIT/config && echo x > src/.Git/HEAD && echo x > git~1 && echo x > 'src/GIT~1' &&
      echo x > '.git ' && echo x > '.git.' && echo x > "$(printf '.g\\342\\200\\214it')" && echo x > '.git::$INDEX_ALLOCATION'`,
    skipped: [
      '.GIT/config',
      'src/.Git/HEAD',
      'git~1',
      'src/GIT~1',
      '.git ',
      '.git.',
      '.g\u200cit',
      '.git::$INDEX_ALLOCATION',
    ],
  },
  {
    name: 'writes a .gitmodules in bad faith',
    script: `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = -oProxyCommand=touch\\n[submodule "../../evil"]\\n\\tpath = y\\n\\turl = /x\\n' > .gitmodules`,
  },
  { name: 'makes .gitmodules a link', script: 'ln -s a.txt .gitmodules' },
  {
    name: 'takes names that are hard to write down',
    script: `echo x > "$(printf 'new\\nline')" && echo x > 'quote"d' && echo x > -rf && echo x > "$(printf 'latin\\351')" &&
      echo x > ':(glob)**' && echo x > 'a b\\c' && mkdir -p -- '--all' && echo x > './--all/*' && echo x > "$(printf '\\033[31m')"`,
  },
  {
    name: 'edits a file without a change of its size and time',
    script:
      'touch --reference=a.txt "$TMPDIR/ref" && tr a-z b-za < a.txt > "$TMPDIR/new" && cat "$TMPDIR/new" > a.txt && touch --reference="$TMPDIR/ref" a.txt',
    later: true,
  },
  {
    name: 'swaps files for folders and folders for files',
    script: 'rm -rf a.txt src && mkdir a.txt && echo x > a.txt/x && echo x > src && ln -sfn src s1.txt',
  },
  { name: 'empties the workspace', script: 'find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +' },
]
