import { expect, test } from 'vitest'
import { listMonths } from '../../../src/db/month-figures.ts'
import { type MonthFigures, runCountMonths } from '../../../src/reports/month-figures.ts'
import { uuidFloor, uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { addReports, newReport } from '../../support/rows.ts'

const app = await closeAfterTests(openTestApp())

const DAY_MS = 86_400_000
/** An instant of the month that is counted. */
const at = new Date()
const month = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))
const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
const people = Array.from({ length: 5 }, () => uuidv7(at))

type Kind = {
  asn?: number
  country?: string
  verdict?: string
  confidence?: number
  /** Seconds until the report was forwarded. */
  took?: number
  answer?: string
  reporters?: readonly string[]
  report?: Parameters<typeof newReport>[0]
  change?: string
}

/** Stores analyzed reports of one kind, which were forwarded if they have a duration. */
async function add(count: number, kind: Kind): Promise<void> {
  const { asn = 1, country = 'FR', verdict = 'spam', confidence = 0.9, took, answer } = kind
  const reporters = kind.reporters ?? people
  const reports = Array.from({ length: count }, (_, n) =>
    newReport({
      receivedAt: at,
      reporterId: reporters[n % reporters.length] ?? '',
      ...kind.report,
    }),
  )
  const ids = await addReports(app.pool, reports)
  await app.pool.query(
    `insert into analyses (id, shard, analyzed_at, origin_confidence, network_asn, network_name,
       network_country, verdict_class, verdict_score, judgment, facts, encoding, content)
     select id, shard_of(id), $2, $3, $4, 'Net ' || $4::bigint, $5, $6, 0, '{}', '', 'identity', ''
     from unnest($1::uuid[]) as id`,
    [ids, at, confidence, asn, country, verdict],
  )
  const state = took === undefined ? 'kept' : 'forwarded'
  await app.pool.query('update reports set state = $2 where id = any($1)', [ids, state])
  if (took !== undefined) {
    await app.pool.query(
      `insert into feedback_reports (report_id, shard, number, consumer_id, state, address,
         created_at, finished_at)
       select id, shard_of(id), 1, (select id from consumers limit 1), 'sent', 'a@desk.example',
         $2, $3 from unnest($1::uuid[]) as id`,
      [ids, at, new Date(at.getTime() + took * 1_000)],
    )
  }
  if (answer !== undefined) {
    await app.pool.query(
      `insert into report_events (report_id, shard, id, at, event, phrases)
       select id, shard_of(id), id, $2, $3, '[]' from unnest($1::uuid[]) as id`,
      [ids, at, `desk-${answer}`],
    )
  }
  if (kind.change !== undefined)
    await app.pool.query(`update reports set ${kind.change} where id = any($1)`, [ids])
}

const count = (now: Date) => runCountMonths({ ...app, clock: () => now })
const counted = async () => {
  const months = await listMonths<MonthFigures>(app.pool)
  return months.find((one) => one.month === month.toISOString().slice(0, 10))
}

/** The published shares of all reports. */
function shown(reports: Record<string, number>) {
  const shares = Object.entries(reports).map(([key, count]) => ({ key, reports: count }))
  return { shown: shares, rest: 0 }
}

test('a month is counted once, a week after its end, without small numbers', async () => {
  await app.pool.query(
    `insert into consumers (id, state, address, created_at)
     values ($1, 'found', 'a@desk.example', $2)`,
    [uuidv7(at), at],
  )
  await add(20, { asn: 1, took: 60 })
  await add(15, { asn: 2, took: 600, answer: 'resolved' })
  await add(4, { asn: 3 })
  await add(12, { asn: 4, country: 'DE', verdict: 'phishing', report: { kind: 'phishing' } })
  // Not published as an origin: uncertain, legitimate, disputed, or of a single person.
  await add(11, { asn: 5, confidence: 0.5 })
  await add(11, { asn: 6, verdict: 'legitimate' })
  await add(12, { asn: 7, took: 60, answer: 'wrong' })
  await add(30, { asn: 8, country: 'NL', reporters: people.slice(0, 1) })
  // Not counted at all.
  await add(50, { change: `state = 'retracted'` })
  await add(50, { change: `shadow = 'dropped'` })
  await add(50, { change: `channel = 'learn'` })

  await count(new Date(next.getTime() + 6 * DAY_MS))
  expect(await counted()).toBeUndefined()

  await count(new Date(next.getTime() + 7 * DAY_MS))
  const { figures } = (await counted()) ?? {}
  expect(figures).toEqual({
    reports: 115,
    kinds: shown({ spam: 103, phishing: 12 }),
    classes: shown({ spam: 92, phishing: 12, legitimate: 11 }),
    outcomes: shown({ kept: 68, unanswered: 20, resolved: 15, wrong: 12 }),
    // The 30 reports of one person are hidden, and the 12 from Germany with them.
    countries: { ...shown({ FR: 39, '': 34 }), rest: 42 },
    // The four reports of the third network would be the rest of France, so the second is hidden.
    networks: [{ asn: 1, name: 'Net 1', country: 'FR', reports: 20 }],
    medianSeconds: 60,
  })

  await app.pool.query('update reports set kind = $1', ['not-spam'])
  await count(new Date(next.getTime() + 8 * DAY_MS))
  expect((await counted())?.figures).toEqual(figures)
})

test('a month shows how long reports went on, for networks with enough addresses', async () => {
  await app.pool.query('truncate statistic_months')
  await app.pool.query(`update reports set kind = 'spam'`)
  await app.pool.query(`insert into reported_origins_progress values (true, $1)`, [uuidFloor(next)])
  /** Stores addresses of a network, last reported so many hours after the notice. */
  const endings = (asn: number, hours: readonly number[], { reporters = 3, days = 0 } = {}) => {
    const noticedAt = new Date(next.getTime() - (15 + days) * DAY_MS)
    const rows = hours.map((_, n) => `192.0.${asn + days}.${n}`)
    return app.pool.query(
      `insert into reported_origins (ip, network_asn, network_country, minutes, counts, people,
         last_at, noticed_at, report_id, consumer_id, before, after, silent_at, changed_at)
       select ip::inet, $1, 'FR', '{}', '{}', $3, $4::timestamptz + hours * interval '1 hour', $4,
         $5, $5, 0, 0, $6, $4 from unnest($2::text[], $7::float8[]) as given (ip, hours)`,
      [asn, rows, reporters, noticedAt, uuidv7(at), next, hours],
    )
  }
  await endings(1, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  // Of another month.
  await endings(1, [100, 100, 100], { days: 40 })
  await endings(2, [1, 2, 3, 4, 5, 6, 7, 8, 9])
  const networks = async () => {
    await app.pool.query('truncate statistic_months')
    await count(new Date(next.getTime() + 8 * DAY_MS))
    return (await counted())?.figures?.networks.map(({ asn, endedHours }) => [asn, endedHours])
  }
  expect(await networks()).toEqual([[1, 5]])

  await app.pool.query(`update reported_origins set people = 2`)
  expect(await networks()).toEqual([[1, undefined]])

  await app.pool.query(`update reported_origins set people = 3, silent_at = $1`, [
    new Date(next.getTime() + DAY_MS),
  ])
  expect(await networks()).toEqual([[1, null]])
})

test('a month is not counted if some of its reports were deleted already', async () => {
  await app.pool.query('truncate statistic_months')
  const short = { ...app, config: { ...app.config, retentionDays: 30 } }
  const now = new Date(next.getTime() + 7 * DAY_MS)
  await runCountMonths({ ...short, clock: () => now })
  expect(await listMonths(app.pool)).toEqual([])
})

test('a month with few reports has no figures', async () => {
  await app.pool.query('truncate statistic_months')
  await count(new Date(next.getTime() + 7 * DAY_MS))
  const earlier = (await listMonths(app.pool)).slice(0, -1)
  expect(earlier.length).toBeGreaterThan(10)
  expect(earlier.filter(({ figures }) => figures !== null)).toEqual([])
})
