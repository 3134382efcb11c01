import { insertSearchNews } from '../../../../src/db/search.ts'
import { runIndexReports } from '../../../../src/search/index-reports.ts'
import { expect, test } from 'vitest'
import { countReporterDays } from '../../../../src/counting/campaign-counts.ts'
import { findAccount } from '../../../../src/db/reporters.ts'
import { findReport } from '../../../../src/db/reports.ts'
import { putShadowBan } from '../../../../src/db/shadow-bans.ts'
import { runEraseAccount } from '../../../../src/reports/erase-account.ts'
import { uuidv7 } from '../../../../src/world.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { tablesWith as tablesOfPool } from '../../../support/find-text.ts'
import { linkTo } from '../../../support/letters.ts'
import { Browser, signedInBrowser } from '../browser.ts'
import { keepAnalysis } from '../kept-analysis.ts'
import { sampleMessage, startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

const tablesWith = (text: string) => tablesOfPool(site.app.pool, text)

const erase = (browser: Browser, { password }: Person, how: string) =>
  browser.post('/account/erase', { how, now: password })

/** Runs the job until it is no longer postponed, a minute later each time. */
async function work(erasureId: string, runsMax = 20): Promise<number> {
  let at = Date.now() + 60_000
  for (let run = 1; run <= runsMax; run++) {
    const now = new Date(at)
    const outcome = await runEraseAccount({ erasureId }, { ...site.app, clock: () => now })
    if (outcome === 'done') return run
    at += 120_000
  }
  return -1
}

async function erasureOf({ id }: Person): Promise<string> {
  const { rows } = await site.app.pool.query<{ id: string }>(
    'select id from erasures where reporter_id = $1',
    [id],
  )
  return rows[0]?.id ?? ''
}

const messageTo = (email: string, mark: string) =>
  Buffer.from(
    sampleMessage(mark)
      .toString('latin1')
      .replaceAll('you@provider.example', email)
      .replace(`Subject: Cheap watches`, `Subject: ${email}, cheap watches`),
    'latin1',
  )

/** Creates a reporter with data in every table. */
async function busyPerson(email: string): Promise<{ person: Person; ids: string[] }> {
  const person = await site.addPerson(email)
  const { pool } = site.app
  const ids = [
    await site.report(person, messageTo(email, `one-${email}`)),
    await site.report(person, messageTo(email, `two-${email}`)),
  ]
  const browser = await signedInBrowser(site.url, person)
  await browser.post('/settings', { do: 'address' })
  await browser.post('/forgotten', { email })
  await browser.post('/sign-up', { email, agree: 'yes', language: 'en' })
  await browser.post('/account/address', { now: person.password, email: `new-${email}` })
  const at = new Date()
  await pool.query(
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, purpose, reporter_id, state,
       encoding, content) values ($1, $2, $3, 'in@x.example', 'mail-in', $4, 'handled',
       'identity', $5)`,
    [uuidv7(at), at, email, person.id, Buffer.from(`From: ${email}\r\n\r\nHi`)],
  )
  const { rows } = await pool.query<{ id: string }>(
    'select id from letters where reporter_id = $1 limit 1',
    [person.id],
  )
  await pool.query(
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, purpose, letter_id, state,
       encoding, content) values ($1, $2, '', 'bounce@x.example', 'letter-bounce', $3, 'handled',
       'identity', $4)`,
    [uuidv7(at), at, rows[0]?.id, Buffer.from(`To: ${email}\r\n\r\nFailed`)],
  )
  await pool.query(
    `insert into suppressions (address, reason, detail, since) values ($1, 'hard-bounce', '', $2)`,
    [email, at],
  )
  await pool.query(
    `insert into analyses (id, shard, analyzed_at, verdict_class, verdict_score,
       judgment, encoding, content, facts)
     values ($1, shard_of($1), $2, 'spam', 9, $3, 'identity', $4, '')`,
    [
      ids[0],
      at,
      { verdict: { class: 'spam', symbols: [] }, consequence: { action: 'keep', why: email } },
      Buffer.from(JSON.stringify({ headers: { to: `"Ann" <${email}>` }, hops: [{ for: email }] })),
    ],
  )
  await pool.query('insert into reporter_days (reporter_id, day, spam) values ($1, now(), 2)', [
    person.id,
  ])
  await pool.query(`update reports set state = 'kept', comment = $2 where id = any($1::uuid[])`, [
    ids,
    `it came to ${email}`,
  ])
  return { person, ids }
}

test('erasure without reports keeps them, and removes the address everywhere', async () => {
  const email = 'keeper.person@mailhouse.example'
  const { person, ids } = await busyPerson(email)
  expect((await tablesWith(email)).toSorted()).toEqual(
    expect.arrayContaining([
      ...['account_links', 'inbound_mails', 'letters', 'reporters', 'reports'],
      'suppressions',
    ]),
  )
  const browser = await signedInBrowser(site.url, person)
  const begun = await erase(browser, person, 'keep')
  const page = begun.headers.get('location') ?? ''
  expect(page).toMatch(/^\/account\/erased\//)
  expect((await browser.get('/settings')).status).toBe(303)
  expect(await (await browser.get(page)).text()).toContain('is being deleted')
  expect(await work(await erasureOf(person))).toBeGreaterThan(0)
  expect(await (await browser.get(page)).text()).toContain('Your account is deleted')
  expect(await findAccount(site.app.pool, person.id)).toBeUndefined()
  expect(await tablesWith(email)).toEqual([])
  expect(await tablesWith(person.id)).toEqual([])
  const kept = await findReport(site.app.pool, ids[0] ?? '')
  expect(kept).toMatchObject({ state: 'kept', comment: null, receivedVia: [] })
  expect(kept?.subject).toMatch(/^redacted-[a-z2-7]{16}, cheap watches/i)
  expect(kept?.reporterId).not.toBe(person.id)
  const other = await findReport(site.app.pool, ids[1] ?? '')
  expect(other?.reporterId).toBe(kept?.reporterId)
})

async function index(): Promise<void> {
  // Later than all runs of the job.
  await countReporterDays(site.app.pool, () => new Date(Date.now() + 86_400_000))
  await runIndexReports({ ...site.app, parser: { readText: () => Promise.resolve('') } })
}

async function foundBy(term: string): Promise<number> {
  const { rows } = await site.app.pool.query<{ n: number }>(
    'select count(*)::int as n from report_terms where terms @> array[hashtextextended($1, 0)]',
    [term],
  )
  return rows[0]?.n ?? 0
}

test.for(['keep', 'remove'] as const)(
  'after "%s", no report is found by the person',
  async (how) => {
    const { person, ids } = await busyPerson(`found-${how}.person@mailhouse.example`)
    await insertSearchNews(site.app.pool, ids, new Date())
    await index()
    const traces = [`reporter:${person.id}`, `subject:found`]
    for (const term of traces) expect(await foundBy(term)).toBeGreaterThan(0)
    await erase(await signedInBrowser(site.url, person), person, how)
    expect(await work(await erasureOf(person))).toBeGreaterThan(0)
    for (const term of traces) expect(await foundBy(term)).toBe(0)
    await index()
    for (const term of traces) expect(await foundBy(term)).toBe(0)
    expect(await foundBy('state:kept')).toBeGreaterThanOrEqual(how === 'keep' ? 1 : 0)
  },
)

test('erasure with reports removes all their data', async () => {
  const email = 'remover.person@mailhouse.example'
  const { person, ids } = await busyPerson(email)
  const browser = await signedInBrowser(site.url, person)
  await erase(browser, person, 'remove')
  expect(await work(await erasureOf(person))).toBeGreaterThan(0)
  expect(await tablesWith(email)).toEqual([])
  expect(await tablesWith(person.id)).toEqual([])
  for (const id of ids) {
    // Tables whose rows only refer to a report; these rows are deleted with it.
    const passing = (name: string) => name.startsWith('job') || name === 'report_news'
    expect((await tablesWith(id)).filter((name) => !passing(name))).toEqual([])
  }
})

test('nothing remains of held reports', async () => {
  const person = await site.addPerson('aside.person@mailhouse.example')
  const ban = { reason: 'a test', imposedAt: new Date(), imposedBy: null }
  await putShadowBan(site.app.pool, { reporterId: person.id, ...ban })
  const aside = await site.report(person, messageTo(person.email, 'aside'))
  await keepAnalysis(site.app.pool, aside, sampleMessage('aside'))
  expect(await tablesWith(aside)).toContain('analyses')
  const browser = await signedInBrowser(site.url, person)
  await erase(browser, person, 'remove')
  expect(await work(await erasureOf(person))).toBeGreaterThan(0)
  await index()
  const left = (await tablesWith(aside)).filter((name) => !name.startsWith('job'))
  expect(left).toEqual([])
})

test('other people’s reports, letters and accounts are unchanged', async () => {
  const other = await busyPerson('bystander@mailhouse.example')
  const before = await rowsOf(other.person, other.ids)
  const { person } = await busyPerson('leaver@mailhouse.example')
  await erase(await signedInBrowser(site.url, person), person, 'remove')
  await work(await erasureOf(person))
  expect(await rowsOf(other.person, other.ids)).toEqual(before)
  expect((await signedInBrowser(site.url, other.person)).cookies()).not.toBe('')
})

async function rowsOf({ id, email }: Person, ids: readonly string[]) {
  const { rows } = await site.app.pool.query(
    `select (select count(*) from reports where reporter_id = $1) as reports,
       (select count(*) from raw_messages where id = any($3::uuid[])) as messages,
       (select count(*) from letters where reporter_id = $1 or address = $2) as letters,
       (select count(*) from inbound_mails where reporter_id = $1) as mails,
       (select count(*) from tokens where reporter_id = $1) as tokens,
       (select count(*) from karmas where reporter_id = $1) as karmas`,
    [id, email, ids],
  )
  return rows[0] as unknown
}

test('a report whose message is still needed is waited for', async () => {
  const ann = await site.addPerson('waiting@mailhouse.example')
  const id = await site.report(ann, sampleMessage('waits'))
  const browser = await signedInBrowser(site.url, ann)
  const page = (await erase(browser, ann, 'keep')).headers.get('location') ?? ''
  const erasureId = await erasureOf(ann)
  expect(await work(erasureId, 2)).toBe(-1)
  expect(await (await browser.get(page)).text()).toContain('must first get a correction')
  expect((await findReport(site.app.pool, id))?.reporterId).toBe(ann.id)
  await site.app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  expect(await work(erasureId)).toBeGreaterThan(0)
  expect((await findReport(site.app.pool, id))?.reporterId).not.toBe(ann.id)
})

test('a retraction is processed before its report is erased, with a bounded wait', async () => {
  const bea = await site.addPerson('counted@mailhouse.example')
  const id = await site.report(bea, sampleMessage('counted'))
  await site.app.pool.query(
    `insert into counted_reports (id, shard, content) values ($1, shard_of($1), $2)`,
    [id, Buffer.alloc(0)],
  )
  await erase(await signedInBrowser(site.url, bea), bea, 'remove')
  const erasureId = await erasureOf(bea)
  expect(await work(erasureId, 3)).toBe(-1)
  expect((await findReport(site.app.pool, id))?.state).toBe('retracted')
  const { rows } = await site.app.pool.query(
    `select data from pgboss.job where name = 'redeem-report' and data ->> 'reportId' = $1`,
    [id],
  )
  expect(rows).toHaveLength(1)
  await site.app.pool.query('delete from counted_reports where id = $1', [id])
  expect(await work(erasureId)).toBeGreaterThan(0)
  expect(await findReport(site.app.pool, id)).toBeUndefined()
})

test('more reports than fit one step are all erased, though each run is killed', async () => {
  const cy = await site.addPerson('many@mailhouse.example')
  const at = new Date()
  for (let count = 0; count < 120; count++) {
    await site.app.pool.query(
      `insert into reports (id, shard, reporter_id, channel, kind, state, received_at,
         message_bytes, received_via)
       values ($1, shard_of($1), $2, 'api', 'spam', 'kept', $3, 1, '{}')`,
      [uuidv7(at), cy.id, at],
    )
  }
  await erase(await signedInBrowser(site.url, cy), cy, 'keep')
  const erasureId = await erasureOf(cy)
  const now = new Date(Date.now() + 60_000)
  let commits = 0
  const dying = new Proxy(site.app.pool, {
    get(target, key) {
      if (key === 'query') return target.query.bind(target)
      if (key !== 'connect') return Reflect.get(target, key) as unknown
      return () => {
        if (++commits > 2) throw new Error('killed')
        return target.connect()
      }
    },
  })
  const first = runEraseAccount({ erasureId }, { ...site.app, pool: dying, clock: () => now })
  await expect(first).rejects.toThrow('killed')
  expect(await work(erasureId)).toBeGreaterThan(0)
  const { rows } = await site.app.pool.query<{ done: number }>(
    'select done from erasures where id = $1',
    [erasureId],
  )
  expect(rows[0]?.done).toBe(120)
})

test('the audit log says that an account was erased, without naming it', async () => {
  const { rows } = await site.app.pool.query<{ detail: string; reporter_id: string | null }>(
    `select detail, reporter_id from audit_log where action = 'erase account' limit 1`,
  )
  expect(rows).toEqual([
    {
      detail: expect.stringMatching(/^Erasure of an account started; its reports/),
      reporter_id: null,
    },
  ])
})

test('an erased address can have an account again, with nothing of the old one', async () => {
  const eve = await site.addPerson('again@mailhouse.example')
  const raw = sampleMessage('again')
  const id = await site.report(eve, raw)
  await site.app.pool.query(`update reports set state = 'kept' where id = $1`, [id])
  await erase(await signedInBrowser(site.url, eve), eve, 'keep')
  await work(await erasureOf(eve))
  const browser = new Browser(site.url)
  await browser.post('/sign-up', { email: eve.email, agree: 'yes', language: 'en' })
  await browser.post(await linkTo(site.app.pool, eve.email), { password: 'green lamp over water' })
  expect(await (await browser.get(`/reports/${id}`)).text()).not.toContain('Cheap watches')
})

test('an erasure page with an unknown token does not exist', async () => {
  expect((await new Browser(site.url).get('/account/erased/guessed')).status).toBe(404)
})
