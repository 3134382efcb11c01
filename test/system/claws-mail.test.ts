import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:https'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { updateReporter } from '../../src/db/reporters.ts'
import { hashPassword } from '../../src/people/credentials.ts'
import { makeMailInAddress } from '../../src/reports/take-mailed.ts'
import { systemClock } from '../../src/world.ts'
import { sampleMessage } from '../db/web/web-site.ts'
import { closeAfterTests, closeAfterThisTest, makeTestFolder } from '../support/after-tests.ts'
import { makeSite, siteSettings } from '../support/parts.ts'
import { until } from '../support/process.ts'
import { startClawsMail } from './claws-mail.ts'
import { ringOf } from '../support/key-ring.ts'

const NAME = 'www.signal-spam.fr'
/** An address of this machine that no other server uses, because port 443 is fixed. */
const ADDRESS = '127.83.83.83'

const folder = await makeTestFolder()
const site = await closeAfterTests(makeSite())
for (const name of ['web', 'receive', 'work'] as const) await site.start(name)
const { pool } = site.database
const { rows } = await pool.query<{ id: string }>('select id from reporters')
const reporterId = rows[0]?.id ?? ''

const at = (name: string) => path.join(folder, name)
const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`]
const files = ['-keyout', at('key.pem'), '-out', at('certificate.pem')]
await promisify(execFile)('openssl', [
  'req',
  '-x509',
  '-newkey',
  'ed25519',
  '-nodes',
  ...subject,
  ...files,
])
await writeFile(at('hosts'), `127.0.0.1 localhost\n${ADDRESS} ${NAME}\n`)

/** Starts Claws Mail with a message, reports it, and compares what arrives. */
async function reportFromClaws(mark: string, settings: string): Promise<void> {
  const home = at(mark)
  await mkdir(home)
  const message = sampleMessage(mark)
  const claws = await closeAfterThisTest(
    startClawsMail(home, {
      message,
      settings,
      smtpPort: site.receivePort,
      hosts: at('hosts'),
      certificates: at('certificate.pem'),
    }),
  )
  await claws.report()
  const raw = await until('the report', async () => {
    const found = await pool.query<{ id: string }>('select id from reports where subject like $1', [
      `%${mark}%`,
    ])
    return found.rows[0] && rawOf(found.rows[0].id)
  }).catch((cause: unknown) => {
    throw new Error(claws.said().slice(-5_000), { cause })
  })
  expect(raw.toString('latin1')).toBe(message.toString('latin1'))
}

async function rawOf(id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${site.token}` }
  const response = await fetch(`${site.url}/api/v1/reports/${id}/raw`, { headers })
  return Buffer.from(await response.arrayBuffer())
}

test('its plug-in mails reports to the secret address that is entered for SpamCop', async () => {
  const read = readConfig(site.env, { cores: 1, cwd: folder })
  const config = { ...read, databaseUrl: site.database.url, secret: ringOf(siteSettings.secret) }
  const app = { pool, clock: systemClock, config }
  const address = await makeMailInAddress(app, reporterId)
  await reportFromClaws('claws-mailed', `spamcop_enabled=1\nspamcop_user=${address}`)
})

test('its plug-in reports to a service under the name of Signal Spam', async () => {
  await updateReporter(pool, reporterId, { passwordHash: await hashPassword('secret') })
  const [key, cert] = [await readFile(at('key.pem')), await readFile(at('certificate.pem'))]
  const server = createServer({ key, cert }, async (incoming, answer) => {
    const { method, headers, url } = incoming
    const passed = request(`${site.url}${url}`, { method, headers })
    await pipeline(incoming, passed)
    const [response] = await once(passed, 'response')
    answer.writeHead(response.statusCode, response.headers)
    await pipeline(response, answer)
  })
  server.listen(443, ADDRESS)
  await once(server, 'listening')
  await closeAfterThisTest(server)
  const user = 'signalspam_user=ann@reporters.example\nsignalspam_pass=secret'
  await reportFromClaws('claws-posted', `signalspam_enabled=1\n${user}`)
})
