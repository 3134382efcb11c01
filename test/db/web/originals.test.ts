import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { removeMessages } from '../../../src/db/erasures.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { withoutOriginals } from '../../../src/db/feedback-waiting.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { consumerLink } from '../../../src/feedback/enroll.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { loadFeedback } from '../../../src/feedback/load-content.ts'
import { composeMailInAddress } from '../../../src/mail/verp.ts'
import { runSendNews } from '../../../src/letters/reporter-news.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { parser } from '../../support/parser.ts'
import { createSentFeedback, keepCopy, type SentFeedback } from '../../support/sent-feedback.ts'
import { spamMessage } from '../../support/messages.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startNotifyingSite } from './notifying-site.ts'

const { site, ann, told, linkOf, rows, eventsOf, forget } = await startNotifyingSite()
const { pool } = site.app
const desk = new Browser(site.url)
const reporter = await signedInBrowser(site.url, ann)

beforeEach(async () => {
  await forget()
  await pool.query('truncate original_requests, reporter_news')
})

const post = async (feedback: SentFeedback) =>
  (await desk.post(linkOf(feedback, 'original'), {})).text()
const pageOf = async (feedback: SentFeedback) =>
  (await desk.get(linkOf(feedback, 'original'))).text()
const decide = (feedback: SentFeedback, answer: 'yes' | 'no') =>
  reporter.post(`/reports/${feedback.reportId}/original`, { answer })
const mailsOf = async ({ reportId }: SentFeedback) =>
  (await listFeedback(pool, [reportId])).map(({ kind, state }) => `${kind} ${state}`)

/** Sends what is queued; returns the mails as text, with their recipients. */
async function send(key: SentFeedback) {
  const mails: { to: string; text: string }[] = []
  const mailer = {
    send: ({ raw, envelope }: { raw: Buffer; envelope: { to: string } }) => {
      mails.push({ to: envelope.to, text: raw.toString('latin1') })
      return Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' })
    },
    close: () => Promise.resolve(),
  }
  await runForwardReport([key], { ...site.app, parser, mailer })
  return mails
}

test('a desk asks, the reporter sees the message and agrees, and it is sent once', async () => {
  const feedback = await told()
  const { reportId } = feedback
  expect(await pageOf(feedback)).toContain('Ask for the original')
  expect(await post(feedback)).toContain('We have asked.')
  expect(await eventsOf(feedback)).toEqual(['desk-original'])
  await runSendNews(site.app)
  expect(await rows('select kind, address from letters', [])).toEqual([
    { kind: 'news', address: ann.email },
  ])
  expect(await (await reporter.get(`/reports/${reportId}`)).text()).toContain(
    `/reports/${reportId}/original`,
  )
  const page = await (await reporter.get(`/reports/${reportId}/original`)).text()
  expect(page).toContain('abuse@access-two.example')
  expect(page).toContain('for &lt;you@provider.example&gt;')
  await decide(feedback, 'yes')
  await decide(feedback, 'yes')
  expect(await mailsOf(feedback)).toEqual(['complaint sent', 'original queued'])
  const [mail, ...more] = await send({ reportId, number: 2 })
  expect([mail?.to, more]).toEqual(['abuse@access-two.example', []])
  expect(mail?.text).toContain('for <you@provider.example>; Mon, 16 Nov 2026')
  expect(mail?.text).toContain('Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit')
  expect(mail?.text).toContain('as it was received')
  expect(mail?.text).not.toContain('/original')
  expect(await post(feedback)).toContain('You gave this answer before.')
  expect(await pageOf(feedback)).toContain('The reporter agreed.')
  const [audit] = await rows(`select reporter_id, detail from audit_log where action = $1`, [
    'give original',
  ])
  expect(audit).toEqual({
    reporter_id: ann.id,
    detail: `${reportId}.1 to abuse@access-two.example`,
  })
})

test('the page of a report says that a desk has the data of its reporter', async () => {
  const feedback = await told()
  const page = async () => (await reporter.get(`/reports/${feedback.reportId}`)).text()
  await post(feedback)
  await decide(feedback, 'yes')
  const waiting = await page()
  expect(waiting).toContain('Your address was removed from our mail.')
  expect(waiting).toMatch(/Original to <span[^>]*>[^<]*<\/span>: is about to leave/)
  await send({ ...feedback, number: 2 })
  const sent = await page()
  expect(sent).not.toContain('Your address was removed from our mail.')
  expect(sent).toContain('with your data')
  expect(sent).toContain(`/reports/${feedback.reportId}/told/2`)
})

test('a refusal looks like silence until the request ends', async () => {
  const [refused, silent] = [await told(), await told()]
  for (const one of [refused, silent]) await post(one)
  await decide(refused, 'no')
  const strip = (page: string) => page.replace(/desk-\d+|[\da-f]{8}-[\da-f-]{27}|answer\/\S+/g, '')
  const times = /<time[^>]*>[^<]*<\/time>/g
  const [one = '', other = ''] = [await pageOf(refused), await pageOf(silent)]
  expect(strip(one).replace(times, '')).toBe(strip(other).replace(times, ''))
  expect(one).toContain('can agree until')
  await pool.query(`update original_requests set ends_at = now()`)
  for (const feedback of [refused, silent]) {
    expect(await pageOf(feedback)).toContain('is not available')
    await decide(feedback, 'yes')
    expect(await mailsOf(feedback)).toEqual(['complaint sent'])
  }
})

test('only the reporter can decide', async () => {
  const feedback = await told()
  await post(feedback)
  const bob = await signedInBrowser(site.url, await site.addPerson('bob@other.example'))
  const path = `/reports/${feedback.reportId}/original`
  expect((await bob.get(path)).status).toBe(404)
  expect((await bob.post(path, { answer: 'yes' })).status).toBe(404)
  expect((await desk.get(path)).status).not.toBe(200)
  expect(await mailsOf(feedback)).toEqual(['complaint sent'])
})

test.for<[string, string]>([
  [
    'phishing',
    `update analyses set judgment = jsonb_set(judgment, '{verdict,class}', '"phishing"')`,
  ],
  ['a recipient that the message names', `update feedback_reports set told_as = 'cfbl'`],
  ['a desk that has the original', `update feedback_reports set has_original = true`],
  ['a retracted report', `update reports set state = 'retracted'`],
  ['a spam trap', `update reports set channel = 'trap'`],
])('the reporter is not asked: %s', async ([, change]) => {
  const feedback = await told()
  const column = change.includes('feedback_reports') ? 'report_id' : 'id'
  await pool.query(`${change} where ${column} = $1`, [feedback.reportId])
  expect(await post(feedback)).toContain('is not available')
  expect(await eventsOf(feedback)).toEqual([])
  expect(await rows('select from original_requests', [])).toEqual([])
})

test('a desk and a reporter have limits', async () => {
  const many = async (count: number, column: string, from: SentFeedback) => {
    const [feedback] = await listFeedback(pool, [from.reportId])
    const all = (given: () => string | undefined) => Array.from({ length: count }, given)
    await pool.query(
      `insert into original_requests
         (report_id, number, consumer_id, reporter_id, asked_at, ends_at)
       select report_id, 1, consumer_id, reporter_id, now(), now()
       from unnest($1::uuid[], $2::uuid[], $3::uuid[])
         as given (report_id, consumer_id, reporter_id)`,
      [
        all(() => randomUUID()),
        all(() => (column === 'desk' ? feedback?.consumerId : randomUUID())),
        all(() => (column === 'desk' ? randomUUID() : ann.id)),
      ],
    )
  }
  for (const [column, most] of [
    ['desk', 20],
    ['reporter', 5],
  ] as const) {
    const feedback = await told()
    await many(most, column, feedback)
    expect(await post(feedback)).toContain('is not available')
    await pool.query('truncate original_requests')
    await many(most - 1, column, feedback)
    expect(await post(feedback)).toContain('We have asked.')
    await pool.query('truncate original_requests')
  }
})

test('the stored mail with an original is deleted with its message', async () => {
  const [one, other] = [await told(), await told()]
  for (const key of [one, other]) await keepCopy(site.app, parser, key)
  const ids = [one.reportId, other.reportId]
  await pool.query('update feedback_reports set has_original = true where report_id = $1', [ids[0]])
  await inTransaction(pool, (tx) => removeMessages(tx, ids))
  const text = 'select report_id as id from feedback_messages where report_id = any($1)'
  expect(await rows(text, [ids])).toEqual([{ id: other.reportId }])
})

test('the original of a report that is retracted meanwhile is not sent', async () => {
  const feedback = await told()
  await post(feedback)
  await decide(feedback, 'yes')
  await pool.query(`update reports set state = 'retracted' where id = $1`, [feedback.reportId])
  expect(await send({ ...feedback, number: 2 })).toEqual([])
  expect(await mailsOf(feedback)).toEqual(['complaint sent', 'original withdrawn'])
  await runRedeemReport([{ reportId: feedback.reportId }], site.app)
  expect(await mailsOf(feedback)).toContain('redeemed queued')
})

test('a desk reads that an original was sent when it was, not of a banned reporter', async () => {
  const [held, kept] = [await told(), await told()]
  for (const one of [held, kept]) await post(one)
  await pool.query(`update reports set shadow = 'held' where id = $1`, [held.reportId])
  for (const one of [held, kept]) await decide(one, 'yes')
  const raw = 'select state from feedback_reports where number = 2 and report_id = any($1)'
  const states = await rows(raw, [[held.reportId, kept.reportId]])
  expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['queued', 'shadowed']))
  for (const one of [held, kept]) expect(await pageOf(one)).toContain('can agree until')
  await send({ ...kept, number: 2 })
  expect(await pageOf(kept)).toContain('The reporter agreed.')
  await pool.query(
    `update feedback_reports set finished_at = now(), due_at = now() where state = 'shadowed'`,
  )
  expect(await pageOf(held)).toContain('can agree until')
  await pool.query(`update original_requests set ends_at = now()`)
  expect(await pageOf(held)).toContain('is not available')
})

test.for<[string, string]>([
  [
    'the complaint was taken back',
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, kind, state, address, created_at)
     select report_id, shard, 2, consumer_id, 'redeemed', 'queued', address, now()
     from feedback_reports where report_id = $1`,
  ],
  ['the report became one of phishing', `update reports set kind = 'phishing' where id = $1`],
  ['the reporter changed the mind', `update reports set kind = 'not-spam' where id = $1`],
])('no original is given after it was asked for: %s', async ([, change]) => {
  const [feedback, other] = [await told(), await told()]
  await post(feedback)
  for (const one of [feedback, other]) await pool.query(change, [one.reportId])
  expect(await post(other)).toContain('is not available')
  await decide(feedback, 'yes')
  expect((await mailsOf(feedback)).filter((mail) => mail.startsWith('original'))).toEqual([])
  expect(await pageOf(feedback)).toContain('can agree until')
})

test('the limits hold for requests at the same time', async () => {
  const feedback: SentFeedback[] = []
  while (feedback.length < 8) feedback.push(await told())
  await Promise.all(feedback.map(post))
  expect(await rows('select report_id from original_requests', [])).toHaveLength(5)
})

test.for<[string, string]>([
  ['ended at its time', `update consumers set originals_until = now() - interval '1 minute'`],
  [
    'ended while it was being queued',
    `update consumers set originals_since = null, originals_reason = null`,
  ],
])('no original leaves after the contract: %s', async ([, end]) => {
  const feedback = await told()
  const [{ consumerId } = { consumerId: '' }] = await listFeedback(pool, [feedback.reportId])
  await pool.query(
    `update consumers set originals_since = now(), originals_until = null, originals_reason = 'x'
     where id = $1`,
    [consumerId],
  )
  const report = await site.report(ann, spamMessage('late'))
  const second = await createSentFeedback(site.app, parser, report)
  await pool.query(
    `update feedback_reports set state = 'queued', message_id = null where report_id = $1`,
    [report],
  )
  await pool.query(end)
  const [mail] = await send(second)
  await pool.query(
    'update consumers set originals_since = null, originals_until = null, originals_reason = null',
  )
  expect(mail?.text).toBeDefined()
  expect(mail?.text).not.toContain('you@provider.example')
})

test('a digest that leaves after the contract has no original of its members', async () => {
  const [head, member] = [await told(), await told()]
  await pool.query('update feedback_reports set has_original = true where report_id = any($1)', [
    [head.reportId, member.reportId],
  ])
  await pool.query(
    `update feedback_reports set state = 'merged', merged_into = $2, merged_number = 1
     where report_id = $1`,
    [member.reportId, head.reportId],
  )
  for (const [state, expected] of [
    ['queued', false],
    ['sent', true],
  ] as const) {
    await pool.query(
      `update feedback_reports set state = $2, is_digest = true, incidents = 2
       where report_id = $1`,
      [head.reportId, state],
    )
    const wanted = await listFeedback(pool, [head.reportId])
    const loaded = await loadFeedback(pool, wanted, site.app.config, site.app.clock())
    const parts = [...loaded.values()].flatMap((one) => one.parts)
    expect(parts.map(({ content }) => content.hasOriginal)).toEqual([expected, expected])
  }
})

test('the end of a contract takes the original out of what may leave later', async () => {
  const states = ['waiting', 'queued', 'held', 'refused', 'shadowed', 'withdrawn', 'sent']
  const all: SentFeedback[] = []
  for (const state of states) {
    const feedback = await told()
    all.push(feedback)
    await pool.query(
      'update feedback_reports set state = $2, has_original = true where report_id = $1',
      [feedback.reportId, state],
    )
  }
  const ids = all.map(({ reportId }) => reportId)
  const [{ consumerId } = { consumerId: '' }] = await listFeedback(pool, ids)
  await withoutOriginals(pool, consumerId)
  const text = 'select state from feedback_reports where report_id = any($1) and has_original'
  expect(await rows(text, [ids])).toEqual([{ state: 'sent' }])
})

test('the page of a consumer with a contract shows it; new reports have the original', async () => {
  const key = `report-${'a'.repeat(26)}@bounces.test.example`
  expect(key).toBe(composeMailInAddress('a'.repeat(26), { domain: 'bounces.test.example' }))
  const raw = (mark: string) =>
    Buffer.from(String(spamMessage(mark)).replace('now.', `now, and answer to ${key}.`))
  const admin = await signedInBrowser(
    site.url,
    await site.addPerson('olga@desk.example', { role: 'operator' }),
  )
  const first = await told()
  const [{ consumerId } = { consumerId: '' }] = await listFeedback(pool, [first.reportId])
  const path = `/admin/consumers/${consumerId}`
  const none = await admin.post(path, { do: 'contract', reason: '', days: '' })
  expect(await none.text()).toContain('Please give a reason.')
  const wrong = await admin.post(path, { do: 'contract', reason: 'Contract 17', days: 'many' })
  const kept = await wrong.text()
  expect(kept.match(/ value="(?:Contract 17|many)"/g)).toHaveLength(2)
  const saved = await admin.post(path, { do: 'contract', reason: 'Contract 17', days: '30' })
  expect(saved.headers.get('location')).toContain('done=contract')
  expect(await (await admin.get(path)).text()).toContain('Contract 17')
  const report = await site.report(ann, raw('contract'))
  const second = await createSentFeedback(site.app, parser, report)
  await pool.query(`update feedback_reports set state = 'queued' where report_id = $1`, [report])
  const [mail] = await send(second)
  expect(mail?.text).toContain('for <you@provider.example>')
  expect(mail?.text).toContain('https://shop.example/contract now')
  expect(mail?.text).not.toContain(key)
  const { url: own } = consumerLink(consumerId, { ...site.app.config, publicUrl: '' })
  expect(await (await desk.get(own)).text()).toContain('The contract ends:')
  const ended = await admin.post(path, { do: 'end-contract' })
  expect(ended.headers.get('location')).toContain('done=ended')
  const third = await createSentFeedback(site.app, parser, await site.report(ann, raw('after')))
  await pool.query(`update feedback_reports set state = 'queued' where report_id = $1`, [
    third.reportId,
  ])
  expect((await send(third))[0]?.text).not.toContain('you@provider.example')
  const audit = await rows(`select action, detail from audit_log where action like '%contract'`, [])
  expect(audit).toMatchObject([{ action: 'set contract' }, { action: 'end contract' }])
})
