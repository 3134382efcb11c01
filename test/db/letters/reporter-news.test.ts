import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { updateReporterSettings } from '../../../src/db/reporters.ts'
import { suppress } from '../../../src/db/suppressions.ts'
import { runSendSummaries } from '../../../src/letters/monthly-summary.ts'
import { noteAnswer, runSendNews } from '../../../src/letters/reporter-news.ts'
import type { AnswerKind } from '../../../src/mail/verp.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { lettersTo } from '../../support/letters.ts'
import { relayedMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

// No origin reaches this confidence, so the reporter is asked about every report.
const app = await closeAfterTests(openTestApp({ ORIGIN_CONFIDENCE_MIN: '1' }))
const HOUR_MS = 3_600_000
const start = new Date()
let made = 0
let address = ''

beforeEach(async () => {
  for (const table of ['letters', 'reporter_news', 'suppressions']) {
    await app.pool.query(`delete from ${table}`)
  }
  await app.pool.query(`update reporters set wants_answers = true, wants_summary = false,
    state = 'active', summarized_month = null`)
  const { rows } = await app.pool.query<{ email: string }>(
    'select email from reporters where id = $1',
    [app.ann],
  )
  address = rows[0]?.email ?? ''
})

function hoursLater(hours: number) {
  return { ...app, clock: () => new Date(start.getTime() + hours * HOUR_MS) }
}

async function report(): Promise<string> {
  return (await app.report(spamMessage(`news-${++made}`))).id
}

function answer(reportIds: string[], answer: AnswerKind, desk: string, now = start) {
  const noted = { reportIds, address: `abuse@${desk}`, answer }
  return inTransaction(app.pool, (tx) => noteAnswer(tx, noted, now))
}

async function asking(): Promise<string> {
  const { id } = await app.report(relayedMessage(`news-${++made}`))
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  return id
}

async function letters() {
  return lettersTo(app.pool, address)
}

test('one letter contains all answers, and the next follows eight hours later', async () => {
  const ids = [await report(), await report()]
  await answer(ids, 'resolved', 'one.example')
  await answer(ids.slice(0, 1), 'wrong', 'two.example')
  await runSendNews(hoursLater(0))
  const [first] = await letters()
  expect(first).toMatchObject({ kind: 'news' })
  expect(first?.subject).toBe('Abuse teams answered your reports')
  expect(first?.text.match(/one\.example says that the problem is solved/g)).toHaveLength(4)
  expect(first?.text).toContain('two.example does not think')
  await answer(ids.slice(1), 'not-ours', 'three.example')
  await runSendNews(hoursLater(7))
  expect(await letters()).toHaveLength(1)
  await runSendNews(hoursLater(9))
  const [second] = await letters()
  expect(second?.text).toContain('three.example')
  expect(second?.text).not.toContain('one.example')
  await runSendNews(hoursLater(48))
  expect(await letters()).toHaveLength(2)
})

test('a hundred answers in a day bring at most three letters', async () => {
  const ids = [await report(), await report(), await report()]
  for (let hour = 0; hour < 24; hour += 0.5) {
    const at = hoursLater(hour)
    await answer(ids, 'resolved', `desk-${hour}.example`, at.clock())
    await runSendNews(at)
  }
  expect(await letters()).toHaveLength(3)
})

test('concurrent runs write one letter', async () => {
  await answer([await report()], 'resolved', 'one.example')
  await Promise.all([runSendNews(hoursLater(0)), runSendNews(hoursLater(0))])
  expect(await letters()).toHaveLength(1)
})

test('the letter is marked as automatic, and one click in it ends these letters', async () => {
  await answer([await report()], 'resolved', 'one.example')
  await runSendNews(hoursLater(0))
  const [letter] = await letters()
  expect(letter?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(letter?.raw).toMatch(/^List-Unsubscribe: <http\S+\/letters\/off\/\S+>\r$/m)
  expect(letter?.raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  expect(letter?.raw).toMatch(/^Content-Type: multipart\/alternative;\r$/m)
})

test.for<[string, () => Promise<unknown>]>([
  [
    'turned these letters off',
    () => updateReporterSettings(app.pool, app.ann, { wantsAnswers: false }),
  ],
  ['has a disabled account', () => app.pool.query(`update reporters set state = 'disabled'`)],
  [
    'has a suppressed address',
    () => {
      const kept = { reason: 'hard-bounce', status: '5.1.1', detail: 'Gone.' } as const
      return suppress(app.pool, { address, ...kept, since: start, until: null })
    },
  ],
])('a reporter who %s gets none', async ([, change]) => {
  const id = await report()
  await answer([id], 'resolved', 'one.example')
  await change()
  await answer([id], 'wrong', 'one.example')
  await runSendNews(hoursLater(0))
  expect(await letters()).toEqual([])
})

test('a retracted report is not mentioned', async () => {
  const id = await report()
  await answer([id], 'resolved', 'one.example')
  await app.pool.query(`update reports set state = 'retracted' where id = $1`, [id])
  await runSendNews(hoursLater(0))
  expect(await letters()).toEqual([])
})

test('a question is mailed once, if it is still open after an hour', async () => {
  const [open, closed] = [await asking(), await asking()]
  await runSendNews(hoursLater(0.5))
  expect(await letters()).toEqual([])
  const { rows } = await app.pool.query<{ state: string }>(
    `update reports set state = 'received' where id = $1 returning state`,
    [closed],
  )
  expect(rows).toHaveLength(1)
  await runSendNews(hoursLater(1.1))
  const [letter] = await letters()
  expect(letter?.subject).toBe('A question about your report')
  expect(letter?.text).toContain(`/reports/${open}`)
  expect(letter?.text).not.toContain(closed)
  await runSendNews(hoursLater(24))
  expect(await letters()).toHaveLength(1)
})

/** Returns an instant in a month relative to the present one. */
function inMonth(months: number, day: number): Date {
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, day))
}

test('the summary of a month names the desks that acted, once', async () => {
  await updateReporterSettings(app.pool, app.ann, { wantsSummary: true, wantsAnswers: false })
  const ids = [await report(), await report()]
  for (const desk of ['one.example', 'two.example', 'three.example']) {
    await answer(ids, 'resolved', desk, inMonth(-1, 15))
  }
  await answer(ids, 'wrong', 'four.example', inMonth(-1, 15))
  await answer(ids, 'resolved', 'five.example', inMonth(0, 1))
  const days = [inMonth(-1, 0), inMonth(-1, 1), inMonth(0, 0), inMonth(0, 1)]
  await app.pool.query(
    `insert into reporter_days (reporter_id, day, counted_at, spam, phishing, not_spam, told, kept,
       asked, retracted, mails, answered, networks, countries)
     select $1, day::date, now(), 5, 1, 0, 4, 1, 0, 0, 4, 3, '[]', '{}'
     from unnest($2::text[]) as day`,
    [app.ann, days.map((day) => day.toISOString().slice(0, 10))],
  )
  await runSendSummaries(app)
  await runSendSummaries(app)
  const [letter, ...others] = await letters()
  expect(others).toEqual([])
  const names = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  const month = inMonth(-1, 1).toLocaleDateString('en-GB', names)
  expect(letter).toMatchObject({ kind: 'summary', subject: `Your reports in ${month}` })
  const text = letter?.text.replaceAll(/\s+/g, ' ')
  expect(text).toContain('you reported 12 messages. We notified abuse teams about 8 of them.')
  const desks = 'one.example, three.example, two.example'
  expect(text).toContain(`3 abuse teams said they acted on your reports: ${desks}.`)
  expect(text).not.toMatch(/four|five/)
})

test('nobody gets a summary without asking for it, or about a month without reports', async () => {
  await app.pool.query('delete from reporter_days')
  await answer([await report()], 'resolved', 'one.example', inMonth(-1, 15))
  await runSendSummaries(app)
  await app.pool.query('delete from reporter_news')
  await updateReporterSettings(app.pool, app.ann, { wantsSummary: true })
  await runSendSummaries(app)
  expect(await letters()).toEqual([])
})
