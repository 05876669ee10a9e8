import { expect, test } from 'vitest'
import { unitFile } from './unit-file.ts'

const service = {
  words: ['/opt/node 24/bin/node', '/opt/100%/$HOME/offshoot.js', 'serve'],
  env: { PATH: '/usr/bin:/a"b\\c', OFFSHOOT_HOME: '/home/me/<state> & more' },
  home: '/home/me',
  uid: 501,
}

test('D17: a unit of systemd quotes what its lines would read otherwise', () => {
  const { path, content, commands } = unitFile('systemd', service)
  expect(path).toBe('/home/me/.config/systemd/user/offshoot.service')
  expect(content.split('\n')).toEqual([
    '[Unit]',
    'Description=offshoot daemon',
    '',
    '[Service]',
    'ExecStart="/opt/node 24/bin/node" "/opt/100%%/$$HOME/offshoot.js" "serve"',
    'Environment="PATH=/usr/bin:/a\\"b\\\\c"',
    'Environment="OFFSHOOT_HOME=/home/me/<state> & more"',
    'Restart=on-failure',
    'RestartSec=2',
    'KillMode=process',
    'TimeoutStopSec=30',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ])
  expect(commands.at(-1)).toBe('systemctl --user enable --now offshoot')
})

test('D17: an agent of launchd is XML, whatever the paths hold, and leaves the runs alone at its end', () => {
  const { path, content, commands } = unitFile('launchd', service)
  expect(path).toBe('/home/me/Library/LaunchAgents/offshoot.daemon.plist')
  for (const line of [
    '    <string>/opt/100%/$HOME/offshoot.js</string>',
    '    <key>OFFSHOOT_HOME</key><string>/home/me/&lt;state&gt; &amp; more</string>',
    '  <key>AbandonProcessGroup</key><true/>',
  ])
    expect(content.split('\n')).toContain(line)
  expect(commands).toEqual([
    `launchctl bootstrap gui/501 '/home/me/Library/LaunchAgents/offshoot.daemon.plist'`,
  ])
})
