/** The file with which systemd (of a user) or launchd keeps the daemon running. Pure. */
import path from 'node:path'

export const unitKinds = ['systemd', 'launchd'] as const
export type UnitKind = (typeof unitKinds)[number]

export interface UnitFacts {
  /** Node, the command, and its words. */
  readonly words: readonly string[]
  /** The variables that the daemon needs: agents are found in PATH, and a service has a shorter one than a shell. */
  readonly env: Readonly<Record<string, string>>
  readonly home: string
  /** Of the user, for launchd. */
  readonly uid: number
}

export interface UnitFile {
  readonly path: string
  readonly content: string
  /** The commands that begin it, once the file is there. */
  readonly commands: readonly string[]
}

export function unitFile(kind: UnitKind, service: UnitFacts): UnitFile {
  return kind === 'systemd' ? systemdUnit(service) : launchdAgent(service)
}

/**
 * The daemon ends with 0 when it was told to, and is then not started again. Its runs are processes of their own: with
 * `KillMode=process` they go on when it is restarted.
 */
function systemdUnit({ words, env, home }: UnitFacts): UnitFile {
  const content = [
    '[Unit]',
    'Description=offshoot daemon',
    '',
    '[Service]',
    `ExecStart=${words.map((word) => systemdQuoted(word).replaceAll('$', '$$$$')).join(' ')}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${systemdQuoted(`${name}=${value}`)}`),
    'Restart=on-failure',
    'RestartSec=2',
    'KillMode=process',
    'TimeoutStopSec=30',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')
  return {
    path: path.join(home, '.config/systemd/user/offshoot.service'),
    content,
    commands: ['systemctl --user daemon-reload', 'systemctl --user enable --now offshoot'],
  }
}

const systemdQuoted = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('%', '%%')}"`

const label = 'offshoot.daemon'

function launchdAgent({ words, env, home, uid }: UnitFacts): UnitFile {
  const file = path.join(home, `Library/LaunchAgents/${label}.plist`)
  const content = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key><string>${label}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words.map((word) => `    <string>${xml(word)}</string>`),
    '  </array>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...Object.entries(env).map(
      ([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`,
    ),
    '  </dict>',
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>',
    '  <key>AbandonProcessGroup</key><true/>',
    '</dict>',
    '</plist>',
    '',
  ].join('\n')
  return {
    path: file,
    content,
    commands: [`launchctl bootstrap gui/${uid} '${file.replaceAll("'", `'\\''`)}'`],
  }
}

const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
