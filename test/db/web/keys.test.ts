import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { runOperation, type Operations } from '../../../src/cli/command.ts'
import { pack, type Packed, unpack } from '../../../src/db/rows.ts'
import { insertToken, scopes } from '../../../src/db/sessions.ts'
import { handleInboundMail } from '../../../src/feedback/handle-inbound.ts'
import { maskStoredMail } from '../../../src/feedback/mask-stored-mail.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { alarmWebhookKey } from '../../../src/health/channels.ts'
import { queueLetter, runSendLetter } from '../../../src/letters/send-letter.ts'
import {
  composeAnswerAddress,
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  composeReturnPath,
} from '../../../src/mail/verp.ts'
import { shownWebhookKey } from '../../../src/mail/webhook-message.ts'
import type { Mailer } from '../../../src/net/mailer.ts'
import { createToken } from '../../../src/people/credentials.ts'
import { makeMailInAddress } from '../../../src/reports/take-mailed.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runIndexReports } from '../../../src/search/index-reports.ts'
import { includesRole, type Role, roles } from '../../../src/roles.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { arrive } from '../../support/inbound-mail.ts'
import { testJudge } from '../../support/judge.ts'
import { linkTo } from '../../support/letters.ts'
import { spamMessage } from '../../support/messages.ts'
import { pages } from '../../support/pages/page-list.ts'
import { watchRoutes } from '../../support/pages/route-list.ts'
import { startShownSite } from '../../support/pages/shown-site.ts'
import { parser } from '../../support/parser.ts'
import { keysIn } from '../../support/seen-keys.ts'
import { Browser, signedInBrowser } from './browser.ts'

const listRoutes = watchRoutes()
const shown = await closeAfterTests(
  startShownSite({ FRONT_KEY: 'a-front-key-of-the-tests-which-is-long-enough' }),
)
const routes = listRoutes('get')
const { site, ann, admin, links } = shown
const { app } = site
const { pool, config } = app

/** The kinds of keys: whoever has one of them acts as its owner. */
type KeyKind =
  | 'reset link'
  | 'sign-up link'
  | 'link to a new address'
  | 'enrollment link'
  | 'page of a desk'
  | 'answer link'
  | 'answer address of a feedback report'
  | 'return path of a feedback report'
  | 'link that turns letters off'
  | 'answer address of a letter'
  | 'return path of a letter'
  | 'mail-in address'
  | 'page of a delisting request'
  | 'page of an erased account'
  | 'webhook secret'
  | 'alarm webhook key'
  | 'API token'
  | 'front key'
  | 'secret of the installation'

const webhook = await fetch(`${site.url}/api/v1/webhooks`, {
  method: 'POST',
  headers: { authorization: ann.basic, 'content-type': 'application/json' },
  body: JSON.stringify({ url: 'https://hooks.example.org/x', events: ['report.told'] }),
})
const made = await webhook.text()
if (webhook.status !== 201) throw new Error(made)
const { secret: webhookSecret } = JSON.parse(made) as { secret: string }
await new Browser(site.url).post('/forgotten', { email: admin.email })
const told = { reportId: shown.told, number: 1 }
const settings = { domain: config.returnPathDomain, secret: config.secret }
const at = (link: string) => `${config.publicUrl}${link}`

/** Each key as its owner has it. */
const keys: Record<KeyKind, string> = {
  'reset link': at(await linkTo(pool, admin.email)),
  'sign-up link': at(links.signUp),
  'link to a new address': at(links.move),
  'enrollment link': at(links.confirm),
  'page of a desk': at(links.desk),
  'answer link': at(links.answer.replace(/\/\w+$/, '')),
  'answer address of a feedback report': composeAnswerAddress(told, settings),
  'return path of a feedback report': composeReturnPath(told, settings),
  'link that turns letters off': at(links.lettersOff),
  'answer address of a letter': composeLetterAnswerAddress(shown.letter, settings),
  'return path of a letter': composeLetterReturnPath(shown.letter, settings),
  'mail-in address': await makeMailInAddress(app, ann.id),
  'page of a delisting request': at(links.delisting),
  'page of an erased account': at(links.erased),
  'webhook secret': webhookSecret,
  'alarm webhook key': shownWebhookKey(alarmWebhookKey(config)),
  'API token': ann.token,
  'front key': config.frontKey ?? '',
  'secret of the installation': config.secret,
}

/** The end of each key; without it the rest is useless. */
const needles = Object.fromEntries(
  Object.entries(keys).map(([kind, key]) => [kind, key.replace(/@.*/, '').slice(-16)]),
)
/** Keys that mail can contain: the others are not sent to anybody. */
const unsent: readonly KeyKind[] = ['front key', 'secret of the installation']
const mailed = Object.entries(keys).flatMap(([kind, key]) =>
  unsent.some((one) => one === kind) ? [] : [key],
)

/** A text with all keys, written as mail programs and gateways do. */
const lines = mailed.join('\r\n')
const base64 = (text: string, width: number) =>
  (
    Buffer.from(text)
      .toString('base64')
      .match(new RegExp(`.{1,${width}}`, 'g')) ?? []
  ).join('\r\n')
const quotedPrintable = lines.replaceAll(/.{50}/g, '$&=\r\n').replaceAll('@', '=40')
const quoted = lines.replaceAll(/^(?=.)/gm, '> ').replaceAll(/.{60}/g, '$&\r\n> ')
const safeLinks = mailed
  .map((key) => `<a href="https://safe.example/?url=${encodeURIComponent(key)}&amp;x=1">x</a>`)
  .join('\r\n')
const escaped = mailed.map((key) => key.replaceAll('/', '&#x2F;')).join('<br>\r\n')

const withKeys = [
  ...['Content-Type: multipart/mixed; boundary="b"', '', '--b'],
  ...['Content-Type: text/plain; charset=utf-8', '', lines, quoted, '', '--b'],
  ...['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable', ''],
  ...[quotedPrintable, '', '--b'],
  ...['Content-Type: text/html; charset=utf-8', '', safeLinks, escaped, '', '--b'],
  ...['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', ''],
  ...[base64(`Hello\r\n${lines}`, 60), '', '--b'],
  ...['Content-Type: text/plain; charset=utf-16le', 'Content-Transfer-Encoding: base64', ''],
  ...[base64(Buffer.from(lines, 'utf16le').toString('latin1'), 76), '', '--b'],
  ...['Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64', ''],
  ...[base64(`Subject: x\r\n\r\n${base64(lines, 76)}\r\n`, 76), '', '--b--', ''],
].join('\r\n')

/** A message of a spammer, or of somebody who forwards our own letters, with all keys. */
function messageWithKeys(mark: string): Buffer<ArrayBuffer> {
  const [head = ''] = spamMessage(mark).toString().split('MIME-Version')
  const to = `${keys['mail-in address']}, ${keys['answer address of a letter']}`
  const fields = head
    .replace(/^To: .*$/m, `To: ${to}`)
    .replace(/^Subject: .*$/m, `Subject: Fwd: ${keys['reset link']}`)
  return Buffer.from(`${fields}MIME-Version: 1.0\r\n${withKeys}`)
}

/** What a desk receives: it must not have the reporter's keys, but has its own. */
const sent: Buffer[] = []
const mailer: Mailer = {
  send(mail) {
    sent.push(mail.raw)
    return Promise.resolve({ outcome: 'accepted', reply: `250 taken ${lines}` })
  },
  close: () => Promise.resolve(),
}

/** Reports such a message, and brings its feedback report to a state. */
async function report(mark: string, isSent: boolean): Promise<string> {
  const reportId = await site.report(ann, messageWithKeys(mark))
  const judge = testJudge(pool, app.clock)
  await runAnalyzeReport([{ reportId }], { ...app, parser, judge, rdap: undefined })
  const payload = { reportId, number: 1 }
  await runForwardReport([payload], { ...app, parser, mailer: isSent ? mailer : undefined })
  return reportId
}

const reported = [await report('sent-keys', true), await report('held-keys', false)]

async function receive(purpose: 'feedback-answer' | 'letter-bounce' | 'other', about: object) {
  const from = 'abuse@desk.example'
  const head = `From: Abuse <${from}>\r\nTo: ${keys['answer address of a feedback report']}\r\n`
  const subject = `Subject: Re: ${keys['answer link']}\r\nMIME-Version: 1.0\r\n`
  const raw = Buffer.from(`${head}${subject}${withKeys}`)
  const mail = await arrive(app, raw, { purpose, mailFrom: from, ...about })
  await handleInboundMail(mail, { ...app, parser })
  return mail.mailId
}

const mails = [
  await receive('feedback-answer', told),
  await receive('letter-bounce', { letterId: shown.letter }),
]
await pool.query('update inbound_mails set rcpt_to = $2 where id = $1', [
  mails[0],
  keys['answer address of a feedback report'],
])

async function letter(state: 'sent' | 'held'): Promise<string> {
  const link = {
    url: keys['link that turns letters off'],
    key: needles['link that turns letters off'] ?? '',
  }
  const letterId = await queueLetter(
    pool,
    {
      ...{ kind: 'advice', to: ann.email, subject: 'Hello', text: `Off:\n${link.url}\n` },
      ...{ language: 'en', autoSubmitted: 'generated', isAnswerable: true },
      ...{ keys: [link.key], unsubscribe: link },
    },
    app,
    app.clock(),
  )
  await runSendLetter([{ letterId }], { ...app, mailer: state === 'sent' ? mailer : undefined })
  return letterId
}

const letters = [await letter('sent'), await letter('held')]
const { rows: resets } = await pool.query<{ id: string }>(
  `select id from letters where kind = 'account' and address = $1`,
  [admin.email],
)
const error = { message: `It failed: ${lines}` }
await app.boss.send('dead-letter', { source_name: 'send-letter', source_output: error })
await runIndexReports({ ...app, parser })

/** A person for each role, with a session and a token. */
async function hold(role: Role | null) {
  const person = await site.addPerson(
    `keys-${role ?? 'reporter'}@desk.example`,
    role ? { role } : {},
  )
  const { token, hash } = createToken()
  const made = { hash, reporterId: person.id, name: 'test', createdAt: new Date() }
  await insertToken(pool, { ...made, scopes, role })
  return { role: role ?? 'reporter', browser: await signedInBrowser(site.url, person), token }
}

const holders = await Promise.all([null, ...roles].map(hold))
const readers = [{ role: 'anonymous', browser: new Browser(site.url), token: '' }, ...holders]

/** Ids that a route may ask for. */
const ids = [
  ...[...reported, shown.told, ...mails, ...letters],
  ...resets.map(({ id }) => id),
  ...[shown.consumer, shown.campaign, shown.banned, ann.id],
].filter((id) => id !== '')
const isListed = new Map(pages.map((page) => [page.route, page]))

/** The addresses of a route for all content with keys, without those that only an owner knows. */
function addressesOf(route: string): string[] {
  const listed = isListed.get(route)?.at(shown) ?? []
  const open = route.replaceAll(/:number\b/g, '1').replaceAll(/:(?!id|reportId)\w+/g, 'none')
  const filled = /:\w+/.test(open) ? ids.map((id) => open.replaceAll(/:\w+/g, id)) : [open]
  return [...new Set([...listed, ...filled])].filter(
    (address) => keysIn(Buffer.from(address), needles).length === 0,
  )
}

/** Routes that do not end, or answer with large files of the program. */
const skipped = /^\/admin\/live$|^\/assets\/|^\/thunderbird\/|^\/outlook\/|^\/openapi/

test('every kind of key is placed, and is found where it is placed', () => {
  expect(Object.values(needles).filter((needle) => needle.length < 16)).toEqual([])
  const inMail = keysIn(Buffer.from(withKeys), needles).toSorted()
  expect(inMail).toEqual(
    Object.keys(keys)
      .filter((kind) => !unsent.some((one) => one === kind))
      .toSorted(),
  )
  for (const part of [quotedPrintable, quoted, safeLinks, escaped, base64(lines, 60)]) {
    expect(keysIn(Buffer.from(part), needles).toSorted()).toEqual(inMail)
  }
})

test.for(readers)('no page, download or answer of the API shows a key: $role', async (reader) => {
  const { browser, token } = reader
  const seen: string[] = []
  const look = async (address: string) => {
    const isApi = address.startsWith('/api') || address === '/metrics'
    const headers = isApi && token !== '' ? { authorization: `Bearer ${token}` } : undefined
    const answer = headers
      ? await fetch(`${site.url}${address}`, { headers, redirect: 'manual' })
      : await browser.get(address)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isOfOthers = /^\/(?:admin|api)/.test(address)
    if (answer.status !== 200) return
    if (isOfOthers && ids.some((id) => address.includes(id))) seen.push(address)
    expect([address, keysIn(bytes, needles)]).toEqual([address, []])
  }
  for (const route of routes.filter((one) => !skipped.test(one))) {
    const addresses = addressesOf(route)
    while (addresses.length > 0) await Promise.all(addresses.splice(0, 5).map(look))
  }
  const isStaff = roles.some((role) => role === reader.role)
  if (isStaff) expect(seen.length).toBeGreaterThan(10)
  else expect(seen).toEqual([])
})

/** Ann's own keys. */
const owned: readonly KeyKind[] = [
  ...(['link to a new address', 'link that turns letters off', 'mail-in address'] as const),
  ...(['answer address of a letter', 'return path of a letter'] as const),
  ...(['webhook secret', 'API token'] as const),
]

test('a reporter sees no key of others in the answer of a desk or in its mail', async () => {
  const said = `Done. ${lines}`
  const answered = await new Browser(site.url).post(links.answer, { said: said.slice(0, 1_900) })
  expect(answered.status).toBeLessThan(400)
  const own = await signedInBrowser(site.url, ann)
  const others = Object.fromEntries(
    Object.entries(needles).filter(([kind]) => !owned.some((one) => one === kind)),
  )
  const ofReport = routes.filter((one) => /^\/(?:api\/v1\/)?reports\/:id/.test(one))
  expect(ofReport.length).toBeGreaterThan(5)
  const headers = { authorization: `Bearer ${ann.token}` }
  for (const route of ofReport) {
    const address = route.replace(':id', shown.told).replace(':number', '1')
    const answer = address.startsWith('/api')
      ? await fetch(`${site.url}${address}`, { headers })
      : await own.get(address)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect([address, keysIn(bytes, others)]).toEqual([address, []])
  }
  expect(await (await own.get(`/reports/${shown.told}`)).text()).toContain('Done.')
})

test('an export of reports shows no key', async () => {
  const operator = holders.find(({ role }) => role === 'operator')
  for (const format of ['csv', 'jsonl', 'mbox']) {
    const answer = await operator?.browser.post('/admin/reports/export', { format, q: 'kind:spam' })
    const text = Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0))
    expect(text.includes(reported[0] ?? '-')).toBe(true)
    expect([format, keysIn(text, needles)]).toEqual([format, []])
  }
})

/** Arguments of the commands that need some. */
const argumentsOf: Record<string, readonly (readonly string[])[]> = {
  explain: [...reported, shown.told].flatMap((id) => [[id], [id, '--json']]),
  'networks show': [['198.51.100.23']],
  'queue jobs': [['dead-letter'], ['send-letter']],
  'reports search': [['kind:spam']],
  'lists show': [['192.0.2.7']],
  'senders show': [['ann']],
  'consumers show': [[shown.consumer]],
  'marketers show': [['sendgrid']],
  'models show': [['1']],
  // Writes a file with the model.
  'models export': [],
}

test('no command shows a key', async () => {
  const main = await readFile(path.resolve('src/main.ts'), 'utf8')
  const files = [...main.matchAll(/operatorCommand\(\(\) => import\('\.\/(.*?)'\)\)/g)]
  expect(files.length).toBeGreaterThan(10)
  let ran = 0
  for (const [, file = ''] of files) {
    const { operations } = (await import(path.resolve('src', file))) as { operations: Operations }
    for (const operation of operations.filter((one) => !('run' in one) && !one.showsKey)) {
      for (const given of argumentsOf[operation.name] ?? [[]]) {
        let text = ''
        const write = (piece: string) => (text += piece)
        const streams = { stdin: new PassThrough(), stdout: { write }, stderr: { write } }
        const words = operation.name.split(' ').slice(1)
        await runOperation(operations, [...words, ...given], (work) => work(app), streams)
        ran++
        expect([operation.name, keysIn(Buffer.from(text), needles)]).toEqual([operation.name, []])
      }
    }
  }
  expect(ran).toBeGreaterThan(30)
})

test('the desk gets its own keys, and none of the reporter', () => {
  const mail = sent.find((raw) => raw.includes('Feedback-Type: abuse'))
  expect(mail).toBeDefined()
  expect(keysIn(mail ?? Buffer.of(), needles)).toEqual([])
  expect(String(mail)).toMatch(/answer\/[a-z2-7]{28}-[a-z2-7]{10}/)
})

test('reading a letter needs the role of an analyst, and leaves an audit entry', async () => {
  const [id = ''] = letters
  for (const { role, browser } of holders) {
    const page = await browser.get(`/admin/outbox/letters/${id}`)
    const file = await browser.get(`/admin/outbox/letters/${id}/message.eml`)
    const isAllowed = roles.some((one) => one === role) && includesRole(role as Role, 'analyst')
    expect([role, page.status, file.status]).toEqual([
      role,
      ...(isAllowed ? [200, 200] : [403, 403]),
    ])
  }
  const { rows } = await pool.query(
    `select distinct reporter_id from audit_log where action = 'read letter' and detail like $1`,
    [`${id}%`],
  )
  expect(rows).toHaveLength(3)
})

test('a copy that was stored with its keys is masked when shown, and by housekeeping', async () => {
  const [reportId = ''] = reported
  const address = `/admin/outbox/${reportId}/1/message.eml`
  const viewer = holders.find(({ role }) => role === 'viewer')?.browser
  const read = async () =>
    Buffer.from((await (await viewer?.get(address))?.arrayBuffer()) ?? new ArrayBuffer(0))
  const copy = await read()
  const real = sent.find((raw) => raw.includes(`${reportId}.1@`)) ?? Buffer.of()
  expect(copy).toHaveLength(real.length)
  const { encoding, content } = await pack(real)
  await pool.query(
    `update feedback_messages set encoding = $2, content = $3, is_masked = false
     where report_id = $1`,
    [reportId, encoding, content],
  )
  expect((await read()).equals(copy)).toBe(true)
  await maskStoredMail(app)
  const { rows } = await pool.query<Packed & { is_masked: boolean }>(
    'select encoding, content, is_masked from feedback_messages where report_id = $1',
    [reportId],
  )
  expect(rows[0]?.is_masked).toBe(true)
  expect(rows[0] && (await unpack(rows[0])).equals(copy)).toBe(true)
})

test('an analyst who retracts the report of another person sees no key in the answer', async () => {
  const analyst = holders.find(({ role }) => role === 'analyst')
  const headers = { authorization: `Bearer ${analyst?.token}` }
  const url = `${site.url}/api/v1/reports/${await report('retracted-keys', false)}`
  const answer = await fetch(url, { method: 'DELETE', headers })
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.stringContaining('/account/reset/')])
  expect(keysIn(Buffer.from(text), needles)).toEqual([])
})

/** Tables of what the program writes itself. Mail that it received is stored as it arrived. */
const written = [
  ...['audit_log', 'letters', 'report_events', 'feedback_answers'],
  ...['webhook_deliveries', 'report_terms'],
]

test('no queue, and no table besides those of received mail, contains a key', async () => {
  for (const table of written) {
    const { rows } = await pool.query<{ text: string }>(
      `select to_jsonb(one)::text as text from ${table} as one`,
    )
    const text = rows.map((row) => row.text).join('\n')
    expect([table, keysIn(Buffer.from(text), needles)]).toEqual([table, []])
  }
  const { rows } = await pool.query<{ text: string }>(
    `select to_jsonb(job)::text as text from pgboss.job where name <> 'dead-letter'`,
  )
  const jobs = rows.map((row) => row.text).join('\n')
  expect(keysIn(Buffer.from(jobs), needles)).toEqual([])
})
