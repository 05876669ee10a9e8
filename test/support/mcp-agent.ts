/** What an agent does with `offshoot mcp` during its run; it writes the answers to the file that its argument names. */
import { writeFileSync } from 'node:fs'
import { openClient } from './mcp.ts'

const [, , file = ''] = process.argv
const place = { dir: process.cwd(), env: process.env as Record<string, string> }
const { client, call, close } = await openClient(place, ['--scope', 'admin'])
const { tools } = await client.listTools()
const said = {
  tools: tools.map(({ name }) => name),
  ran: await call('task_detach', { create: false, command: ['true'] }),
  shown: await call('task_show'),
  accepted: await call('task_accept'),
}
writeFileSync(file, JSON.stringify(said))
await close()
