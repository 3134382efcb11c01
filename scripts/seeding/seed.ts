import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import type { StoredJudgment } from '../../src/db/analyses.ts'
import { setPublishesStatistics } from '../../src/db/month-figures.ts'
import { phrase } from '../../src/phrase.ts'
import { countReporterDays } from '../../src/counting/campaign-counts.ts'
import { ensurePartitions } from '../../src/db/partitions.ts'
import { inTransaction, type Pool } from '../../src/db/pool.ts'
import { markDaysDue, type ReporterDay } from '../../src/db/reporter-days.ts'
import { runCountMonths } from '../../src/reports/month-figures.ts'
import { seedActivity } from '../../test/support/activity.ts'
import { operations } from './operations.ts'
import { clearing, people, plan, preparation, tables } from './statements.ts'
import { makeTemplates } from './templates.ts'
import { seedTerms } from './terms.ts'
import { ringOf } from '../../test/support/key-ring.ts'

/** The size of the data: a tenth of all reports are by the busy reporter. */
export type SeedSize = { reports: number; busyReporterId: string; now: Date }

const DAYS = 360
const DAY_MS = 86_400_000
const WEEKS = 53

/**
 * Fills a newly migrated database with reports of a year, their analyses, events, feedback, answers
 * and campaigns. The server generates the rows from their numbers, so a million reports take
 * minutes. Several tables are filled in parallel, as far as connections allow.
 */
export async function seedReports(
  pool: Pool,
  { reports, busyReporterId, now }: SeedSize,
  say: (sentence: string) => void,
): Promise<void> {
  await ensurePartitions(pool, new Date(now.getTime() - (DAYS + 1) * DAY_MS), WEEKS)
  await pool.query(preparation)
  for (const [n, { raw, analysis, facts }] of (await makeTemplates()).entries()) {
    await pool.query(
      `insert into seed_templates (template, raw_encoding, raw, encoding, content, facts)
       values ($1, $2, $3, $4, $5, $6)`,
      [n, raw.encoding, raw.content, analysis.encoding, analysis.content, facts],
    )
  }
  await pool.query(plan, [now, busyReporterId, reports, DAYS])
  await pool.query('analyze seed_reports')
  for (const text of people) await pool.query(text)
  await Promise.all(
    tables.map(async (its) => {
      for (const text of its) await fill(pool, text, { busyReporterId, now }, say)
    }),
  )
  await pool.query(clearing)
  await pool.query('analyze')
  await seedTerms(pool, say)
  await seedOperations(pool, { busyReporterId, now }, say)
  await countBusyDays(pool, busyReporterId, now, say)
  await pool.query('vacuum (analyze)')
}

/** Fills what pages show besides reports. */
async function seedOperations(
  pool: Pool,
  size: Pick<SeedSize, 'busyReporterId' | 'now'>,
  say: (sentence: string) => void,
): Promise<void> {
  for (const text of operations) await fill(pool, text, size, say)
  const desks = await pool.query<{ id: string }>('select id from consumers order by id limit 20')
  await seedActivity(pool, { now: size.now, desks: desks.rows.map(({ id }) => id) })
  const config = readConfig({}, { cores: 2, cwd: '/nowhere' })
  const its = { ...config, databaseUrl: '', secret: ringOf('') }
  await runCountMonths({ pool, config: its, clock: () => size.now, log: pino({ level: 'silent' }) })
  await setPublishesStatistics(pool, true)
}

async function fill(
  pool: Pool,
  text: string,
  { busyReporterId, now }: Pick<SeedSize, 'busyReporterId' | 'now'>,
  say: (sentence: string) => void,
): Promise<void> {
  const [, table = ''] = /insert into (\w+)/.exec(text) ?? []
  const start = performance.now()
  await inTransaction(pool, async (tx) => {
    await tx.query('set local synchronous_commit = off')
    const params = table === 'analyses' ? judgments : [now, busyReporterId]
    const used = new Set(text.match(/\$\d/g)).size
    await tx.query(text, params.slice(0, used))
  })
  say(`${table}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
}

/** Counts the days of the busy reporter as the program does. */
async function countBusyDays(
  pool: Pool,
  reporterId: string,
  now: Date,
  say: (sentence: string) => void,
): Promise<void> {
  const days = Array.from({ length: DAYS + 1 }, (_, index): ReporterDay => {
    const day = new Date(now.getTime() - index * DAY_MS).toISOString().slice(0, 10)
    return { reporterId, day }
  })
  await inTransaction(pool, (tx) => markDaysDue(tx, days, now))
  const start = performance.now()
  let counted = 0
  for (let some = -1; some !== 0; counted += some) some = await countReporterDays(pool, () => now)
  const ms = (performance.now() - start) / (counted + 1)
  say(`days of the busy reporter: ${ms.toFixed(1)} ms each`)
}

const verdict: StoredJudgment['verdict'] = {
  class: 'spam',
  score: 6,
  symbols: [
    {
      name: 'SUBJECT_SHOUTS',
      weight: 0.5,
      basis: 'content',
    },
  ],
}
const complaint: StoredJudgment['complaint'] = {
  ...{ kind: 'spam', manner: 'plain', isRelayed: false, isConfirmed: false },
  ...{ score: 6, scoreMin: 1 },
}
const consequences: StoredJudgment['consequence'][] = [
  { action: 'ask', why: [phrase('origin-uncertain')], about: ['192.0.2.1'] },
  { action: 'keep', why: [phrase('network-without-contact')] },
  {
    action: 'forward',
    to: 'abuse@network-1.example',
    why: [phrase('network-has-contact', { network: 'network-1' })],
  },
]
const judgments = consequences.map((consequence) => {
  const judgment: StoredJudgment = { verdict, complaint, consequence }
  return JSON.stringify({ ...judgment, marketer: null })
})
