import { histogramOf } from '../activity/slots.ts'
import { SAMPLE_STEP_MS, type SampleSlot } from '../activity/sample-activity.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'

/** What became of the sample reports that were analyzed together. */
export type SampleBatch = {
  at: Date
  /** Counts of the analysis, by the names of the series: verdicts and networks. */
  counts: Readonly<Record<string, number>>
  reports: readonly { kind: string; channel: string }[]
  /** The abuse desk of each feedback report. */
  desks: readonly string[]
}

/**
 * The activity of the sample reports from `from` to `to`, with invented traffic beside it, so that
 * graphs show what they are for: checks of mail servers, accounts, queues and processes. All mail
 * of a trial is held, so nothing is sent, bounces or is answered. The same batches give the same
 * activity.
 */
export function sampleActivity(
  batches: readonly SampleBatch[],
  { from, to }: { from: Date; to: Date },
): SampleSlot[] {
  const bySlot = Map.groupBy(batches, ({ at }) => Math.floor(at.getTime() / SAMPLE_STEP_MS))
  const first = Math.floor(from.getTime() / SAMPLE_STEP_MS)
  const count = Math.ceil(to.getTime() / SAMPLE_STEP_MS) - first
  let reports = 0
  return Array.from({ length: count }, (_, nth) => {
    const own = bySlot.get(first + nth) ?? []
    reports += own.reduce((sum, batch) => sum + batch.reports.length, 0)
    return slotOf(own, { nth: first + nth, reports })
  })
}

/** A number from 0 to 1 that looks like chance and is always the same. */
function noise(nth: number, salt: number): number {
  const value = Math.sin(nth * 12.9898 + salt * 78.233) * 43_758.5453
  return value - Math.floor(value)
}

/** How busy a time of day is, 0 to 1. */
function busyness(atMs: number): number {
  const hour = (atMs % DAY_MS) / HOUR_MS
  return 0.15 + 0.85 * Math.max(0, Math.sin(((hour - 5) / 18) * Math.PI))
}

type Arrived = { reports: SampleBatch['reports']; desks: readonly string[] }

function slotOf(
  batches: readonly SampleBatch[],
  { nth, reports }: { nth: number; reports: number },
): SampleSlot {
  const at = new Date(nth * SAMPLE_STEP_MS)
  const arrived = {
    reports: batches.flatMap((batch) => batch.reports),
    desks: batches.flatMap((batch) => batch.desks),
  }
  const analyzed = batches.flatMap((batch) => Object.entries(batch.counts))
  const counts = [...analyzed, ...ofReports(arrived, nth), ...ofVisits(nth, busyness(at.getTime()))]
  const states = { ...ofQueues(arrived, nth), ...ofProcesses(nth, busyness(at.getTime())) }
  return {
    at,
    counts: sumsOf(counts),
    states: { ...states, 'system/database': 3e7 + 6e4 * reports },
    durations: durationsOf(nth),
  }
}

type Count = readonly [series: string, amount: number]

function isRare(nth: number, salt: number, share: number): number {
  return noise(nth, salt) < share ? 1 : 0
}

function ofReports({ reports, desks }: Arrived, nth: number): Count[] {
  const letters = Math.ceil(reports.length / 2)
  return [
    ...reports.flatMap(({ kind, channel }): Count[] => [
      [`reports/kind/${kind}`, 1],
      [`reports/channel/${channel}`, 1],
    ]),
    ...desks.map((desk): Count => [`desks/held/${desk}`, 1]),
    ['mail/feedback/held', desks.length],
    ['mail/letter/held', letters],
    ['queues/done/analyze-report', reports.length],
    ['queues/done/forward-report', desks.length],
    ['queues/done/send-letter', letters],
    ['queues/failed/forward-report', desks.length > 0 ? isRare(nth, 4, 0.08) : 0],
  ]
}

function ofVisits(nth: number, busy: number): Count[] {
  const near = (salt: number, value: number) =>
    Math.round(value * busy * (0.6 + 0.8 * noise(nth, salt)))
  return [
    ['checks/no action', near(5, 220)],
    ['checks/add header', near(6, 50)],
    ['checks/reject', near(7, 25)],
    ['people/sign-ups', isRare(nth, 8, 0.02)],
    ['people/limits/sign-in-here', isRare(nth, 9, 0.01) * 3],
    ['people/limits/report-minute', isRare(nth, 10, 0.01)],
  ]
}

function ofQueues({ reports, desks }: Arrived, nth: number): Record<string, number> {
  const [analyze, forward] = [reports.length, Math.ceil(desks.length / 2)]
  return {
    'queues/waiting/analyze-report': analyze,
    'queues/waiting/forward-report': forward,
    'queues/age/analyze-report': analyze * (0.2 + noise(nth, 11)),
    'queues/age/forward-report': forward * (1 + 4 * noise(nth, 12)),
    'mail/unsent/queued': forward,
    'mail/unsent/held': isRare(nth, 13, 0.05),
  }
}

function ofProcesses(nth: number, busy: number): Record<string, number> {
  return {
    'system/cpu/web': 0.01 + 0.05 * busy * noise(nth, 14),
    'system/cpu/work': 0.02 + 0.08 * busy * noise(nth, 15),
    'system/cpu/count': 0.01 + 0.02 * busy * noise(nth, 16),
    'system/memory/web': 1.4e8 + 2e7 * noise(nth, 17),
    'system/memory/work': 1.9e8 + 4e7 * noise(nth, 18),
    'system/memory/count': 1.1e8 + 1e7 * noise(nth, 19),
  }
}

/** In milliseconds: most are short, and a few are long. */
function durationsOf(nth: number): Record<string, number[]> {
  const checks = Array.from({ length: 20 }, (_, place) => 2 + 60 * noise(nth, place + 40) ** 4)
  return { 'checks/time': histogramOf(checks) }
}

function sumsOf(counts: readonly Count[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const [name, amount] of counts)
    if (amount > 0) sums.set(name, (sums.get(name) ?? 0) + amount)
  return Object.fromEntries(sums)
}
