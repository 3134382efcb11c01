import { beforeEach, expect, test } from 'vitest'
import { simpleParser } from 'mailparser'
import { findAnalysis } from '../../../src/db/analyses.ts'
import {
  endUnsubscribe,
  insertUnsubscribe,
  listContinuingMarketers,
} from '../../../src/db/advices.ts'
import { suppress } from '../../../src/db/suppressions.ts'
import { confirmReport, retractReport } from '../../../src/reports/change-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { exampleShop, type Newsletters, openNewsletters } from '../marketers/newsletters.ts'

const letters = await closeAfterTests(openNewsletters())

beforeEach(async () => {
  const { pool } = letters.app
  await pool.query('delete from advices')
  await pool.query('delete from suppressions')
  await pool.query('update reporters set wants_advice = true, language = null')
  await letters.keep(exampleShop)
})

async function parsed(id: string) {
  const raw = await letters.letterOf(id)
  if (raw === undefined) throw new Error('There is no letter.')
  const { subject, text, headers } = await simpleParser(raw)
  return { subject, text: text ?? '', headers }
}

test('reporting a known marketer brings advice, and no one is accused', async () => {
  const id = await letters.report({ mark: 'known' })
  const analysis = await findAnalysis(letters.app.pool, id)
  expect(analysis?.details).toMatchObject({
    marketer: { key: 'example-shop', by: 'signature', proof: 'example.org' },
    consequence: { action: 'advise' },
  })
  expect(await letters.jobsOf('advise-reporter', id)).toBe(1)
  expect(await letters.jobsOf('forward-report', id)).toBe(0)
  expect(await letters.advise(id)).toEqual(['done'])
  const { subject, text, headers } = await parsed(id)
  expect(subject).toBe('How to unsubscribe from The Example Shop')
  expect(text).toContain('“What is new in autumn known”')
  expect(text).toContain('Open your account and choose “No mail”.')
  expect(text).toContain('https://news.example.org/off?who=42')
  expect(text).toContain('off@example.org with the subject “off 42”')
  expect(text).toContain(`/reports/${id}`)
  expect(text).toContain('We have not complained')
  expect(headers.get('auto-submitted')).toBe('auto-generated')
  expect(headers.get('list')).toMatchObject({
    unsubscribe: { url: expect.stringContaining('/letters/off/') as string },
  })
  const events = await letters.app.rows(
    `select event from report_events where report_id = $1 order by id`,
    [id],
  )
  expect(events.map(({ event }) => event)).toContain('advised')
  expect(
    await letters.app.rows(`select name from pgboss.job where name = 'send-letter'`),
  ).toHaveLength(1)
})

test('a marketer that asked for complaints gets one, and keeps its own tokens', async () => {
  await letters.keep({ ...exampleShop, feedback: 'complaints@example.org' })
  const id = await letters.report({ mark: 'told' })
  expect(
    await letters.app.rows(`select address, state from feedback_reports where report_id = $1`, [
      id,
    ]),
  ).toEqual([{ address: 'complaints@example.org', state: 'queued' }])
  const forged = await letters.report({ mark: 'not-told', forged: true })
  const told = await letters.app.rows(`select address from feedback_reports where report_id = $1`, [
    forged,
  ])
  expect(told.map(({ address }) => address)).not.toContain('complaints@example.org')
})

test('for an unknown signer the advice is cautious', async () => {
  const id = await letters.report({ mark: 'unknown', domain: 'example.net' })
  await letters.advise(id)
  const { subject, text } = await parsed(id)
  expect(subject).toBe('About the mailing from example.net that you reported')
  expect(text).toContain('If you do not, do not click and do not answer')
})

test.for<[string, Parameters<Newsletters['report']>]>([
  ['whose signature is broken', [{ mark: 'forged', forged: true }]],
  ['that only says how to unsubscribe', [{ mark: 'bare', domain: 'example.com' }]],
  ['that was reported as phishing', [{ mark: 'phishing' }, { kind: 'phishing' }]],
  ['that is no spam', [{ mark: 'ham' }, { kind: 'not-spam' }]],
])('a message %s gets no letter', async ([, [options, more]]) => {
  const id = await letters.report(options, more)
  expect(await letters.jobsOf('advise-reporter', id)).toBe(0)
  expect(await letters.advise(id)).toEqual(['done'])
  expect(await letters.letterOf(id)).toBeUndefined()
})

test('phishing signed by a known marketer brings no letter', async () => {
  const id = await letters.report({ mark: 'turned' })
  await letters.app.pool.query(
    `update analyses set judgment = jsonb_set(judgment, '{verdict,class}', '"phishing"') where id = $1`,
    [id],
  )
  await letters.advise(id)
  expect(await letters.letterOf(id)).toBeUndefined()
})

test.for<[string, (id: string) => Promise<unknown>]>([
  ['that was taken back', (id) => retractReport(letters.app, id, { isReporter: true })],
  [
    'whose reporter wants no advice',
    () => letters.app.pool.query('update reporters set wants_advice = false'),
  ],
  [
    'whose reporter cannot be written to',
    () =>
      suppress(letters.app.pool, {
        address: 'ann@reporters.example',
        reason: 'hard-bounce',
        status: null,
        detail: 'It does not exist.',
        since: new Date(),
        until: null,
      }),
  ],
])('a report %s gets no letter', async ([why, change]) => {
  const id = await letters.report({ mark: `not-${why.replaceAll(' ', '-')}` })
  await change(id)
  expect(await letters.advise(id)).toEqual(['done'])
  expect(await letters.letterOf(id)).toBeUndefined()
})

test('a marketer suspended meanwhile counts as unknown', async () => {
  const id = await letters.report({ mark: 'suspended' })
  await letters.keep({ ...exampleShop, state: 'suspended' })
  await letters.advise(id)
  expect((await parsed(id)).subject).toMatch(/^About the mailing from example.org/)
})

test('twenty reports at once bring one letter, and the next week another', async () => {
  const marks = Array.from({ length: 20 }, (_, at) => `crowd-${at}`)
  const ids = await Promise.all(marks.map((mark) => letters.report({ mark })))
  await Promise.all(ids.map((id) => letters.advise(id, id)))
  const count = async () =>
    (await letters.app.rows(`select id from letters where report_id = any($1::uuid[])`, [ids]))
      .length
  expect(await count()).toBe(1)
  await letters.app.pool.query(`update advices set week = week - 7`)
  await Promise.all(ids.map((id) => letters.advise(id)))
  expect(await count()).toBe(2)
})

test('another reporter gets a letter in the same week', async () => {
  const first = await letters.report({ mark: 'ann-and-bob' })
  const second = await letters.report({ mark: 'bob' }, { reporterId: letters.app.bob })
  await letters.advise(first, second)
  expect(await letters.letterOf(first)).toContain('To: ann@reporters.example')
  expect(await letters.letterOf(second)).toContain('To: bob@reporters.example')
})

test.for([
  ['fr', 'Se désabonner des messages de The Example Shop', 'Ouvrez votre compte.'],
  ['ru', 'Как отписаться от рассылки «The Example Shop»', '(по-английски):'],
] as const)('the letter is in the reporter’s language: %s', async ([language, subject, said]) => {
  await letters.app.pool.query('update reporters set language = $1', [language])
  const id = await letters.report({ mark: `language-${language}` })
  await letters.advise(id)
  const letter = await parsed(id)
  expect(letter.subject).toBe(subject)
  expect(letter.text).toContain(said)
  expect(letter.headers.get('content-language')).toBe(language)
})

/** Reports a newsletter and advises its reporter, as if on an earlier day. */
async function advisedOn(day: string, domain: string, mark: string): Promise<string> {
  const id = await letters.report({ mark, domain })
  await letters.advise(id)
  await letters.app.pool.query(
    `update advices set advised_at = $1, week = week - 7 where report_id = $2`,
    [day, id],
  )
  return id
}

async function consequenceOf(id: string) {
  return (await findAnalysis(letters.app.pool, id))?.details.consequence
}

test('a sender that continues after advice is reported once the reporter confirms', async () => {
  await advisedOn('2026-11-01T10:00:00Z', 'example.net', 'first-advice')
  const id = await letters.report({ mark: 'goes-on', domain: 'example.net' })
  expect(await consequenceOf(id)).toEqual({
    action: 'confirm',
    why: [{ code: 'advised-before' }, { code: 'confirmation-asked' }],
  })
  expect(await confirmReport(letters.app, id)).toBe(true)
  await letters.analyze(id)
  expect(await consequenceOf(id)).toMatchObject({
    action: 'forward',
    why: [{ code: 'sender-continued' }, { code: 'network-has-contact' }],
  })
})

/** As `advisedOn`, and the sender accepted our request to unsubscribe the reporter on 1 November. */
async function unsubscribedFrom(domain: string, mark: string): Promise<void> {
  const reportId = await advisedOn('2026-10-20T10:00:00Z', domain, mark)
  const at = new Date('2026-11-01T10:00:00Z')
  const request = { reportId, reporterId: letters.app.ann, host: 'news.example.org', askedAt: at }
  await insertUnsubscribe(letters.app.pool, request)
  await endUnsubscribe(letters.app.pool, reportId, { state: 'done', at })
}

test('a sender that continues after unsubscribing the reporter is reported at once', async () => {
  await unsubscribedFrom('example.net', 'before-the-click')
  const id = await letters.report({ mark: 'after-the-click', domain: 'example.net' })
  expect(await consequenceOf(id)).toMatchObject({
    action: 'forward',
    why: [{ code: 'sender-continued' }, { code: 'network-has-contact' }],
  })
})

test('a marketer that continues after unsubscribing the reporter is reported too', async () => {
  await letters.keep({ ...exampleShop, feedback: 'complaints@example.org' })
  await unsubscribedFrom('example.org', 'marketer-before')
  const id = await letters.report({ mark: 'marketer-after' })
  expect(await consequenceOf(id)).toMatchObject({
    action: 'forward',
    why: [{ code: 'sender-continued' }, { code: 'network-has-contact' }],
  })
  const told = await letters.app.rows(`select address from feedback_reports where report_id = $1`, [
    id,
  ])
  expect(told).toContainEqual({ address: 'complaints@example.org' })
  expect(told).toHaveLength(2)
})

test.for([
  ['the reporter is asked about', 'example.net', 'confirm'],
  ['advice is given about a marketer’s', 'example.org', 'advise'],
] as const)('%s mail of another list than the one that was left', async ([, domain, action]) => {
  await unsubscribedFrom(domain, `left-${domain}`)
  const id = await letters.report({ mark: `other-list-${domain}`, domain, list: 'offers' })
  expect(await consequenceOf(id)).toMatchObject({ action })
})

test.for([
  ['another sender was meant', '2026-10-20T10:00:00Z', 'example.org'],
  ['the sender had less than 15 days', '2026-11-01T10:00:01Z', 'example.net'],
] as const)('there is advice only, if %s', async ([why, day, domain]) => {
  await advisedOn(day, domain, `only-${domain}`)
  const id = await letters.report({ mark: why.replaceAll(' ', '-'), domain: 'example.net' })
  expect(await consequenceOf(id)).toMatchObject({ action: 'advise' })
})

test('a confirmed marketer who goes on is shown to operators, not reported', async () => {
  await letters.app.pool.query('update reporters set wants_advice = false')
  await advisedOn('2026-10-20T10:00:00Z', 'example.org', 'of-a-marketer')
  const list = () => listContinuingMarketers(letters.app.pool, { days: 15, limit: 10 })
  expect(await list()).toEqual([])
  const id = await letters.report({ mark: 'again-of-a-marketer' })
  await letters.advise(id)
  expect(await consequenceOf(id)).toMatchObject({ action: 'advise' })
  expect(await list()).toEqual([{ key: 'example-shop', name: 'The Example Shop', reporters: 1 }])
})
