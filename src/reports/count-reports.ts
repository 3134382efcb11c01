import { floods } from '../activity/floods.ts'
import {
  type Amounts,
  type CountedMessage,
  countMessages,
  opposite,
  packCounted,
  readCounted,
  redemption,
} from '../counting/count-messages.ts'
import { slotOf } from '../counting/keys.ts'
import { addToCampaignDays, type CampaignDayChange } from '../db/campaigns.ts'
import {
  type CountedReport,
  insertReportsToCount,
  listCountedReports,
  replaceCountedReports,
  takeCountedReports,
  takeReportsToCount,
} from '../db/counter-rows.ts'
import { recordRedeemed } from '../db/mass-records.ts'
import type { Db } from '../db/pool.ts'
import type { Report } from '../db/reports.ts'
import type { PackedShingles } from '../pieces/shingles/packed-shingles.ts'
import { type ReportContext, withLaterShingles } from '../pieces/shingles/take-apart.ts'
import { isUnwanted, type Verdict } from '../verdict/verdict.ts'

/** A report whose analysis is stored, with everything that determines its shingles. */
export type ReportToCount = Omit<ReportContext, 'reporterId'> & {
  report: Report
  /** The reporter, or the provider of a mailbox user: reporters are counted by it. */
  sourceId: string
  verdict: Verdict
  shingles: PackedShingles
}

type Received = Pick<Report, 'id' | 'receivedAt'>

/** The ids of reports that were already counted, and of those that are no longer complaints. */
export type CountedBefore = { ids: string[]; complaintsTakenBack: string[] }

/**
 * Stores how reports count, in the transaction that stores their analyses. The next roll-up counts
 * each in the period in which it was received. Reverses the counts of an earlier analysis. A
 * complaint changed to "not spam" counts as redeemed.
 */
export async function countReports(
  tx: Db,
  reports: readonly ReportToCount[],
  now: Date,
): Promise<CountedBefore> {
  const counted = reports.map(({ report, verdict, shingles, sourceId, ...known }) => ({
    report,
    campaignId: known.campaignId ?? null,
    amounts: amountsOf(report, verdict),
    shingles: withLaterShingles(shingles, { ...known, reporterId: sourceId }),
  }))
  const rows = counted.map(({ report: { id }, campaignId, ...one }) => {
    return { id, campaignId, content: packCounted(one) }
  })
  const before = await replaceCountedReports(tx, rows)
  const rowBefore = new Map(before.map((row) => [row.id, row]))
  const waiting = await takeWaiting(tx, before)
  const complaintsTakenBack: string[] = []
  const messages = counted.flatMap(({ report, amounts }): CountedMessage[] => {
    const row = rowBefore.get(report.id)
    if (!row) return []
    const former = messageOf(report, readCounted(row.content))
    const isWaiting = waiting.has(report.id)
    if (!former.amounts.complaint || amounts.complaint) return isWaiting ? [] : [opposite(former)]
    complaintsTakenBack.push(report.id)
    return redemption(former, { isCounted: !isWaiting, now })
  })
  const days = counted.flatMap(({ report, campaignId }) => [
    ...campaignDay(report, rowBefore.get(report.id)?.campaignId, -1),
    ...campaignDay(report, campaignId, 1),
  ])
  for (const { report, campaignId } of counted) {
    if (campaignId !== null && !rowBefore.has(report.id)) floods.note('campaign', campaignId)
  }
  const toCount = counted.map(({ report: { id, receivedAt } }) => ({
    id,
    slot: slotOf(receivedAt),
  }))
  await Promise.all([
    insertReportsToCount(tx, toCount, now),
    countMessages(tx, messages, now),
    addToCampaignDays(tx, days),
  ])
  return { ids: [...rowBefore.keys()], complaintsTakenBack }
}

/** Removes the reports that still wait for their roll-up from its queue, and returns their ids. */
async function takeWaiting(tx: Db, reports: readonly { id: string }[]): Promise<Set<string>> {
  if (reports.length === 0) return new Set()
  const waiting = await takeReportsToCount(
    tx,
    reports.map(({ id }) => id),
  )
  return new Set(waiting.map(({ id }) => id))
}

/**
 * Reverses the counts of retracted reports, each once, and counts the reports as redeemed at `now`.
 */
export async function redeemCounted(
  tx: Db,
  reports: readonly Received[],
  now: Date,
): Promise<void> {
  const reportOf = new Map(reports.map((report) => [report.id, report]))
  const taken = await takeCountedReports(tx, [...reportOf.keys()])
  const redeemed = taken.flatMap((row) => {
    const report = reportOf.get(row.id)
    return report ? [{ report, ...row }] : []
  })
  await recordRedeemed(tx, taken, now)
  const waiting = await takeWaiting(tx, taken)
  const messages = redeemed.flatMap(({ report, content }) =>
    redemption(messageOf(report, readCounted(content)), {
      isCounted: !waiting.has(report.id),
      now,
    }),
  )
  await countMessages(tx, messages, now)
  await addToCampaignDays(
    tx,
    redeemed.flatMap(({ report, campaignId }) => campaignDay(report, campaignId, -1)),
  )
}

/** How a report was counted before an action, and the counts that were redeemed since then. */
export type FormerCount = {
  counted: Omit<CountedReport, 'id'> | undefined
  redeemed: { content: Buffer; at: Date } | undefined
}

/** Whether a report counted as a complaint that its reporter has taken back since then. */
export async function isNoLongerComplaint(
  tx: Db,
  id: string,
  { counted }: FormerCount,
): Promise<boolean> {
  const [present] = await listCountedReports(tx, [id])
  const isComplaint = ({ content }: { content: Buffer }) =>
    readCounted(content).amounts.complaint === 1
  return counted !== undefined && isComplaint(counted) && !!present && !isComplaint(present)
}

/** Replaces the current counts of a report by those before an action. */
export async function putBackCounts(
  tx: Db,
  report: Received,
  { counted, redeemed }: FormerCount,
  now: Date,
): Promise<void> {
  const { id } = report
  const [present] = await listCountedReports(tx, [id])
  const messages: CountedMessage[] = []
  if (redeemed) {
    const { shingles } = readCounted(redeemed.content)
    messages.push({ prefix: 'reports', at: redeemed.at, shingles, amounts: { redeemed: -1 } })
  }
  const isSame =
    present?.campaignId === counted?.campaignId &&
    (present && counted ? present.content.equals(counted.content) : present === counted)
  if (!isSame) {
    const isWaiting = (await takeWaiting(tx, [report])).has(id)
    await takeCountedReports(tx, [id])
    if (present && !isWaiting) {
      messages.push(opposite(messageOf(report, readCounted(present.content))))
    }
    if (counted) {
      await replaceCountedReports(tx, [{ id, ...counted }])
      await insertReportsToCount(tx, [{ id, slot: slotOf(report.receivedAt) }], now)
    }
    await addToCampaignDays(tx, [
      ...campaignDay(report, present?.campaignId, -1),
      ...campaignDay(report, counted?.campaignId, 1),
    ])
  }
  await countMessages(tx, messages, now)
}

/** Returns the change to the daily count of a report's campaign; empty without a campaign. */
function campaignDay(
  { receivedAt }: Received,
  campaignId: string | null | undefined,
  reports: 1 | -1,
): CampaignDayChange[] {
  return campaignId ? [{ campaignId, day: receivedAt, reports }] : []
}

function messageOf(
  { receivedAt }: Received,
  counted: Pick<CountedMessage, 'amounts' | 'shingles'>,
): CountedMessage {
  return { prefix: 'reports', at: receivedAt, ...counted }
}

/**
 * Returns the amounts to count for a report. The reporter's statement decides whether it counts as
 * a complaint, and the verdict whether it counts as spam, ham or neither.
 */
function amountsOf({ kind }: Report, verdict: Verdict): Amounts {
  const complaint = kind === 'not-spam' ? 0 : 1
  if (isUnwanted(verdict)) return { spam: 1, complaint }
  return verdict.class === 'legitimate' ? { ham: 1, complaint } : { complaint }
}
