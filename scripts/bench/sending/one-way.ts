import { generateKeyPairSync } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { createPool } from '../../../src/db/pool.ts'
import { unpack } from '../../../src/db/rows.ts'
import { createMailer, createSigner } from '../../../src/net/mailer.ts'

// Sends the stored copies of feedback reports in one of three ways: by nodemailer's pool alone,
// which is the reference, by our mailer on top of the pool, or by our mailer with a signature. Each
// way uses five connections.
const [databaseUrl = '', port = '', way = 'bare'] = process.argv.slice(2)
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
const from = 'bench@signalpost.example'
const sender = way === 'bare' ? barePool() : ourMailer(way === 'signing')
const send = (some: typeof mails) => Promise.all(some.map(sender.send))
// The first mails are not measured: they compile the code and open the connections.
await send(mails.slice(0, 500))
const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
await send(mails)
const { user, system } = process.cpuUsage(cpu)
const wallMs = performance.now() - startedAt
await sender.close()
process.send?.({ mails: mails.length, wallMs, cpuMs: (user + system) / 1_000 })
process.disconnect?.()

type Mail = (typeof mails)[number]

function barePool() {
  const transport = createTransport({
    ...{ host: '127.0.0.1', port: Number(port), ignoreTLS: true },
    ...{ pool: true, maxConnections: 5, maxMessages: 500 },
  })
  return {
    send: async ({ to, raw }: Mail) => {
      await transport.sendMail({ envelope: { from, to }, raw })
    },
    close: async () => transport.close(),
  }
}

function ourMailer(isSigning: boolean) {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const signer = createSigner({ domain: 'signalpost.example', selector: 'bench', privateKey })
  // All mails are queued immediately, so the last ones wait long for a place.
  const mailer = createMailer(`smtp://127.0.0.1:${port}?ignoreTLS=true`, {
    ...{ connectionsMax: 5, slowMax: 1, placeMs: 300_000 },
  })
  return {
    send: async ({ to, raw }: Mail) => {
      const signed = isSigning ? signer(raw) : raw
      const { outcome } = await mailer.send({ envelope: { from, to }, raw: signed })
      if (outcome !== 'accepted') throw new Error(`A mail was ${outcome}.`)
    },
    close: () => mailer.close(),
  }
}
