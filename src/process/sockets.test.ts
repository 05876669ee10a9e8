/** Busy network ports, by the kernel's tables and by listening. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listeningPorts, machineSockets, tryEach, userOf } from './sockets.ts'

function listening(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    onTestFinished(() => void server.close())
    server.once('error', reject)
    server.listen({ port: 0, host }, () => resolve((server.address() as { port: number }).port))
  })
}

test('H5: of the tables of the kernel only those count that listen', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid',
    '   0: 0100007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000',
    '   1: 0100007F:4E21 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000',
    '   2: 00000000000000000000000001000000:4E22 00000000000000000000000000000000:0000 0A 00000000:00000000',
    '',
  ]
  expect(listeningPorts(table.join('\n'))).toEqual([0x4e20, 0x4e22])
})

test('H5: a port that somebody listens on is busy, in either way to find out', async () => {
  const port = await listening('127.0.0.1')
  for (const readBusy of [machineSockets().readBusy, tryEach])
    expect(await readBusy([port])).toEqual(new Set([port]))
})

test('D4: the kernel says whose end of a connection it is', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:18C1 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1',
    '   1: 0100007F:C350 0100007F:18C1 01 00000000:00000000 00:00000000 00000000  1001        0 2 1',
    '   2: 0100007F:18C1 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3 1',
    '   3: 0200007F:C350 0100007F:18C1 01 00000000:00000000 00:00000000 00000000  1002        0 4 1',
    '   0: 00000000000000000000000001000000:C350 00000000000000000000000001000000:18C1 01 0:0 00:0 0  1003        0 5 1',
    '   1: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:18C1 01 0:0 00:0 0  1004        0 6 1',
    '   2: B80D012000000000000000000100A100:C350 00000000000000000000000001000000:18C1 01 0:0 00:0 0  1005        0 7 1',
    '',
  ]
  const at = (port: number, address = '127.0.0.1') => ({ address, port })
  expect(userOf(table.join('\n'), at(0xc350), at(0x18c1))).toBe(1001)
  expect(userOf(table.join('\n'), at(0x18c1), at(0xc350))).toBe(1000)
  expect(userOf(table.join('\n'), at(0xc350, '::ffff:127.0.0.1'), at(0x18c1))).toBe(1001)
  expect(userOf(table.join('\n'), at(0xc350, '127.0.0.2'), at(0x18c1))).toBe(1002)
  expect(userOf(table.join('\n'), at(0xc350, '::1'), at(0x18c1, '::1'))).toBe(1003)
  expect(userOf(table.join('\n'), at(0xc351), at(0x18c1))).toBe(1004)
  expect(userOf(table.join('\n'), at(0xc350, '2001:db8::a1:1'), at(0x18c1, '::1'))).toBe(1005)
  expect(userOf(table.join('\n'), at(0xc350, '127.0.0.3'), at(0x18c1))).toBeUndefined()
  expect(userOf(table.join('\n'), at(1), at(2))).toBeUndefined()
})

test.runIf(process.platform === 'linux').each([
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.2'],
  ['127.0.0.2', '127.0.0.3'],
  ['::1', '::1'],
])(
  'D4: to %s from %s: our own connection is ours, and one that the kernel does not know is not',
  async (host, localAddress) => {
    const { isOfOther } = machineSockets()
    const port = await listening(host)
    const socket = connect({ host, port, localAddress })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    const ours = { address: host, port }
    const theirs = { address: localAddress, port: socket.localPort ?? 0 }
    expect(await isOfOther({ ours, theirs })).toBe(false)
    expect(await isOfOther({ ours, theirs: { ...theirs, address: '127.0.0.9' } })).toBe(true)
    expect(await isOfOther({ ours, theirs: { ...theirs, port: 1 } })).toBe(true)
  },
)
