/** Recognizes dangerous commands, each with its reason. A shell has more ways to do harm: this is no security boundary. */
import path from 'node:path'
import type { PolicyPlace } from './policy.ts'

const rules: readonly { readonly words: RegExp; readonly reason: string }[] = [
  { words: /(^|[\s;&|(])(sudo|doas|su)\s/, reason: 'it asks for the rights of another user' },
  {
    words: /\bmkfs(\.\w+)?\b|\bdd\b.*\bof=\/dev\/|>\s*\/dev\/(sd|nvme|disk|vd)/,
    reason: 'it writes to a disk',
  },
  { words: /:\(\)\s*\{.*\};\s*:/, reason: 'it starts processes without end' },
  { words: /(^|[\s;&|(])(shutdown|reboot|halt|poweroff)\b/, reason: 'it stops the machine' },
  {
    words: /\b(curl|wget)\b[^|;&]*\|\s*(sudo\s+)?(ba|z|da)?sh\b/,
    reason: 'it runs what it loads from the network',
  },
  { words: /\bgit\b[^;&|]*\bpush\b/, reason: 'it sends work to another repository' },
  {
    words: /\bcurl\b[^;&|]*\s(-d|--data\S*|-F|--form|-T|--upload-file)\b/,
    reason: 'it sends data to the network',
  },
  { words: /\bwget\b[^;&|]*--post-(data|file)/, reason: 'it sends data to the network' },
  { words: /(^|[\s;&|(])(scp|sftp|nc|ncat|netcat|telnet)\s/, reason: 'it sends data to the network' },
  {
    words:
      /(~|\$HOME|\/root|\/home\/[^/\s]+|\/Users\/[^/\s]+)\/\.(ssh|aws|gnupg|netrc|config\/gcloud|kube)\b/,
    reason: 'it reads secrets of yours',
  },
]

export function dangerOf(command: string, place: PolicyPlace): string | undefined {
  const rule = rules.find(({ words }) => words.test(command))
  return rule?.reason ?? deletionOutside(command, place)
}

/** `rm -r` of something that is not below the workspace. */
function deletionOutside(command: string, place: PolicyPlace): string | undefined {
  for (const [, args = ''] of command.matchAll(/(?:^|[\s;&|(])rm\s+([^;&|\n]*)/g)) {
    const words = args.split(/\s+/).map((word) => word.replace(/^["']|["']$/g, ''))
    if (!words.some((word) => /^-\w*[rR]|^--recursive$/.test(word))) continue
    const outside = words
      .filter((word) => word !== '' && !word.startsWith('-'))
      .find((word) => isOut(word, place))
    if (outside !== undefined) return `it deletes ${outside}, outside of the workspace`
  }
  return undefined
}

function isOut(word: string, { workspace, free, home }: PolicyPlace): boolean {
  const full = path.resolve(workspace, word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/|$)/, home))
  return !full.startsWith(workspace + path.sep) && !free.some((folder) => full.startsWith(folder + path.sep))
}

const lookers = new Set(
  'cat cd cut date diff du echo env file find grep head ls pwd rg sort stat tail tree true uniq wc which'.split(
    ' ',
  ),
)
const gitLookers = new Set('blame branch diff log ls-files rev-parse show status'.split(' '))

/** Whether it is a single command that only reads, written plainly enough to be sure. */
export function isLooking(command: string): boolean {
  if (/[;&|`<>\n]|\$\(|-exec|-delete|-fprint|--output|-o\b/.test(command)) return false
  const [program = '', verb = '', ...rest] = command.trim().split(/\s+/)
  if (program === 'git') return gitLookers.has(verb) && (verb !== 'branch' || rest.length === 0)
  if (program === 'env' || program === 'find') return program === 'find' || verb === ''
  return lookers.has(program)
}
