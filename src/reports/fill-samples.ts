import { writeSampleActivity } from '../activity/sample-activity.ts'
import { createTally } from '../activity/tally.ts'
import type { WorkApp } from '../app.ts'
import { claimReportKeys } from '../db/idempotency-keys.ts'
import { ensureCounterPartitions, ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { listReportersAt } from '../db/reporters.ts'
import { insertRawMessages, insertReports } from '../db/reports.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { forwardAtOnce, type HandedOver } from '../feedback/forward-report.ts'
import { openForwarding } from '../feedback/select-sendable.ts'
import { readMessage } from '../mail/message.ts'
import type { JobOutcome } from '../queue/work.ts'
import { type Prepared, prepareReport } from './accept-report.ts'
import { runAnalyzeReport } from './analyze-report.ts'
import { SAMPLE_DOMAIN } from './queues.ts'
import { SAMPLE_DAYS } from './sample-actions.ts'
import { sampleActivity, type SampleBatch } from './sample-activity.ts'
import { type SampleCampaign, sampleCampaigns, sampleMessage } from './sample-mail.ts'

type Needs = Parameters<typeof runAnalyzeReport>[1] &
  Parameters<typeof forwardAtOnce>[1] &
  Pick<WorkApp, 'mailer'>

/** The hours of a day at which sample reports arrive. */
const hours = [7, 10, 12, 15, 17, 20]
const WEEKS = Math.ceil(SAMPLE_DAYS / 7) + 2
/** How sample reports arrive, in turn. */
const channels = ['form', 'mail', 'form', 'api', 'mail'] as const
/** Sample reports of an hour arrive in its first minutes, and are analyzed together later. */
const MINUTES = { arriving: 40, analyzed: 50 }

/**
 * Reports the sample messages for the sample accounts and analyzes them, each with the clock of its
 * own day. Feedback about them is composed and held. Then fills the graphs. A repeated run adds
 * what is missing.
 */
export async function runFillSamples(_: object, tools: Needs): Promise<JobOutcome> {
  const { pool, mailer } = tools
  const accounts = await listReportersAt(pool, SAMPLE_DOMAIN)
  const people = accounts.filter(({ state }) => state === 'active')
  const [first] = people
  // An instance that got a mail server meanwhile would send mail about invented messages.
  if (!first || mailer) return 'done'
  const start = first.createdAt.getTime() + DAY_MS
  await ensurePartitions(pool, new Date(start - DAY_MS), WEEKS)
  const end = start + SAMPLE_DAYS * DAY_MS
  const batches = await fillReports(people, end, tools)
  if (batches.some(({ isNew }) => isNew)) {
    const span = { from: new Date(start), to: new Date(end) }
    await writeSampleActivity(tools, sampleActivity(batches, span), tools.clock())
    // Loaded only for a trial.
    const { insertSampleDelistings } = await import('./sample-delistings.ts')
    await inTransaction(pool, (tx) => insertSampleDelistings(tx, tools.clock()))
  }
  return 'done'
}

type Person = Awaited<ReturnType<typeof listReportersAt>>[number]
type FilledBatch = SampleBatch & { isNew: boolean }

/** Stores and analyzes the reports that are missing, and returns what became of all. */
async function fillReports(
  people: readonly Person[],
  end: number,
  tools: Needs,
): Promise<FilledBatch[]> {
  const batches: FilledBatch[] = []
  let nth = 0
  for (let ago = SAMPLE_DAYS; ago >= 0; ago--) {
    await ensureCounterPartitions(tools.pool, new Date(end - ago * DAY_MS), 1)
    const day = Math.floor((end - ago * DAY_MS) / DAY_MS) * DAY_MS
    for (const [turn, hour] of hours.entries()) {
      const at = day + hour * HOUR_MS
      if (at + HOUR_MS > end) return batches
      const due = sampleCampaigns.flatMap((one) => timesOf(one, ago, turn))
      const given = due.flatMap((campaign, index) => {
        const person = people[(nth * 7 + index) % people.length]
        if (!person) return []
        const minute = (nth * 17 + index) % MINUTES.arriving
        const receivedAt = new Date(at + minute * MINUTE_MS)
        const sentAt = new Date(receivedAt.getTime() - HOUR_MS)
        const raw = sampleMessage(campaign, { nth: ++nth, to: person.email, at: sentAt })
        const channel = channels[nth % channels.length] ?? 'form'
        const rest = { channel, comment: null, receivedVia: [] }
        const report = { reporterId: person.id, kind: campaign.kind, message: readMessage(raw) }
        return [prepareReport({ ...rest, ...report }, receivedAt)]
      })
      const reports = await Promise.all(given)
      const ids = await insertNew(reports, tools)
      const now = new Date(at + MINUTES.analyzed * MINUTE_MS)
      const became = ids.length > 0 ? await analyze(ids, now, tools) : { counts: {}, desks: [] }
      const stated = reports.map(({ report: { kind, channel } }) => ({ kind, channel }))
      batches.push({ at: now, reports: stated, ...became, isNew: ids.length > 0 })
    }
  }
  return batches
}

/** A campaign as often as it is reported at a turn of a day: much at its start, less later. */
function timesOf(campaign: SampleCampaign, ago: number, turn: number): SampleCampaign[] {
  const { first, last } = campaign.days
  if (ago > first || ago < last) return []
  const share = 1.4 - (0.8 * (first - ago)) / (first - last)
  const expected = (campaign.perDay * share) / hours.length
  const step = (first - ago) * hours.length + turn
  const times = Math.floor(expected * (step + 1)) - Math.floor(expected * step)
  return Array.from({ length: times }, () => campaign)
}

/** Stores reports that are not stored yet, without jobs, and returns the ids of those. */
async function insertNew(reports: readonly Prepared[], { pool }: Needs): Promise<string[]> {
  if (reports.length === 0) return []
  return inTransaction(pool, async (tx) => {
    const keys = reports.map(({ contentHash, report: { id, reporterId } }) => {
      return { contentHash, reporterId, reportId: id }
    })
    const owners = await claimReportKeys(tx, keys)
    const fresh = reports.filter(({ report }, index) => owners[index] === report.id)
    if (fresh.length === 0) return []
    const ids = fresh.map(({ report }) => report.id)
    await insertReports(
      tx,
      fresh.map(({ report }) => report),
    )
    await insertRawMessages(
      tx,
      fresh.map(({ report, packed }) => ({ id: report.id, ...packed })),
    )
    return ids
  })
}

/**
 * Analyzes reports at an instant of the past, and holds the feedback about them. Returns what the
 * analysis counted, and the abuse desk of each feedback report.
 */
async function analyze(
  ids: readonly string[],
  now: Date,
  tools: Needs,
): Promise<Pick<SampleBatch, 'counts' | 'desks'>> {
  // Its own tallies: neither the reports nor their feedback happened now.
  const then = { ...tools, clock: () => now, mailer: undefined, tally: createTally() }
  const forwarding = openForwarding(then)
  const forwarded: Promise<void>[] = []
  const desks: string[] = []
  const payloads = ids.map((reportId) => ({ reportId }))
  const tally = createTally()
  await runAnalyzeReport(payloads, {
    ...{ ...then, tally },
    ...{ dns: undefined, exchangersOf: undefined, rdap: undefined },
    forwardAtOnce: {
      hasRoom: () => Promise.resolve(true),
      send: (created: readonly HandedOver[]) => {
        desks.push(...created.map(({ consumer }) => consumer.id))
        forwarded.push(forwardAtOnce(created, then, forwarding))
      },
    },
  })
  await Promise.all(forwarded)
  return { counts: tally.take().counts, desks }
}
