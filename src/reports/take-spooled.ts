import { z } from 'zod'
import type { App } from '../app.ts'
import { listBannedAmong } from '../db/shadow-bans.ts'
import { ensurePartitions } from '../db/partitions.ts'
import { inTransaction } from '../db/pool.ts'
import {
  findReportOrAlias,
  holdSpool,
  insertAliases,
  isAlias,
  listStoredReporters,
  listUsedIds,
} from '../db/report-aliases.ts'
import type { Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { BusyError, sqlState, withoutData } from '../errors.ts'
import { createKeyRing, type KeyRing } from '../key-ring.ts'
import type { SpoolEntry } from '../outage/spool.ts'
import { isSpooledId, spooledId } from '../outage/spooled-id.ts'
import { uuidTime } from '../world.ts'
import { isAboutData, keepEither, keyOf, NO_PARTITION, type Prepared } from './accept-report.ts'

const date = z.iso.datetime().transform((text) => new Date(text))
const spooledSchema = z.object({
  type: z.literal('report'),
  encoding: z.enum(['identity', 'zstd']),
  contentHash: z.hex(),
  report: z.object({
    id: z.uuid(),
    reporterId: z.uuid(),
    channel: z.enum(['api', 'signaler', 'form', 'mail', 'import', 'learn']),
    kind: z.enum(['spam', 'phishing', 'not-spam']),
    receivedAt: date,
    messageBytes: z.number(),
    author: z.string().nullable(),
    subject: z.string().nullable(),
    messageId: z.string().nullable(),
    datedAt: date.nullable(),
    comment: z.string().nullable(),
    receivedVia: z.array(z.string()),
    rebuiltFrom: z.literal('msg').nullable(),
    shadow: z.literal('held').nullable(),
  }),
})

/** The entry of the spool for a report, with an id that shows that it waits there. */
export function spooledReport(prepared: Prepared, secret: KeyRing): SpoolEntry {
  const { packed, contentHash } = prepared
  const { encoding, content } = packed
  const id = spooledId(prepared.report.id, prepared.report.reporterId, secret)
  const report = { ...prepared.report, id }
  const values = { type: 'report', encoding, contentHash: contentHash.toString('hex'), report }
  return { id, values, content }
}

/**
 * Finds a report by its id or an alias, for this reporter or an operator.
 *
 * @throws BusyError for a report that this reporter sent while the database was away, and that
 *   still waits in the spool of any process
 */
export async function findReportOrSpooled(
  id: string,
  reporterId: string,
  { pool, clock, config }: Pick<App, 'pool' | 'clock' | 'config'>,
): Promise<Report | undefined> {
  const report = await findReportOrAlias(pool, id)
  if (report) return report
  const { secret, frontKey } = config
  const front = frontKey === undefined ? [] : [createKeyRing(frontKey, [], clock)]
  if (![secret, ...front].some((one) => isSpooledId(id, reporterId, one))) return undefined
  const ageMs = clock().getTime() - uuidTime(id).getTime()
  if (ageMs > config.retentionDays * DAY_MS) return undefined
  if (!(await isAlias(pool, id))) {
    const says = 'This report was accepted and is not in the database yet. Try again shortly.'
    throw new BusyError(says, 5)
  }
  // It was deleted, or stored since the first look.
  return findReportOrAlias(pool, id)
}

/** Parses an entry of the spool; undefined if it is not a report. */
export function parseSpooled({ values, content }: SpoolEntry): Prepared | undefined {
  const { success, data } = spooledSchema.safeParse(values)
  if (!success) return undefined
  const contentHash = Buffer.from(data.contentHash, 'hex')
  const { report, encoding } = data
  const key = keyOf(contentHash, report.reporterId)
  return { report, packed: { encoding, content }, contentHash, key }
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'log'>

/**
 * Stores the reports that were accepted while the database was away, in their order. Entries that
 * are stored already change nothing, so this may be repeated. The id of a message that was reported
 * before becomes an alias of that report. Returns the entries that cannot be stored.
 */
export async function takeSpooled(
  entries: readonly SpoolEntry[],
  app: Needs,
): Promise<SpoolEntry[]> {
  const refused: SpoolEntry[] = []
  for (const round of roundsOf(entries)) {
    try {
      await keepRound(
        round.map(({ report }) => report),
        app,
      )
    } catch (error) {
      if (!isAboutData(error)) throw error
      // A single report that cannot be stored must not hold back the others.
      for (const { entry, report } of round)
        if (!(await keepAlone(report, app))) refused.push(entry)
    }
  }
  return [...refused, ...entries.filter((entry) => !parseSpooled(entry))]
}

async function keepAlone(report: Prepared, app: Needs): Promise<boolean> {
  try {
    await keepRound([report], app)
    return true
  } catch (error) {
    if (!isAboutData(error)) throw error
    const reportId = report.report.id
    app.log.error({ reportId, ...withoutData(error) }, 'Could not store a report of the spool.')
    return false
  }
}

type Round = { entry: SpoolEntry; report: Prepared }[]

/** Divides entries so that no round has the same message of the same reporter twice. */
function roundsOf(entries: readonly SpoolEntry[]): Round[] {
  const rounds: Round[] = []
  const seen = new Map<string, number>()
  for (const entry of entries) {
    const report = parseSpooled(entry)
    if (!report) continue
    const number = seen.get(report.key) ?? 0
    seen.set(report.key, number + 1)
    const round = (rounds[number] ??= [])
    round.push({ entry, report })
  }
  return rounds
}

async function keepRound(reports: readonly Prepared[], app: Needs): Promise<void> {
  try {
    await keep(reports, app)
  } catch (error) {
    if (sqlState(error) !== NO_PARTITION) throw error
    const times = reports.map(({ report }) => report.receivedAt.getTime())
    await ensurePartitions(app.pool, new Date(Math.min(...times)), 1)
    await keep(reports, app)
  }
}

async function keep(given: readonly Prepared[], app: Needs): Promise<void> {
  await inTransaction(app.pool, async (tx) => {
    await holdSpool(tx)
    const reporterIds = [...new Set(given.map(({ report }) => report.reporterId))]
    const [used, stored, banned] = await Promise.all([
      listUsedIds(
        tx,
        given.map(({ report }) => report.id),
      ),
      listStoredReporters(tx, reporterIds),
      listBannedAmong(tx, reporterIds),
    ])
    const reports = given.flatMap((one): Prepared[] => {
      const { report } = one
      if (used.has(report.id) || !stored.has(report.reporterId)) return []
      return [
        banned.has(report.reporterId) ? { ...one, report: { ...report, shadow: 'held' } } : one,
      ]
    })
    if (reports.length === 0) return
    const accepted = await keepEither(tx, app, reports, 'delayed')
    const aliases = reports.map(({ key, report: { id } }) => {
      return { id, reportId: accepted.get(key)?.id ?? id }
    })
    await insertAliases(tx, aliases)
  })
}
