import { expect, test } from 'vitest'
import { countReporterDays } from '../../../../src/counting/campaign-counts.ts'
import { inTransaction } from '../../../../src/db/pool.ts'
import {
  countReporterDay,
  listDaysOf,
  listReporterDays,
  type WholeDay,
} from '../../../../src/db/reporter-days.ts'
import { retractReport } from '../../../../src/reports/change-report.ts'
import { runAnalyzeReport } from '../../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { openTestApp } from '../../../support/app.ts'
import { parser } from '../../../support/parser.ts'

const today = () => new Date().toISOString().slice(0, 10)
/** Returns an instant at which any pause between two counts of a day is over. */
const later = () => new Date(Date.now() + 3_600_000)

const app = {
  ...(await closeAfterTests(openTestApp())),
  parser,
}

/** Returns the stored counts of today, and those of a full count. */
async function both() {
  const day = { reporterId: app.ann, day: today() }
  const [[kept], counted] = await Promise.all([
    listReporterDays(app.pool, app.ann, day.day),
    countReporterDay(app.pool, day),
  ])
  return { kept, counted: withoutPlaces(counted) }
}

function withoutPlaces({ networks, countries, ...counts }: WholeDay) {
  void [networks, countries]
  return { day: today(), ...counts }
}

test('a day is counted when its reports are analyzed, and equals the reports', async () => {
  const payloads = await app.reports('d1', 'd2', 'd3')
  await runAnalyzeReport(payloads, app)
  expect(await countReporterDays(app.pool, later)).toBe(1)
  const { kept, counted } = await both()
  expect(kept).toEqual(counted)
  expect(kept).toMatchObject({ spam: 3, retracted: 0 })
})

test('a retraction is subtracted from the day on which the report came', async () => {
  const [payload = { reportId: '' }] = await app.reports('r1')
  await runAnalyzeReport([payload], app)
  await retractReport(app, payload.reportId, { isReporter: true })
  await countReporterDays(app.pool, later)
  const { kept, counted } = await both()
  expect(kept).toEqual(counted)
  expect(kept).toMatchObject({ spam: 3, retracted: 1 })
})

test('changes of a failed transaction are not counted', async () => {
  const [payload = { reportId: '' }] = await app.reports('f1')
  await runAnalyzeReport([payload], app)
  await countReporterDays(app.pool, later)
  const before = await both()
  await inTransaction(app.pool, async (tx) => {
    await tx.query(`update reports set state = 'failed' where id = $1`, [payload.reportId])
    throw new Error('killed')
  }).catch(() => undefined)
  expect(await countReporterDays(app.pool, later)).toBe(0)
  expect(await both()).toEqual(before)
})

test('a crashed count leaves its day due, and another process counts it', async () => {
  const payloads = await app.reports('k1')
  await runAnalyzeReport(payloads, app)
  let isFirst = true
  const dying = {
    connect: async () => {
      const client = await app.pool.connect()
      const query = client.query.bind(client) as (statement: string | { text: string }) => unknown
      const dies = (statement: string | { text: string }) => {
        const text = typeof statement === 'string' ? statement : statement.text
        if (isFirst && text.trimStart().startsWith('update reporter_days')) {
          isFirst = false
          throw new Error('killed')
        }
        return query(statement)
      }
      return new Proxy(client, {
        get: (of, key) => (key === 'query' ? dies : Reflect.get(of, key)),
      })
    },
  } as unknown as typeof app.pool
  await expect(countReporterDays(dying, later)).rejects.toThrow('killed')
  expect(await countReporterDays(app.pool, later)).toBe(1)
  const { kept, counted } = await both()
  expect(kept).toEqual(counted)
})

test('concurrent processes count a day once, and a busy day waits for a pause', async () => {
  await runAnalyzeReport(await app.reports('m1', 'm2'), app)
  // After the pause since the last count, 5 ms for each report of the day.
  const now = new Date(later().getTime() + 60_000)
  const counts = await Promise.all([1, 2, 3].map(() => countReporterDays(app.pool, () => now)))
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(1)
  await app.pool.query('update reporter_days set spam = 100000')
  await runAnalyzeReport(await app.reports('m3'), app)
  expect(await countReporterDays(app.pool, () => now)).toBe(0)
  expect(await countReporterDays(app.pool, () => new Date(now.getTime() + 501_000))).toBe(1)
})

test('for its reporter a held report counts like any other', async () => {
  const [payload = { reportId: '' }] = await app.reports('s1')
  await runAnalyzeReport([payload], app)
  await countReporterDays(app.pool, () => new Date(Date.now() + 7_200_000))
  const before = await both()
  const id = '01a20000-0000-7000-8000-000000000001'
  const aside = payload.reportId.replace(/.{12}$/, '000000000001')
  const [received] = await app.rows('select received_at as at from reports where id = $1', [
    payload.reportId,
  ])
  await app.pool.query(
    `insert into reports (id, shard, reporter_id, channel, kind, state, received_at,
       message_bytes, received_via, shadow)
     values ($1, shard_of($1), $2, 'api', 'spam', 'kept', $3, 1, '{}', 'held')`,
    [aside, app.ann, received?.['at']],
  )
  expect(await listDaysOf(app.pool, [aside, id])).toEqual([{ reporterId: app.ann, day: today() }])
  const { counted } = await both()
  expect(counted.spam).toBe(before.counted.spam + 1)
  expect(counted.kept).toBe(before.counted.kept + 1)
})
