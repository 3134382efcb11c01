import type { Standing } from '../counting/reputation-reader.ts'
import type { Db } from '../db/pool.ts'
import { countReportsBetween, type Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { forwardedADay } from '../verdict/reputation/karma.ts'
import { uuidFloor, uuidTime } from '../world.ts'

/**
 * Returns why some of the given reports are not forwarded, by report id: their reporters signed
 * up themselves, and sent more reports in the last 24 hours than their karma allows to forward. The
 * order of the ids decides, so another analysis of the same report gives the same answer. Accounts
 * that operators created cost no query.
 */
export async function findPaced(
  db: Db,
  reports: readonly Pick<Report, 'id' | 'reporterId' | 'channel' | 'kind'>[],
  standings: ReadonlyMap<string, Standing>,
): Promise<Map<string, Phrase>> {
  const limitOf = ({ reporterId }: Pick<Report, 'reporterId'>) => {
    const { karma, isVouched } = standings.get(reporterId) ?? { karma: 0, isVouched: false }
    return forwardedADay(karma, isVouched)
  }
  const limited = reports
    .filter(({ channel, kind }) => channel !== 'learn' && kind !== 'not-spam')
    .filter((report) => limitOf(report) !== undefined)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const [first] = limited
  if (!first) return new Map()
  const from = uuidFloor(new Date(uuidTime(first.id).getTime() - DAY_MS))
  const reporterIds = [...new Set(limited.map(({ reporterId }) => reporterId))]
  const counts = await countReportsBetween(db, reporterIds, { from, to: first.id })
  const paced = new Map<string, Phrase>()
  for (const report of limited) {
    const count = limitOf(report) ?? 0
    const before = counts.get(report.reporterId) ?? 0
    counts.set(report.reporterId, before + 1)
    if (before >= count) paced.set(report.id, phrase('reporter-paced', { count }))
  }
  return paced
}
