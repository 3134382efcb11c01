import { type Db, inTransaction, type Pool } from '../../db/pool.ts'
import { takeNews } from '../../db/report-news.ts'
import {
  claimDays,
  countReporterDay,
  findDueDay,
  keepDay,
  listDaysOf,
  markDaysDue,
} from '../../db/reporter-days.ts'

const NEWS_MAX = 500
const DAYS_MAX = 200

/**
 * Heeds what happened to reports: marks their days, then counts again those that are due, each
 * from the reports themselves and in a transaction of its own. Nothing is added up, so whoever dies
 * when, a day is either counted whole or still due. Of several processes one does it at a time.
 * Answers how many days it counted.
 */
export async function countOwnDays(
  pool: Pool,
  clock: () => Date,
  isClosed: () => boolean = () => false,
): Promise<number> {
  while ((await inTransaction(pool, (tx) => heedNews(tx, clock()))) === NEWS_MAX) {
    if (isClosed()) return 0
  }
  let counted = 0
  while (counted < DAYS_MAX && !isClosed()) {
    if (!(await inTransaction(pool, (tx) => countDueDay(tx, clock())))) break
    counted++
  }
  return counted
}

async function heedNews(tx: Db, now: Date): Promise<number> {
  if (!(await claimDays(tx))) return 0
  const news = await takeNews(tx, NEWS_MAX)
  if (news.ids.length > 0) await markDaysDue(tx, await listDaysOf(tx, news.ids), now)
  return news.rows
}

async function countDueDay(tx: Db, now: Date): Promise<boolean> {
  if (!(await claimDays(tx))) return false
  const day = await findDueDay(tx, now)
  if (!day) return false
  // Nobody marks a day meanwhile: what is not seen by now is news that will be heeded later.
  await keepDay(tx, day, await countReporterDay(tx, day), now)
  return true
}
