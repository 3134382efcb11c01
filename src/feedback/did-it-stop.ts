import type { App } from '../app.ts'
import { listAnswers } from '../db/feedback-answers.ts'
import { feedbackName, listFeedback } from '../db/feedback-reports.ts'
import { listCampaignsOf } from '../db/campaigns.ts'
import { findPageOfCampaign, listNoticedPages } from '../db/page-endings.ts'
import type { Db } from '../db/pool.ts'
import {
  type EndingBounds,
  type Endings,
  findOriginsRead,
  findReportedOrigin,
  listEndings,
  listNoticedOrigins,
  type ReportedOrigin,
} from '../db/reported-origins.ts'
import { DAY_MS } from '../durations.ts'
import { uuidTime } from '../world.ts'

/** The notices of how many days are summed up, and how old the latest of them is. */
const ENDINGS_DAYS = 90
const SETTLED_DAYS = 14
/** The silence after which a reporter reads that no more reports came. */
const QUIET_MS = 7 * DAY_MS

/** `few`: too few reports to tell. */
type Ending = 'stopped' | 'open' | 'few'

type Needs = Pick<App, 'pool' | 'clock'>

/** Sums up how reports ended after the notices to consumers, by their ids. */
export async function readEndings(
  { pool, clock }: Needs,
  consumerIds: readonly string[],
): Promise<Map<string, Endings>> {
  const seenUntil = await findSeenUntil(pool)
  if (seenUntil === undefined || consumerIds.length === 0) return new Map()
  return listEndings(pool, consumerIds, boundsAt(clock(), seenUntil))
}

function boundsAt(now: Date, seenUntil: Date): EndingBounds {
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)
  return { from: ago(ENDINGS_DAYS + SETTLED_DAYS), to: ago(SETTLED_DAYS), seenUntil }
}

/** An address or a page about which a consumer was notified, for the operators. */
type Followed = Pick<ReportedOrigin, 'before' | 'after' | 'lastAt'> & {
  /** The address, or the host of the page. */
  name: string
  noticedAt: Date
  reportId: string
  ending: Ending
  /** Since when the host of a page has no address. */
  goneAt: Date | null
  /** The last answer to the first notice. */
  answer: string | undefined
}

/** Describes the latest addresses and pages about which a consumer was notified. */
export async function listFollowed(db: Db, consumerId: string, limit: number): Promise<Followed[]> {
  const [seenUntil, origins, pages] = await Promise.all([
    findSeenUntil(db),
    listNoticedOrigins(db, consumerId, limit),
    listNoticedPages(db, consumerId, limit),
  ])
  const all = [
    ...origins.map((row) => ({ ...row, name: row.ip, goneAt: null })),
    ...pages.map((row) => ({ ...row, name: row.host })),
  ]
  const answerOf = await answersOf(
    db,
    consumerId,
    all.flatMap(({ reportId }) => reportId ?? []),
  )
  const followed = all.flatMap((row) => {
    const { name, before, after, lastAt, noticedAt, reportId, goneAt } = row
    if (noticedAt === null || reportId === null) return []
    const ending = endingOf(row, seenUntil)
    const counted = { name, before, after, lastAt, noticedAt, reportId, ending, goneAt }
    return [{ ...counted, answer: answerOf.get(reportId) }]
  })
  return followed
    .toSorted((one, other) => other.noticedAt.getTime() - one.noticedAt.getTime())
    .slice(0, limit)
}

/** The last answers of a consumer, by report; others may have answered about the same report. */
async function answersOf(
  db: Db,
  consumerId: string,
  reportIds: readonly string[],
): Promise<Map<string, string>> {
  const feedback = await listFeedback(db, reportIds)
  const own = feedback.filter((one) => one.consumerId === consumerId).map(feedbackName)
  const answers = await listAnswers(db, reportIds)
  const its = answers.filter((one) => own.includes(feedbackName(one)))
  return new Map(its.map((one) => [one.reportId, one.answer]))
}

function endingOf(
  { silentAt }: Pick<ReportedOrigin, 'silentAt'>,
  seenUntil: Date | undefined,
): Ending {
  if (silentAt === null || seenUntil === undefined) return 'few'
  return silentAt <= seenUntil ? 'stopped' : 'open'
}

/** What was seen of an address after a report about it. */
export type LaterReports = { is: 'none' | 'more'; lastAt: Date }

/**
 * Finds what was seen of the origin of a report after a notice about it: no more reports for a
 * week, or reports more than a day later. The reports of a person whose reports have no effect are
 * seen by that person only.
 */
export async function findLaterReports(
  db: Db,
  { ip, receivedAt, isShadowed }: { ip: string; receivedAt: Date; isShadowed: boolean },
): Promise<LaterReports | undefined> {
  const [seenUntil, row] = await Promise.all([findSeenUntil(db), findReportedOrigin(db, ip)])
  const all = row ? [row.lastAt, isShadowed ? row.shadowLastAt : null] : []
  const lastMs = Math.max(...all.map((at) => at?.getTime() ?? 0))
  // The report itself is not added yet.
  if (seenUntil === undefined || lastMs < receivedAt.getTime()) return undefined
  const lastAt = new Date(lastMs)
  if (seenUntil.getTime() - lastMs >= QUIET_MS) return { is: 'none', lastAt }
  return lastMs - receivedAt.getTime() > DAY_MS ? { is: 'more', lastAt } : undefined
}

/** What was seen of the page of a report after a notice about it. */
export type LaterOfPage = { isQuiet: boolean; lastAt: Date; goneAt: Date | null }

/**
 * Finds what was seen of the page to which a report leads: no more reports for a week, or a host
 * without an address. The page is found by the campaign, so that reports without effect show the
 * same.
 */
export async function findLaterOfPage(
  db: Db,
  reportId: string,
  now: Date,
): Promise<LaterOfPage | undefined> {
  const [campaign] = await listCampaignsOf(db, [reportId])
  const page = campaign && (await findPageOfCampaign(db, campaign.campaignId))
  if (!page) return undefined
  const { lastAt, goneAt } = page
  const isQuiet = now.getTime() - lastAt.getTime() >= QUIET_MS + DAY_MS
  return isQuiet || goneAt !== null ? { isQuiet, lastAt, goneAt } : undefined
}

/** Until when reports are known; undefined before the first run. */
export async function findSeenUntil(db: Db): Promise<Date | undefined> {
  const read = await findOriginsRead(db)
  return read === undefined ? undefined : uuidTime(read)
}

/** The oldest change of an address that is still followed. */
export function followedSince(
  { retentionDays }: Pick<App['config'], 'retentionDays'>,
  now: Date,
): Date {
  const days = Math.min(retentionDays, ENDINGS_DAYS + 2 * SETTLED_DAYS)
  return new Date(now.getTime() - days * DAY_MS)
}
