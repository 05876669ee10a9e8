/** Busy network ports, by the kernel's tables and by listening. */
import { createServer } from 'node:net'
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
    '',
  ]
  expect(userOf(table.join('\n'), 0xc350, 0x18c1)).toBe(1001)
  expect(userOf(table.join('\n'), 0x18c1, 0xc350)).toBe(1000)
  expect(userOf(table.join('\n'), 1, 2)).toBeUndefined()
})
