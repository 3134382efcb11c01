import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { ensureConsumers, markEnrolled } from '../../../src/db/consumers.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { type Packed, unpack } from '../../../src/db/rows.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { insertKarma } from '../../../src/db/reputations.ts'
import { decideOriginal, findShownRequest } from '../../../src/feedback/original-requests.ts'
import { readNotices } from '../../../src/feedback/show-notices.ts'
import { takeAnswer } from '../../../src/feedback/take-answer.ts'
import { type AnswerKind, parseOwnAddress } from '../../../src/mail/verp.ts'
import { runFindPages } from '../../../src/pages/find-pages.ts'
import { renewPage } from '../../../src/pages/renew-page.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { uuidv7 } from '../../../src/world.ts'
import { openNoticingApp, phishingMessage } from '../../support/noticed-pages.ts'
import type { SunkMail } from '../../support/smtp-sink.ts'

const at = await openNoticingApp()
const { app } = at

const reporterOf = async (reportId: string) => {
  const [row] = await app.rows(`select reporter_id as id from reports where id = $1`, [reportId])
  return String(row?.['id'])
}

const clear = (pageId: string) =>
  app.pool.query(
    `update pages set state = 'cleared', confirmed_by = null, cleared_at = now() where id = $1`,
    [pageId],
  )

const confirmAgain = async (pageId: string) => {
  await app.pool.query(
    `update pages set state = 'confirmed', confirmed_by = 'person', cleared_at = null
     where id = $1`,
    [pageId],
  )
  await at.notify(pageId)
}

let hosts = 0
/** A host that no other test has, of a domain under a public suffix. */
const newHost = () => `secure.page-${String.fromCharCode(97 + hosts++).repeat(3)}.com`

async function textOf(mail: SunkMail | undefined): Promise<string> {
  const { text = '' } = await simpleParser(mail?.raw ?? '')
  return text.replaceAll('[.]', '.').replace(/\s+/g, ' ')
}

const noticeOf = async (pageId: string, contact: string) => {
  const [row] = await app.rows(
    `select report_id as "reportId", number from page_notices
     where page_id = $1 and contact = $2`,
    [pageId, contact],
  )
  return row as { reportId: string; number: number }
}

const answer = async (pageId: string, contact: string, kind: AnswerKind) =>
  takeAnswer(at.tools, await noticeOf(pageId, contact), {
    ...{ answer: kind, how: 'link', said: undefined },
  })

test('35 reports of a page give one notice for each recipient, without a reporter', async () => {
  const host = newHost()
  const tokens = Array.from({ length: 35 }, (_, n) => `t${n}Zq9xK2vLw7RtB41nPs80`)
  const urls = tokens.map((token) => `https://${host}/login/${token}`)
  const { pageId } = await at.confirmed(urls, { key: `${host}/login/*` })
  expect(await at.notify(pageId, pageId)).toEqual(['done', 'done'])
  await at.notify(pageId)
  const mails = await at.send()
  await at.notify(pageId)
  expect(await at.send()).toEqual([])
  expect(mails.flatMap(({ to }) => to).toSorted()).toEqual([
    'abuse@host-net.example',
    'abuse@registrar.example',
  ])
  expect(await at.contacts(pageId)).toEqual([
    'host abuse@host-net.example sent',
    'host noc@host-net.example spare',
    'registrar abuse@registrar.example sent',
  ])
  for (const mail of mails) {
    const text = await textOf(mail)
    expect(text).toContain('35 email messages')
    expect(text).toContain(`hxxps://${host}/login/redacted-`)
    const whole = `${text} ${mail.raw.toString()}`
    expect(tokens.filter((token) => whole.includes(token))).toEqual([])
    expect(whole).not.toMatch(/person-m|reporters\.example|provider\.example/)
    const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
    expect(parseOwnAddress(mail.from, settings)).toMatchObject({ is: 'feedback-bounce' })
  }
  const ofHost = mails.find(({ to }) => to.includes('abuse@host-net.example'))
  expect(await textOf(ofHost)).toContain('Host address: 8.8.4.4')
  // Nobody who runs the name servers learns a token.
  expect(at.asked.filter((name) => tokens.some((token) => name.includes(token)))).toEqual([])
})

test('an address that independent reporters received is exact', async () => {
  const url = `https://${newHost()}/go/x7Zq9xK2vLw7RtB41nPs80`
  const { pageId } = await at.confirmed([url, url, url], { shared: true })
  await at.notify(pageId)
  const [mail] = await at.send()
  expect(await textOf(mail)).toContain(url.replace('https', 'hxxps'))
})

test('a page that is cleared before the notice leaves is not reported', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/a`])
  await at.notify(pageId)
  await clear(pageId)
  expect(await at.send()).toEqual([])
  expect(await at.contacts(pageId)).toEqual([
    'host abuse@host-net.example withdrawn',
    'host noc@host-net.example spare',
    'registrar abuse@registrar.example withdrawn',
  ])
  const other = await at.confirmed([`https://${newHost()}/b`])
  await clear(other.pageId)
  await at.notify(other.pageId)
  expect(await at.contacts(other.pageId)).toEqual([])
})

test('if a page is cleared later, those who were notified get one withdrawal', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/c`])
  await at.notify(pageId)
  await at.send()
  await clear(pageId)
  await at.notify(pageId)
  await at.notify(pageId)
  const mails = await at.send()
  expect(mails.flatMap(({ to }) => to).toSorted()).toEqual([
    'abuse@host-net.example',
    'abuse@registrar.example',
  ])
  expect(await textOf(mails[0])).toContain('We withdraw our notice about this page')
})

test('a decision of an operator about a page queues the job', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/m`])
  const jobs = () =>
    app.rows(`select 1 from pgboss.job where name = 'notify-page' and data ->> 'pageId' = $1`, [
      pageId,
    ])
  const decide = async (decision: string) => {
    await app.pool.query('update pages set decision = $2 where id = $1', [pageId, decision])
    await inTransaction(app.pool, (tx) => renewPage(tx, pageId, app))
  }
  await decide('phishing')
  expect(await jobs()).toHaveLength(0)
  await decide('cleared')
  expect(await jobs()).toHaveLength(1)
  await decide('malware')
  expect(await jobs()).toHaveLength(2)
})

test('who redirects to a page is notified, too', async () => {
  const through = ['tinyurl.com']
  const { pageId } = await at.confirmed([`https://${newHost()}/n`], { through })
  await at.notify(pageId)
  expect(await at.contacts(pageId)).toEqual([
    'redirector abuse@tinyurl.com queued',
    'host abuse@host-net.example queued',
    'host noc@host-net.example spare',
    'registrar abuse@registrar.example queued',
  ])
  const mail = (await at.send()).find(({ to }) => to.includes('abuse@tinyurl.com'))
  expect(await textOf(mail)).toContain('Please disable the links of your service')
})

test('"not ours" asks the next contact, and is remembered for the host', async () => {
  const host = newHost()
  const { pageId } = await at.confirmed([`https://${host}/d`])
  await at.notify(pageId)
  await at.send()
  expect(await answer(pageId, 'abuse@host-net.example', 'not-ours')).toBe('taken')
  expect(await answer(pageId, 'abuse@host-net.example', 'not-ours')).toBe('repeated')
  expect((await at.send()).flatMap(({ to }) => to)).toEqual(['noc@host-net.example'])
  const other = await at.confirmed([`https://${host}/other`])
  await at.notify(other.pageId)
  expect(await at.contacts(other.pageId)).toEqual([
    'host abuse@host-net.example barred',
    'host noc@host-net.example queued',
    'registrar abuse@registrar.example queued',
  ])
  await at.send()
})

test('whoever is not responsible is not asked again when a page is confirmed again', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/again`])
  await at.notify(pageId)
  await at.send()
  await answer(pageId, 'abuse@host-net.example', 'not-ours')
  const asked = ['abuse@registrar.example', 'noc@host-net.example']
  expect((await at.send()).flatMap(({ to }) => to)).toEqual(asked.slice(1))
  await clear(pageId)
  await at.notify(pageId)
  expect(await at.send()).toHaveLength(3)
  await confirmAgain(pageId)
  const again = await at.send()
  expect(again.flatMap(({ to }) => to).toSorted()).toEqual(asked)
  expect(await textOf(again[0])).toContain('What we ask you to do')
})

test('a page that is cleared and confirmed again and again floods nobody', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/flip`])
  await at.notify(pageId)
  let sent = (await at.send()).length
  for (let times = 0; times < 10; times++) {
    await clear(pageId)
    await at.notify(pageId)
    sent += (await at.send()).length
    await confirmAgain(pageId)
    sent += (await at.send()).length
  }
  expect(sent).toBeGreaterThan(8)
  expect(sent).toBeLessThan(24)
})

test('the recipient gets the exact address if the reporter agrees', async () => {
  const url = `https://${newHost()}/login/Zq9xK2vLw7RtB41nPs80`
  const { pageId } = await at.confirmed([url], { key: 'any/login/*' })
  await at.notify(pageId)
  await at.send()
  const contact = 'abuse@host-net.example'
  expect(await answer(pageId, contact, 'original')).toBe('taken')
  expect(await at.send()).toEqual([])
  const { reportId } = await noticeOf(pageId, contact)
  const report = { id: reportId, reporterId: await reporterOf(reportId) }
  expect(await findShownRequest(app.pool, report, app.clock())).toMatchObject({
    ...{ address: contact, url, isOpen: true },
  })
  expect(await decideOriginal(app, report, true)).toBe('granted')
  const [mail, ...others] = await at.send()
  expect(others).toEqual([])
  expect(mail?.to).toEqual([contact])
  const text = await textOf(mail)
  expect(text).toContain(`Page: ${url.replace('https', 'hxxps')}`)
  expect(text).toContain('who agreed to give it to you')
  expect(mail?.raw.toString()).not.toMatch(/person-m/)
})

test('a reporter is not asked about an address that others received, too', async () => {
  const url = `https://${newHost()}/go/x7Zq9xK2vLw7RtB41nPs80`
  const { pageId } = await at.confirmed([url, url, url], { shared: true })
  await at.notify(pageId)
  await at.send()
  expect(await answer(pageId, 'abuse@host-net.example', 'original')).toBe('unavailable')
})

test('"removed" is told to the reporters of the page', async () => {
  const { pageId, reportIds } = await at.confirmed(
    ['e', 'f'].map((one) => `https://secure.page-removed.com/${one}`),
  )
  await at.notify(pageId)
  await at.send()
  await answer(pageId, 'abuse@registrar.example', 'resolved')
  const told = await app.rows(
    `select report_id as id from report_events where event = 'desk-resolved'
       and report_id = any($1::uuid[])`,
    [reportIds],
  )
  expect(told.map(({ id }) => id).toSorted()).toEqual(reportIds.toSorted())
})

test('after a retraction, another report takes its place in the notice', async () => {
  const { pageId, reportIds } = await at.confirmed(
    ['g', 'h'].map((one) => `https://secure.page-retracted.com/${one}/Zq9xK2vLw7RtB41nPs80`),
  )
  await at.notify(pageId)
  const { reportId } = await noticeOf(pageId, 'abuse@registrar.example')
  await retractReport(app, reportId, { isReporter: true })
  expect(await at.send()).toEqual([])
  await app.pool.query(`delete from page_reports where report_id = $1`, [reportId])
  await at.notify(pageId)
  const mails = await at.send()
  expect(mails).toHaveLength(2)
  const [other] = reportIds.filter((id) => id !== reportId)
  expect((await noticeOf(pageId, 'abuse@registrar.example')).reportId).toBe(other)
})

test('after its notice was sent, a retraction of one report corrects nothing', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/i`])
  await at.notify(pageId)
  await at.send()
  const { reportId } = await noticeOf(pageId, 'abuse@registrar.example')
  await retractReport(app, reportId, { isReporter: true })
  const feedback = await listFeedback(app.pool, [reportId])
  const aboutPage = feedback.filter(({ recipientRole }) => recipientRole === 'page')
  expect(aboutPage.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
    'complaint sent',
    'complaint sent',
  ])
})

test.for([
  ['a brand', 'https://www.paypal.com/signin'],
  ['a platform as a whole', 'https://docs.google.com/'],
  ['a shortener as a whole', 'https://bit.ly/'],
  ['a popular site', 'https://www.wikipedia.org/wiki/Phishing'],
  ['our own site', 'https://bounces.test.example/a'],
])('nobody is notified about %s, even if it is stored as confirmed', async ([, url = '']) => {
  const { pageId } = await at.confirmed([url])
  await at.notify(pageId)
  expect(await at.contacts(pageId)).toEqual([])
})

test('a page on a platform is reported to the platform alone; a form is shown', async () => {
  const form = await at.confirmed(['https://bit.ly/3xYzAbC'])
  await at.notify(form.pageId)
  expect(await at.contacts(form.pageId)).toEqual([
    'platform https://bitly.is/reporting-abuse shown',
  ])
  const mailed = await at.confirmed(['https://tinyurl.com/3xYzAbC'])
  await at.notify(mailed.pageId)
  expect(await at.contacts(mailed.pageId)).toEqual(['platform abuse@tinyurl.com queued'])
  await at.send()
})

test('an address with a weak source gets mail only when an operator enrolls it', async () => {
  const shown = await at.confirmed(['https://cutt.ly/3xYzAbC'])
  await at.notify(shown.pageId)
  expect(await at.contacts(shown.pageId)).toEqual([
    'platform abuse@cutt.ly shown',
    'platform https://cutt.ly/report shown',
  ])
  const wanted = [{ address: 'abuse@cutt.ly', source: 'operator' as const }]
  const { id = '' } =
    (await ensureConsumers(app.pool, wanted, new Date())).get('abuse@cutt.ly') ?? {}
  await markEnrolled(app.pool, id, new Date())
  const mailed = await at.confirmed(['https://cutt.ly/9aBcDeF'])
  await at.notify(mailed.pageId)
  expect(await at.contacts(mailed.pageId)).toContain('platform abuse@cutt.ly queued')
  await at.send()
})

test('a stop ends the notices, and the network gets none through another address', async () => {
  const first = await at.confirmed([`https://${newHost()}/j`])
  await at.notify(first.pageId)
  await at.send()
  await answer(first.pageId, 'abuse@host-net.example', 'stop')
  const second = await at.confirmed([`https://${newHost()}/k`])
  await at.notify(second.pageId)
  expect(await at.contacts(second.pageId)).toEqual([
    'host abuse@host-net.example spare',
    'host noc@host-net.example spare',
    'registrar abuse@registrar.example queued',
  ])
})

test('operators see whom a notice went to, its state, and the answers', async () => {
  const { pageId } = await at.confirmed(['https://secure.page-shown.com/'])
  await at.notify(pageId)
  await at.send()
  await answer(pageId, 'abuse@registrar.example', 'resolved')
  expect(await readNotices(app.pool, pageId)).toMatchObject([
    { role: 'host', contact: 'abuse@host-net.example', state: 'spare', answers: [] },
    { role: 'host', contact: 'noc@host-net.example', state: 'spare' },
    {
      ...{ role: 'registrar', contact: 'abuse@registrar.example', name: 'Example Registrar' },
      ...{ state: 'sent', isForm: false, answers: [{ answer: 'resolved', said: null }] },
    },
  ])
})

test('a DNS server that fails is asked again, for an hour', async () => {
  const host = newHost()
  at.answers.set(host, { is: 'unknown', why: 'SERVFAIL' })
  const { pageId } = await at.confirmed([`https://${host}/l`])
  const [outcome] = await at.notify(pageId)
  expect(outcome).toMatchObject({ payload: { pageId } })
  expect(await at.contacts(pageId)).toEqual([])
})

test('the daily number of notices is limited; the others wait for the next day', async () => {
  const few = await openNoticingApp({ PAGE_NOTICES_DAILY_MAX: '2' })
  const [first, second] = [
    await few.confirmed(['https://secure.page-first.com/']),
    await few.confirmed(['https://secure.page-second.com/']),
  ]
  await few.notify(first.pageId)
  const [outcome] = await few.notify(second.pageId)
  expect(outcome).toMatchObject({ payload: { pageId: second.pageId } })
  expect(await few.contacts(second.pageId)).toEqual([])
})

test('35 reports confirm their page themselves, and each recipient gets one mail', async () => {
  const whole = await openNoticingApp()
  const { app: its, tools } = whole
  const jobsOf = (name: string, field: string) =>
    its.rows(`delete from pgboss.job where name = $1 returning data ->> $2 as id`, [name, field])
  const reported: { reportId: string }[] = []
  for (let n = 0; n < 35; n++) {
    const createdAt = new Date(Date.now() - (n + 1) * 86_400_000)
    const reporterId = uuidv7(createdAt)
    const account = { email: `p${n}@of-${n}.example`, passwordHash: null, role: null }
    await insertReporter(its.pool, { id: reporterId, ...account, createdAt })
    await insertKarma(its.pool, { reporterId, isVouched: false, now: createdAt })
    if (n % 5 === 0) {
      await its.pool.query('update karmas set agreed = 1000 where reporter_id = $1', [reporterId])
    }
    const url = `https://secure.victim-login.com/verify/t${n}Zq9xK2vLw7RtB41nPs80`
    const raw = phishingMessage(`whole${n}`, url)
    reported.push({ reportId: (await its.report(raw, { kind: 'phishing', reporterId })).id })
  }
  await runAnalyzeReport(reported, { ...tools, dns: undefined })
  const found = await jobsOf('find-pages', 'reportId')
  await runFindPages(
    found.map(({ id }) => ({ reportId: String(id) })),
    tools,
  )
  const jobs = await jobsOf('notify-page', 'pageId')
  expect(jobs.length).toBeGreaterThan(0)
  await whole.notify(...jobs.map(({ id }) => String(id)))
  const mails = await whole.send()
  expect(mails.flatMap(({ to }) => to).toSorted()).toEqual([
    'abuse@host-net.example',
    'abuse@registrar.example',
  ])
  const text = await textOf(mails[0])
  expect(text).toContain('35 email messages')
  expect(text).toContain('The sender pretends to be PayPal')
  expect(`${text}${mails.map(({ raw }) => raw.toString()).join('')}`).not.toMatch(
    /Zq9xK2vLw7RtB41nPs80|person-whole/,
  )
})

test('the stored copies of notices and withdrawals have no keys', async () => {
  const { pageId } = await at.confirmed([`https://${newHost()}/keys`])
  await at.notify(pageId)
  const mails = await at.send()
  await clear(pageId)
  await at.notify(pageId)
  mails.push(...(await at.send()))
  expect(mails.map(({ raw }) => raw.includes('Withdrawn'))).toEqual([false, true])
  const rows = await app.rows(
    `select encoding, content from feedback_messages join page_notices using (report_id)
     where page_id = $1`,
    [pageId],
  )
  const copies = await Promise.all(rows.map((row) => unpack(row as Packed)))
  for (const { raw } of mails) {
    const keys = raw.toString().match(/(?<=[a-z2-7]{28}-)[a-z2-7]{16}/g) ?? []
    expect(new Set(keys).size).toBeGreaterThan(1)
    expect(copies.some((copy) => keys.some((key) => copy.includes(key)))).toBe(false)
  }
})
