import { hash } from 'node:crypto'
import type { WorkApp } from '../app.ts'
import { circleOfAccount } from '../counting/circles.ts'
import { readStandings } from '../counting/reputation-reader.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { listCampaignDecisions } from '../db/campaign-decisions.ts'
import { listCountedReports } from '../db/counter-rows.ts'
import {
  type Page,
  type PageReport,
  putPageReports,
  removePageReports,
  type SeenPage,
  touchPages,
} from '../db/pages.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { holdReport, listRawMessages, listReportsByIds, type Report } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import { reasonOf } from '../errors.ts'
import { untagged } from '../evidence/identity.ts'
import type { MessagePages, ParserPool } from '../parsing/parser-pool.ts'
import type { FoundPage } from '../phishing/find-pages.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import type { JobOutcome } from '../queue/work.ts'
import { PROVEN_KARMA_MIN } from '../verdict/reputation/detail.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { isDangerous, type VerdictClass } from '../verdict/verdict.ts'
import { uuidTime, uuidv7 } from '../world.ts'
import { renewPage } from './renew-page.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'log'> & {
  parser: Pick<ParserPool, 'findPages'>
}

/** A report that leads to pages, and what its message says. */
type Leading = {
  report: Report
  campaignId: string | null
  verdictClass: VerdictClass
  found: MessagePages
}

/**
 * Stores to which pages reports lead that were judged phishing or malware, and decides whether
 * these pages are confirmed. What a report said before is replaced, so a second run changes
 * nothing. A report that no longer counts takes back what it said: it was retracted, held, changed
 * or erased.
 */
export async function runFindPages(
  payloads: readonly { reportId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  const ids = [...new Set(payloads.map(({ reportId }) => reportId))].toSorted()
  const failed = new Map<string, JobOutcome>()
  const leading = await readLeading(ids, failed, app)
  const read = ids.filter((id) => !failed.has(id))
  await inTransaction(app.pool, async (tx) => {
    for (const id of read) await holdReport(tx, id)
    const stillCounted = new Set((await listCountedReports(tx, read)).map(({ id }) => id))
    const before = await removePageReports(tx, read)
    const rows = await keepPages(
      tx,
      leading.filter(({ report: { id } }) => stillCounted.has(id)),
      app,
    )
    for (const id of new Set([...before, ...rows.map(({ pageId }) => pageId)].toSorted())) {
      await renewPage(tx, id, app)
    }
  })
  return payloads.map(({ reportId }) => failed.get(reportId) ?? 'done')
}

/** Reads the messages of those reports that count, and that somebody or a rule calls dangerous. */
async function readLeading(
  ids: readonly string[],
  failed: Map<string, JobOutcome>,
  { pool, config, parser }: Needs,
): Promise<Leading[]> {
  const [reports, counted] = await Promise.all([
    listReportsByIds(pool, ids),
    listCountedReports(pool, ids),
  ])
  const campaignOf = new Map(counted.map(({ id, campaignId }) => [id, campaignId]))
  const usable = reports.filter(
    ({ id, kind, channel }) => campaignOf.has(id) && kind !== 'not-spam' && channel !== 'learn',
  )
  if (usable.length === 0) return []
  const usableIds = usable.map(({ id }) => id)
  const campaigns = [...new Set(counted.flatMap(({ campaignId }) => campaignId ?? []))]
  const [analyses, raws, decisions] = await Promise.all([
    listPackedAnalyses(pool, usableIds),
    listRawMessages(pool, usableIds),
    listCampaignDecisions(pool, campaigns),
  ])
  const dangerous = new Set(
    decisions.flatMap(({ campaignId, says }) => (isDangerous(says) ? [campaignId] : [])),
  )
  const own = ownNamesOf(config)
  const found = await Promise.all(
    usable.map(async (report): Promise<Leading | undefined> => {
      const analysis = analyses.find(({ id }) => id === report.id)
      const raw = raws.find(({ id }) => id === report.id)
      if (!analysis || !raw) return undefined
      const campaignId = campaignOf.get(report.id) ?? null
      const verdictClass = analysis.judgment.verdict.class
      const isLeading =
        report.kind === 'phishing' || isDangerous(verdictClass) || dangerous.has(campaignId ?? '')
      if (!isLeading) return undefined
      try {
        const pages = await parser.findPages(raw, analysis, own)
        return { report, campaignId, verdictClass, found: pages }
      } catch (error) {
        failed.set(report.id, { retry: reasonOf(error) })
        return undefined
      }
    }),
  )
  return found.filter((one) => one !== undefined)
}

async function keepPages(
  tx: Db,
  leading: readonly Leading[],
  { clock }: Needs,
): Promise<PageReport[]> {
  if (leading.length === 0) return []
  const now = clock()
  const seen = leading.flatMap((one) => seenPages(one, now))
  const idOf = new Map(
    (await touchPages(tx, seen)).map(({ key, id }): [string, string] => [key, id]),
  )
  const reporterIds = leading.map(({ report }) => report.reporterId)
  const [standings, emails] = await Promise.all([
    readStandings(tx, reporterIds, now),
    listReporterEmails(tx, reporterIds),
  ])
  const rows = leading.flatMap((one): PageReport[] => {
    const { report, campaignId, found } = one
    const { reporterId } = report
    const { karma = 0, isVouched = false, sourceId = reporterId } = standings.get(reporterId) ?? {}
    const email = emails.get(reporterId)
    const said = {
      ...{ reportId: report.id, seenAt: report.receivedAt, campaignId, reporterId, isVouched },
      isProven: karma >= PROVEN_KARMA_MIN,
      isYoung: dayOf(uuidTime(reporterId)) >= dayOf(report.receivedAt),
      circle: circleOfAccount(email, sourceId === reporterId ? undefined : sourceId),
      recipient: hashOf(found.recipient ?? untagged(email ?? reporterId)),
      isAccusing: report.kind === 'phishing',
      isSupported: found.isConfirmed,
      decision: saidBy(report),
      signs: found.signs.map(({ name }) => name),
    }
    return seenPages(one, now).flatMap(({ key, url }) => {
      const pageId = idOf.get(key)
      return pageId === undefined ? [] : [{ pageId, url, ...said }]
    })
  })
  await putPageReports(tx, rows)
  return rows
}

function seenPages({ report, verdictClass, found }: Leading, now: Date): SeenPage[] {
  const type: Page['type'] =
    report.correctedAs === 'malware' || verdictClass === 'malware' ? 'malware' : 'phishing'
  return found.pages.flatMap((page) => {
    const stored = storable(page)
    if (!stored) return []
    const { through, accused } = page
    const about = { type, imitates: found.imitates ?? null, through, lastSeen: report.receivedAt }
    return [{ id: uuidv7(now), ...stored, scope: accused.scope, ...about }]
  })
}

const URL_CHARS_MAX = 2_000
const KEY_CHARS_MAX = 500
const HASH_CHARS = 64

/** Longer keys are told apart by their hash. A page whose address is too long is left out. */
function storable({ url, key }: FoundPage): Pick<SeenPage, 'url' | 'key' | 'host'> | undefined {
  if (url.length > URL_CHARS_MAX) return undefined
  const { hostname: host } = new URL(url)
  if (key.length <= KEY_CHARS_MAX) return { url, key, host }
  const start = key.slice(0, KEY_CHARS_MAX - HASH_CHARS)
  return { url, key: start + hash('sha256', key), host }
}

/** What a person of the site said about the report itself. */
function saidBy({ correctedAs }: Report): PageReport['decision'] {
  if (correctedAs === null) return null
  return isDangerous(correctedAs) ? correctedAs : 'other'
}

function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS)
}

function hashOf(address: string): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(textHash(address))
  return bytes
}
