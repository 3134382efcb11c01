import type { WorkApp } from '../app.ts'
import { claimReportKeys } from '../db/idempotency-keys.ts'
import { ensureCounterPartitions, ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import { listReportersAt } from '../db/reporters.ts'
import { insertRawMessages, insertReports } from '../db/reports.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { forwardAtOnce, type HandedOver } from '../feedback/forward-report.ts'
import { openForwarding } from '../feedback/select-sendable.ts'
import { readMessage } from '../mail/message.ts'
import type { JobOutcome } from '../queue/work.ts'
import { type Prepared, prepareReport } from './accept-report.ts'
import { runAnalyzeReport } from './analyze-report.ts'
import { SAMPLE_DOMAIN } from './queues.ts'
import { SAMPLE_DAYS } from './sample-actions.ts'
import { type SampleCampaign, sampleCampaigns, sampleMessage } from './sample-mail.ts'

type Needs = Parameters<typeof runAnalyzeReport>[1] &
  Parameters<typeof forwardAtOnce>[1] &
  Pick<WorkApp, 'mailer'>

/** The hours of a day at which sample reports arrive. */
const hours = [8, 13, 20]
const WEEKS = Math.ceil(SAMPLE_DAYS / 7) + 2
/** The time in milliseconds between two reports of the same hour. */
const STEP_MS = 40_000

/**
 * Reports the sample messages for the sample accounts and analyzes them, each with the clock of its
 * own day. Feedback about them is composed and held. A repeated run adds what is missing.
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
  let nth = 0
  for (let ago = SAMPLE_DAYS; ago >= 0; ago--) {
    await ensureCounterPartitions(pool, new Date(start + (SAMPLE_DAYS - ago) * DAY_MS), 1)
    const day = Math.floor((start + (SAMPLE_DAYS - ago) * DAY_MS) / DAY_MS) * DAY_MS
    for (const [turn, hour] of hours.entries()) {
      const at = day + hour * HOUR_MS
      if (at > start + SAMPLE_DAYS * DAY_MS) return 'done'
      const due = sampleCampaigns.flatMap((one) => timesOf(one, ago, turn))
      const given = due.map((campaign, index) => {
        const person = people[(nth * 7 + index) % people.length] ?? first
        const receivedAt = new Date(at + index * STEP_MS)
        const sentAt = new Date(receivedAt.getTime() - HOUR_MS)
        const raw = sampleMessage(campaign, { nth: ++nth, to: person.email, at: sentAt })
        const rest = { channel: 'form', comment: null, receivedVia: [] } as const
        const report = { reporterId: person.id, kind: campaign.kind, message: readMessage(raw) }
        return prepareReport({ ...rest, ...report }, receivedAt)
      })
      const ids = await insertNew(await Promise.all(given), tools)
      if (ids.length > 0) await analyze(ids, new Date(at + (due.length + 1) * STEP_MS), tools)
    }
  }
  return 'done'
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

/** Analyzes reports at an instant of the past, and holds the feedback about them. */
async function analyze(ids: readonly string[], now: Date, tools: Needs): Promise<void> {
  const then = { ...tools, clock: () => now, mailer: undefined }
  const forwarding = openForwarding(then)
  const forwarded: Promise<void>[] = []
  const payloads = ids.map((reportId) => ({ reportId }))
  await runAnalyzeReport(payloads, {
    ...then,
    ...{ dns: undefined, exchangersOf: undefined, rdap: undefined },
    forwardAtOnce: {
      hasRoom: () => Promise.resolve(true),
      send: (created: readonly HandedOver[]) => {
        forwarded.push(forwardAtOnce(created, then, forwarding))
      },
    },
  })
  await Promise.all(forwarded)
}
