import type { App } from '../app.ts'
import { type Feedback, listFeedback } from '../db/feedback-reports.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findOriginsRead,
  listOriginReports,
  listReportedOrigins,
  type OriginReport,
  type ReportedOrigin,
  setOriginsRead,
  upsertReportedOrigins,
} from '../db/reported-origins.ts'
import { DAY_MS, MINUTE_MS } from '../durations.ts'
import { afterNotice, beginsCase, noReports, withReports } from '../verdict/after-notice.ts'
import { uuidFloor } from '../world.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** Age of a report that is added: by then, its notice is sent and mistakes are taken back. */
const SETTLED_MS = DAY_MS
/** Age of the oldest report that the first run adds. */
const FIRST_MS = 30 * DAY_MS
const REPORTS_AT_ONCE = 1_000
/** Duration of a run; the next one continues there. */
const RUN_MS = 5 * MINUTE_MS
/** No more people are counted than the public figures require. */
const PEOPLE_MAX = 100

/**
 * Adds the reports that are a day old to the series of their origins, and describes what came
 * before and after the first notice. Reads each report once, in the order of their ids, for at most
 * five minutes.
 */
export async function runFollowOrigins(app: Needs): Promise<void> {
  const start = app.clock()
  const until = uuidFloor(new Date(start.getTime() - SETTLED_MS))
  let reports = 0
  for (;;) {
    const read = await findOriginsRead(app.pool)
    const after = read ?? uuidFloor(new Date(start.getTime() - FIRST_MS))
    if (after >= until) break
    const added = await addReports(app, { read, after, until })
    if (added === undefined) break
    reports += added
    if (added < REPORTS_AT_ONCE || app.clock().getTime() - start.getTime() > RUN_MS) break
  }
  if (reports > 0) app.log.info({ reports }, 'Added reports to their origins.')
}

type Range = { read: string | undefined; after: string; until: string }

/** Adds the next reports, and returns their number; undefined if another run has added them. */
async function addReports(
  { pool, clock, config }: Needs,
  { read, after, until }: Range,
): Promise<number | undefined> {
  const { originConfidenceMin } = config
  const page = { after, until, limit: REPORTS_AT_ONCE, originConfidenceMin }
  const reports = await listOriginReports(pool, page)
  const last = reports.length < REPORTS_AT_ONCE ? until : (reports.at(-1)?.id ?? until)
  const notices = await findNotices(pool, reports)
  return inTransaction(pool, async (tx) => {
    if (!(await setOriginsRead(tx, last, read))) return undefined
    const byIp = Map.groupBy(reports, ({ ip }) => ip)
    const known = await listReportedOrigins(tx, [...byIp.keys()])
    const rowOf = new Map(known.map((row) => [row.ip, row]))
    const rows = [...byIp].map(([ip, its]) => withLater(rowOf.get(ip), its, notices))
    await upsertReportedOrigins(tx, rows, clock())
    return reports.length
  })
}

/** A notice to the network of an origin. */
type Notice = { reportId: string; consumerId: string; at: Date }

/** Finds the first mail to the network about each report: its own, or that of another one. */
async function findNotices(
  pool: Needs['pool'],
  reports: readonly OriginReport[],
): Promise<Map<string, Notice>> {
  const isAbout = ({ kind, recipientRole }: Feedback) =>
    kind === 'complaint' && recipientRole === 'network'
  const ids = reports.filter(({ isShadowed }) => !isShadowed).map(({ id }) => id)
  const own = (await listFeedback(pool, ids)).filter(isAbout)
  const heads = own.flatMap(({ mergedInto }) => (mergedInto === null ? [] : [mergedInto]))
  const others = await listFeedback(pool, [...new Set(heads)])
  const headOf = new Map(others.map((one) => [`${one.reportId} ${one.number}`, one]))
  const notices = new Map<string, Notice>()
  for (const one of own) {
    const mail = one.state === 'merged' ? headOf.get(`${one.mergedInto} ${one.mergedNumber}`) : one
    if (mail?.state !== 'sent' || mail.finishedAt === null) continue
    const { reportId, consumerId } = one
    const earlier = notices.get(reportId)
    if (!earlier || mail.finishedAt < earlier.at) {
      notices.set(reportId, { reportId, consumerId, at: mail.finishedAt })
    }
  }
  return notices
}

/** Adds later reports, given in the order of their ids, to the row of their origin. */
function withLater(
  known: ReportedOrigin | undefined,
  reports: readonly OriginReport[],
  notices: ReadonlyMap<string, Notice>,
): ReportedOrigin {
  const latest = reports.at(-1)
  const shadowed = reports.filter(({ isShadowed }) => isShadowed)
  const counted = reports.filter(({ isShadowed }) => !isShadowed)
  const first = counted[0]
  const isNew = !known?.lastAt || (first && beginsCase(known.lastAt, first.receivedAt))
  const before: ReportedOrigin = isNew ? emptyCase(reports, known) : known
  const series = withReports(
    before,
    counted.map(({ receivedAt }) => receivedAt),
  )
  const its = counted.flatMap(({ id }) => notices.get(id) ?? [])
  const notice = its.toSorted((one, other) => one.at.getTime() - other.at.getTime())[0]
  const noticed = before.noticedAt === null && notice ? noticeOf(notice) : before
  const { noticedAt, reportId, consumerId } = noticed
  const seen = noticedAt === null ? undefined : afterNotice(series, noticedAt)
  const people = new Set(counted.map(({ reporterId }) => reporterId)).size
  return {
    ...before,
    ...series,
    ...{ noticedAt, reportId, consumerId },
    networkAsn: latest?.networkAsn ?? before.networkAsn,
    networkName: latest?.networkName ?? before.networkName,
    networkCountry: latest?.networkCountry ?? before.networkCountry,
    people: Math.min(PEOPLE_MAX, Math.max(before.people, people)),
    lastAt: counted.at(-1)?.receivedAt ?? before.lastAt,
    shadowLastAt: shadowed.at(-1)?.receivedAt ?? before.shadowLastAt,
    // The oldest reports of very many are no longer in the series.
    before: Math.max(before.before, seen?.before ?? 0),
    after: Math.max(before.after, seen?.after ?? 0),
    silentAt: seen?.silentAt ?? null,
  }
}

const noticeOf = ({ at, reportId, consumerId }: Notice) => ({
  ...{ noticedAt: at, reportId, consumerId },
})

function emptyCase(
  [first]: readonly OriginReport[],
  known: ReportedOrigin | undefined,
): ReportedOrigin {
  return {
    ...noReports(),
    ...{ ip: first?.ip ?? '', networkAsn: null, networkName: null, networkCountry: null },
    ...{ people: 0, lastAt: null, shadowLastAt: known?.shadowLastAt ?? null },
    ...{ noticedAt: null, reportId: null, consumerId: null },
    ...{ before: 0, after: 0, silentAt: null },
  }
}
