import type { App } from '../app.ts'
import { listAnswers } from '../db/feedback-answers.ts'
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

/** An address about which a consumer was notified, for the operators. */
export type FollowedOrigin = Pick<ReportedOrigin, 'ip' | 'before' | 'after' | 'lastAt'> & {
  noticedAt: Date
  reportId: string
  ending: Ending
  /** The last answer to the first notice. */
  answer: string | undefined
}

/** Describes the latest addresses about which a consumer was notified. */
export async function listFollowed(
  db: Db,
  consumerId: string,
  limit: number,
): Promise<FollowedOrigin[]> {
  const [seenUntil, rows] = await Promise.all([
    findSeenUntil(db),
    listNoticedOrigins(db, consumerId, limit),
  ])
  const answers = await listAnswers(
    db,
    rows.flatMap(({ reportId }) => reportId ?? []),
  )
  const answerOf = new Map(answers.map((one) => [one.reportId, one.answer]))
  return rows.flatMap((row) => {
    const { ip, before, after, lastAt, noticedAt, reportId } = row
    if (noticedAt === null || reportId === null) return []
    const ending = endingOf(row, seenUntil)
    return [
      { ip, before, after, lastAt, noticedAt, reportId, ending, answer: answerOf.get(reportId) },
    ]
  })
}

function endingOf({ silentAt }: ReportedOrigin, seenUntil: Date | undefined): Ending {
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
