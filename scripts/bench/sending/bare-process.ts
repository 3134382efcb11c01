import { createTransport } from 'nodemailer'
import { createPool } from '../../../src/db/pool.ts'
import { unpack } from '../../../src/db/packed.ts'

// Sends the copies that Signalpost sent before, by nodemailer's pool alone: the reference.
const [databaseUrl = '', port = ''] = process.argv.slice(2)
const pool = createPool(databaseUrl, { connectionsMax: 1, name: 'bare', onLost: () => undefined })
const { rows } = await pool.query<{
  address: string
  encoding: 'identity' | 'zstd'
  content: Buffer
}>(
  `select address, encoding, content from feedback_messages
   join feedback_reports using (report_id, number)`,
)
const mails = await Promise.all(
  rows.map(async ({ address, ...packed }) => ({ to: address, raw: await unpack(packed) })),
)
await pool.end()
const transport = createTransport({
  ...{ host: '127.0.0.1', port: Number(port), ignoreTLS: true },
  ...{ pool: true, maxConnections: 5, maxMessages: 500 },
})
const from = 'bench@signalpost.example'
const send = (some: typeof mails) =>
  Promise.all(some.map(({ to, raw }) => transport.sendMail({ envelope: { from, to }, raw })))
// Once before it counts: compiled code and open connections.
await send(mails.slice(0, 100))
const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
await send(mails)
const { user, system } = process.cpuUsage(cpu)
const wallMs = performance.now() - startedAt
transport.close()
process.send?.({ mails: mails.length, wallMs, cpuMs: (user + system) / 1_000 })
process.disconnect?.()
