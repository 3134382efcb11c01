import '../support/seed-shingles.ts'
import { expect, test } from 'vitest'
import { handleInbound } from '../../src/feedback/queues.ts'
import { createLogger } from '../../src/log.ts'
import { check } from '../../src/processes/check.ts'
import { queueNames } from '../../src/processes/handlers.ts'
import { receive } from '../../src/processes/receive/receive.ts'
import { startWork } from '../../src/processes/work.ts'
import { send } from '../../src/queue/boss.ts'
import { closeAfterTests, closeAfterThisTest } from '../support/after-tests.ts'
import { arrive } from '../support/inbound-mail.ts'
import { startKeyedSite } from '../support/keys/keyed-site.ts'
import { inboundMailWithKeys, messageWithKeys } from '../support/keys/mail-with-keys.ts'
import { addressesOf, readAddress } from '../support/keys/shown-addresses.ts'
import { watchRoutes } from '../support/pages/route-list.ts'
import { refuseStatements } from '../support/refusing-database.ts'
import { keysIn } from '../support/seen-keys.ts'
import { smtpTalk } from '../support/smtp-talk.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'
import { Browser } from '../db/web/browser.ts'

const logged: string[] = []
const log = await createLogger('trace', 'test', {
  destination: { write: (line) => void logged.push(line) },
})
const listRoutes = watchRoutes()
const keyed = await closeAfterTests(startKeyedSite(log))
const { site, shown, keys, needles, texts, holders } = keyed
const { app } = site
const { pool, boss } = app

/** All keys in a line, as in the reply of a server that quotes a mail. Secrets come first. */
const quote = texts.lines.split('\r\n').toReversed().join(' ')
const visitor = new Browser(site.url)

function sentences(): string[] {
  return [...new Set(logged.map((line) => (JSON.parse(line) as { msg: string }).msg))]
}

/** Fails if a line that was logged since the last call has a key. */
function searchLog(): void {
  const lines = [...new Set(logged.splice(0).map((line) => line.replace(/"time":\d+/, '')))]
  const leaks = lines.filter((line) => keysIn(Buffer.from(line), needles).length > 0)
  expect(leaks).toEqual([])
}

/** Reads one address of each route, and sends keys wherever a request can have them. */
async function request(): Promise<void> {
  const administrator = holders.find(({ role }) => role === 'administrator')
  if (!administrator) throw new Error('There is a person for each role.')
  for (const route of listRoutes('get')) {
    for (const address of addressesOf(route, keyed).slice(0, 2)) {
      await (await readAddress(address, keyed, administrator)).arrayBuffer()
    }
  }
  const wrong = Object.values(keys).flatMap((key) => [
    ...[`/none/${key}`, `/%E0%A4%A/${key}`, `/?token=${key}`, `/sign-in?next=${key}`],
    ...[`/api/v1/reports/${encodeURIComponent(key)}`, `/lookup?q=${encodeURIComponent(key)}`],
  ])
  const headers = { authorization: `Bearer ${quote}`, cookie: `signalpost=${quote}` }
  for (const at of [...Object.values(shown.links), ...wrong]) {
    await (await visitor.send(at, { headers })).arrayBuffer()
    await (await visitor.get(at)).arrayBuffer()
    await (await visitor.post(at, { said: quote, password: quote, code: quote })).arrayBuffer()
  }
}

/** Starts all workers, with a mail server that refuses each mail with a reply that quotes it. */
async function startRefusedWork() {
  const sink = await closeAfterThisTest(startSmtpSink())
  sink.failAll('dot', { code: 451, text: `4.7.0 Refused: ${quote}` })
  const config = { ...app.config, smtpUrl: sink.url, dnsServers: 'none' as const }
  return { sink, work: await closeAfterThisTest(startWork({ ...app, config }, queueNames)) }
}

/** Queues a mail whose stored bytes cannot be read. */
async function queueUnreadable(): Promise<void> {
  const raw = inboundMailWithKeys(keys, texts)
  const about = { purpose: 'feedback-answer', mailFrom: 'abuse@desk.example' } as const
  const mail = await arrive(app, raw, about)
  await pool.query(
    `update inbound_mails set encoding = 'zstd', content = $2 || content where id = $1`,
    [mail.mailId, Buffer.from('no frame')],
  )
  await send(boss, handleInbound, [mail], pool)
}

test('requests log no key from the address, the query, the header or the body', async () => {
  await request()
  expect(sentences()).toContain('Answered a request.')
  searchLog()
})

test('jobs log no key when a mail server quotes the mail, or a mail cannot be read', async () => {
  const { sink } = await startRefusedWork()
  await site.report(shown.ann, messageWithKeys('refused', keys, texts))
  await queueUnreadable()
  await tryWebhook()
  await expect.poll(() => sentences()).toContain('A job failed.')
  await expect.poll(countTries).toBeGreaterThan(0)
  await expect.poll(async () => (await readReplies()).length).toBeGreaterThan(0)
  expect(sink.messages).toEqual([])
  searchLog()
  for (const reply of await readReplies()) expect(keysIn(Buffer.from(reply), needles)).toEqual([])
})

/** Queues a test delivery to a receiver whose address contains a key, and cannot be found. */
async function tryWebhook(): Promise<void> {
  const headers = { authorization: shown.ann.basic, 'content-type': 'application/json' }
  const url = `https://hooks.example.net/x?token=${keys['API token']}`
  const body = JSON.stringify({ url, events: ['report.told'] })
  const at = `${site.url}/api/v1/webhooks`
  const made = await fetch(at, { method: 'POST', headers, body })
  const { id } = (await made.json()) as { id: string }
  await (await fetch(`${at}/${id}/test`, { method: 'POST', headers })).arrayBuffer()
}

async function countTries(): Promise<number> {
  const { rows } = await pool.query<{ tries: number }>(
    `select max(tries) as tries from webhook_deliveries where event = 'webhook.test'`,
  )
  return rows[0]?.tries ?? 0
}

async function readReplies(): Promise<string[]> {
  const { rows } = await pool.query<{ reply: string }>(
    `select reply from mail_relay where reply is not null
     union all select reply from letters where reply like '%Refused%'`,
  )
  return rows.map(({ reply }) => reply)
}

/** Which statements the database refuses. */
const refusals = [
  { which: 'that write', isRefused: (text: string) => /^\s*(?:insert|update|delete)/i.test(text) },
  { which: 'of all kinds', isRefused: (text: string) => /^\s*\w/.test(text) },
]

test.for(refusals)(
  'no process logs a key that the database quotes when it refuses statements $which',
  async ({ isRefused }) => {
    await startRefusedWork()
    await queueUnreadable()
    const free = { ...app.config, receivePort: 0, receiveHost: '127.0.0.1', checkPort: 0 }
    const listener = await closeAfterThisTest(receive({ ...app, config: free }))
    const checks = await closeAfterThisTest(check({ ...app, config: free }))
    const admit = refuseStatements(isRefused, quote)
    try {
      await request()
      const body = messageWithKeys('checked', keys, texts)
      await (await fetch(`${checks.url}/checkv2`, { method: 'POST', body })).arrayBuffer()
      const talk = smtpTalk(listener.port)
      await talk.hear()
      await talk.say('EHLO relay.example')
      await talk.say('MAIL FROM:<x@relay.example>')
      const heard = await talk.say(`RCPT TO:<${keys['answer address of a letter']}>`)
      if (heard.startsWith('250') && (await talk.say('DATA')).startsWith('354'))
        await talk.mail(body)
      talk.end()
      await expect.poll(() => sentences()).toContain('A request failed.')
    } finally {
      admit()
    }
    searchLog()
  },
)
