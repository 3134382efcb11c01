import { createHash } from 'node:crypto'
import { beforeAll, expect, test, vi } from 'vitest'
import { countReporterDays } from '../../../src/counting/campaign-counts.ts'
import { removeMessages, removeReports } from '../../../src/db/erasures.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { insertSearchNews, listSearchNews } from '../../../src/db/search.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { createShownTexts } from '../../../src/reports/read-messages.ts'
import { exportReports } from '../../../src/search/export-reports.ts'
import { countFound, listFound, openSearch } from '../../../src/search/find-reports.ts'
import { fieldNames } from '../../../src/search/fields.ts'
import { runIndexReports } from '../../../src/search/index-reports.ts'
import { parseSearch } from '../../../src/search/syntax.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { analyzeReports } from '../../support/judge.ts'
import { sampleNetworks, spamMessage } from '../../support/messages.ts'
import { startWebSite } from '../web/web-site.ts'
import { parser } from '../../support/parser.ts'

const site = await closeAfterTests(startWebSite())
await importNetworks(sampleNetworks, site.app)
const ann = await site.addPerson('ann@reporters.example')
const bob = await site.addPerson('bob@reporters.example')
const { pool } = site.app
/** Returns an instant at which all changes are visible, also in a distributed database. */
const inAMinute = () => new Date(Date.now() + 60_000)

const attached = Buffer.from('the content of the attachment')
const sha256 = createHash('sha256').update(attached).digest('hex')

/** A message with an attachment and a link, of another author than the plain one. */
const rich = Buffer.from(
  [
    ...['Received: from mail.bank.example (mail.bank.example [198.51.100.23])'],
    ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
    ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
    ...['From: "Martin, the Bank" <jane.doe@news.bank.example>'],
    ...['To: Zoe Doe <zoe@reporters.example>, undisclosed', 'Cc: Copy <carl@copies.example>'],
    ...['Subject: Vos économies, free money now'],
    ...['Message-ID: <rich@bank.example>', 'MIME-Version: 1.0'],
    ...['Content-Type: multipart/mixed; boundary=b', '', '--b'],
    ...['Content-Type: text/html; charset=utf-8', ''],
    '<p>Dear customer, ver\u200bify your <b>acc\u043eunt</b> at <a href="https://login.evil-site.example/x">',
    ...['our bank</a> today.</p>', '--b'],
    ...['Content-Type: application/pdf; name="Invoice 2026.pdf"'],
    ...['Content-Transfer-Encoding: base64', 'Content-Disposition: attachment', ''],
    ...[attached.toString('base64'), '--b--', ''],
  ].join('\r\n'),
)

let [found, other] = ['', '']

async function search(text: string): Promise<string[]> {
  const parsed = parseSearch(text)
  if ('problems' in parsed) throw new Error(parsed.problems.join(' '))
  const opened = await openSearch(pool, parsed.clauses)
  const ids = await listFound(pool, opened, { before: undefined, limit: 50 })
  expect(await countFound(pool, opened)).toBe(ids.length)
  return ids
}

/** Counts the days of changed reports, which notes them for the index, and writes the index. */
async function index(): Promise<void> {
  await countReporterDays(pool, inAMinute)
  await runIndexReports({ ...site.app, parser })
}

beforeAll(async () => {
  found = await site.report(ann, rich)
  other = await site.report(bob, spamMessage('plain', { ip: '203.0.113.77' }))
  await analyzeReports({ ...site.app, parser }, [found, other])
  await pool.query(`update reports set comment = 'I asked twice. P\u0430ypal!' where id = $1`, [
    found,
  ])
  await rollUpAll(pool, new Date())
})

async function values() {
  const { rows } = await pool.query<Record<string, string>>(
    `select origin_ip::text as origin, network_cidr::text as network, network_name as named,
       network_asn as asn, network_country as country, verdict_class as verdict, state, kind,
       judgment #>> '{verdict,symbols,0,name}' as symbol, campaign_id as campaign,
       (select address from feedback_reports where report_id = $1 limit 1) as desk
     from analyses join reports using (id, shard) join counted_reports using (id, shard)
     where id = $1`,
    [found],
  )
  return rows[0] ?? {}
}

async function cases(): Promise<readonly (readonly [string, boolean])[]> {
  const its = await values()
  const today = new Date().toISOString().slice(0, 10)
  const none = '019ab3de-0000-7000-8000-000000000000'
  return [
    ...([
      [`id:${found}`, true],
      [`id:${none}`, false],
    ] as const),
    ...([
      ['subject:economies', true],
      ['subject:"free money"', true],
    ] as const),
    ...([
      ['subject:"money free"', false],
      ['subject:watches', false],
    ] as const),
    ...([
      ['from:jane.doe@news.bank.example', true],
      ['from:bank.example', true],
    ] as const),
    ...([
      ['from:jane', true],
      ['from:@news.bank.example', true],
      ['from:shop', false],
    ] as const),
    ...([
      ['from:martin', true],
      ['from:"martin, the bank"', true],
      ['from:zoe', false],
    ] as const),
    ...([
      ['to:zoe@reporters.example', true],
      ['to:reporters.example', true],
      ['to:doe', true],
    ] as const),
    ...([
      ['to:copies.example', true],
      ['to:copy', true],
      ['to:jane', false],
    ] as const),
    ...([
      ['messageid:<rich@bank.example>', true],
      ['messageid:bank.example', true],
      ['messageid:plain', false],
    ] as const),
    ...([
      ['comment:"asked twice"', true],
      ['comment:paypal', true],
      ['comment:money', false],
    ] as const),
    ...([
      ['origin:198.51.100.23', true],
      ['origin:198.51.96.0/19', true],
    ] as const),
    ...([
      ['origin:0.0.0.0/1', false],
      ['origin:198.51.101.0/24', false],
    ] as const),
    ...([
      [`network:${its['network']}`, true],
      ['network:10.0.0.0/8', false],
    ] as const),
    ...([
      [`network:"${its['named']}"`, true],
      ['network:nobody', false],
    ] as const),
    ...([
      [`as:${its['asn']}`, true],
      ['as:4200000001', false],
    ] as const),
    ...([
      [`country:${its['country']}`, true],
      ['country:aq', false],
    ] as const),
    ...([
      ['link:login.evil-site.example', true],
      ['link:evil-site.example', true],
    ] as const),
    ...([
      ['link:evil', true],
      ['link:shop.example', false],
    ] as const),
    ...([
      ['file:"invoice 2026.pdf"', true],
      ['file:statement', false],
    ] as const),
    ...([
      [`file:${sha256}`, true],
      [`file:${'0'.repeat(64)}`, false],
    ] as const),
    ...([
      [`campaign:${its['campaign']}`, true],
      [`campaign:${none}`, false],
    ] as const),
    ...([
      ['reporter:ann@reporters.example', true],
      [`reporter:${ann.id}`, true],
    ] as const),
    ...([
      [`reporter:${bob.id}`, false],
      ['reporter:eve@reporters.example', false],
    ] as const),
    ...([
      [`desk:${its['desk']}`, true],
      ['desk:nobody@network.example', false],
    ] as const),
    ...([
      [`verdict:${its['verdict']}`, true],
      ['verdict:malware', false],
    ] as const),
    ...([
      [`symbol:${its['symbol']}`, true],
      ['symbol:NEVER_RAISED', false],
    ] as const),
    ...([
      [`state:${its['state']}`, true],
      ['state:failed', false],
    ] as const),
    ...([
      ['kind:spam', true],
      ['kind:phishing,not-spam', false],
    ] as const),
    ...([
      ['channel:api', true],
      ['channel:form', false],
    ] as const),
    ...([
      [`on:${today}`, true],
      ['on:2025-01-01', false],
    ] as const),
    ...([
      [`after:${today}`, true],
      ['after:2099-01-01', false],
    ] as const),
    ...([
      ['before:2099-01-01', true],
      [`before:${today}`, false],
    ] as const),
    ...([['from:bank.example -state:failed link:evil after:2025-01-01', true]] as const),
    ...([['from:bank.example,nobody.example kind:spam,phishing', true]] as const),
    ...([
      ['from:bank.example -kind:spam', false],
      ['-from:bank.example', false],
      ['-kind:PHISHING,not-spam', true],
      ['-kind:phishing,SPAM', false],
      ['-kind:spam,phishing,not-spam', false],
    ] as const),
  ]
}

test('each field finds a report that is not in the index yet, except by its text', async () => {
  const { rows } = await pool.query('select from report_terms')
  expect(rows).toEqual([])
  for (const [text, isFound] of await cases()) {
    expect([text, (await search(text)).includes(found)]).toEqual([text, isFound])
  }
  expect(await search('customer')).toEqual([])
})

test('each field finds a report in the index', async () => {
  await index()
  const { rows } = await pool.query('select from search_news')
  expect(rows).toEqual([])
  const all = await cases()
  for (const [text, isFound] of all) {
    expect([text, (await search(text)).includes(found)]).toEqual([text, isFound])
  }
  const used = all.flatMap(([text]) => [...text.matchAll(/([a-z]+):/g)].map(([, name]) => name))
  expect(fieldNames.filter((name) => name !== 'text' && !used.includes(name))).toEqual([])
})

test('words of the text and the subject are found once they are in the index', async () => {
  await index()
  expect(await search('customer account')).toEqual([found])
  expect(await search('verify acc\u043eunt')).toEqual([found])
  expect(await search('text:"customer verify",nothing')).toEqual([found])
  expect(await search('customer economies')).toEqual([found])
  expect(await search('customer watches')).toEqual([])
  expect(await search('café')).toEqual([other])
})

test('many reports are noted in small portions, all of which are dealt with', async () => {
  const ids = [found, other, ...Array.from({ length: 60 }, () => uuidv7(new Date()))]
  await insertSearchNews(pool, ids, new Date())
  const notes = await listSearchNews(pool, 100)
  expect(notes.flatMap(({ reportIds }) => reportIds).toSorted()).toEqual(ids.toSorted())
  expect(Math.max(...notes.map(({ reportIds }) => reportIds.length))).toBeLessThanOrEqual(50)
  await index()
  expect(await listSearchNews(pool, 100)).toEqual([])
})

test('the terms of a report that several notes name are written once, after the last', async () => {
  await index()
  const others = () => Array.from({ length: 49 }, () => uuidv7(new Date()))
  for (let note = 0; note < 3; note++) {
    await insertSearchNews(pool, [found, ...others()], new Date())
  }
  const get = vi.fn<(id: string) => undefined>()
  await runIndexReports({ ...site.app, parser, shownTexts: { get, set: () => undefined } })
  expect(get.mock.calls.filter(([id]) => id === found)).toHaveLength(1)
  expect(await listSearchNews(pool, 100)).toEqual([])
  expect(await search('customer account')).toEqual([found])
})

test('without conditions all reports are found, newest first, page by page', async () => {
  expect(await search('')).toEqual([other, found])
  const opened = await openSearch(pool, [])
  expect(await listFound(pool, opened, { before: other, limit: 1 })).toEqual([found])
})

test('a change is found at once, before it is in the index', async () => {
  await index()
  const id = await site.report(bob, spamMessage('changing'))
  await analyzeReports({ ...site.app, parser }, [id])
  await index()
  expect(await search('state:retracted')).toEqual([])
  await retractReport(site.app, id, { isReporter: true })
  expect(await search('state:retracted')).toEqual([id])
  await countReporterDays(pool, inAMinute)
  expect(await search('state:retracted subject:changing')).toEqual([id])
  await index()
  expect(await search('state:retracted')).toEqual([id])
  expect(await search('subject:changing -state:retracted')).toEqual([])
})

test('a text known from the analysis is indexed unless its message was deleted', async () => {
  await index()
  const shownTexts = createShownTexts()
  const kept = await site.report(bob, spamMessage('kept'))
  const removed = await site.report(bob, spamMessage('removed'))
  await analyzeReports({ ...site.app, parser, shownTexts }, [kept, removed])
  await inTransaction(pool, (tx) => removeMessages(tx, [removed]))
  await countReporterDays(pool, inAMinute)
  const readText = vi.fn<typeof parser.readText>()
  await runIndexReports({ ...site.app, parser: { readText }, shownTexts })
  expect(readText).not.toHaveBeenCalled()
  expect(await search('subject:kept,removed')).toEqual([removed, kept])
  expect(await search('text:café subject:kept,removed')).toEqual([kept])
  await inTransaction(pool, (tx) => removeReports(tx, [kept, removed]))
})

test('the terms of a deleted report are deleted, and a late note does not write them', async () => {
  const id = await site.report(bob, spamMessage('deleted'))
  await analyzeReports({ ...site.app, parser }, [id])
  await index()
  expect(await search('subject:deleted')).toEqual([id])
  await pool.query('insert into search_news values ($1, array[$1::uuid])', [id])
  await inTransaction(pool, (tx) => removeReports(tx, [id]))
  await index()
  const { rows } = await pool.query('select from report_terms where id = $1', [id])
  expect(rows).toEqual([])
})

async function exported(format: 'csv' | 'jsonl' | 'mbox'): Promise<string> {
  const parsed = parseSearch('from:bank.example,shop.example')
  if ('problems' in parsed) throw new Error('not parsed')
  const by = { at: new Date(), reporterId: ann.id }
  const pieces: Buffer[] = []
  for await (const piece of exportReports(pool, { ...parsed, format }, by)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('reports are exported as CSV, JSON lines and mbox, and each export is audited', async () => {
  const csv = (await exported('csv')).trim().split('\r\n')
  expect(csv[0]).toMatch(/^id,received_at,kind,/)
  expect(csv.at(-1)).toContain(`${found},`)
  expect(csv.at(-1)).toContain('"Vos économies, free money now"')
  const lines = (await exported('jsonl')).trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ id: found, reporter_id: ann.id })
  const mbox = await exported('mbox')
  expect(mbox.match(/^From [0-9a-f-]{36} \w{3} \w{3} \d\d [\d:]{8} \d{4}$/gm)).toHaveLength(
    lines.length,
  )
  expect(mbox).toContain('Subject: Vos')
  const { rows } = await pool.query<{ detail: string }>(
    `select detail from audit_log where action = 'export reports' order by id`,
  )
  expect(rows.map(({ detail }) => detail)).toEqual(
    ['csv', 'jsonl', 'mbox'].map((format) => `${format}: from:bank.example,shop.example`),
  )
})
