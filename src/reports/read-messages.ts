import type { WorkApp } from '../app.ts'
import { listRawMessages, type RawMessage, type Report } from '../db/reports.ts'
import { unpack } from '../db/rows.ts'
import { reasonOf } from '../errors.ts'
import type { Case } from '../feedback/draw-consequences.ts'
import type { JudgedCase } from '../judging/judge.ts'
import { askAbout, type DnsTools } from '../origin/authenticity/ask-dns.ts'
import type { DnsFindings } from '../origin/authenticity/authenticate.ts'
import type { AnalysisDigest, ParserOptions, ParserPool } from '../parsing/parser-pool.ts'
import type { AdviceCase } from '../verdict/advice.ts'
import type { ReportEvidence } from '../verdict/reputation/evidence.ts'
import type { ReportToCount } from './count-reports.ts'
import type { ReportRelays } from './relays.ts'

/** What reading messages takes. */
export type Readers = Pick<WorkApp, 'pool' | 'config'> & {
  parser: ParserPool
  /** Absent when there is nobody to ask: then nothing is asked. */
  dns?: DnsTools | undefined
}

/** A report with what the analysis of its message found. */
export type ReadReport = { report: Report; analysis: AnalysisDigest }

/** A report whose message could not be read this time. */
type ReadFailure = { reportId: string; reason: string }

/** So long a message waits for the DNS; what has not come by then is unknown. */
const DNS_MS_MAX = 3_000

type Read = { analyses: ReadReport[]; failures: ReadFailure[] }

/**
 * Reads the messages of reports in the parser threads: one at fault costs itself only. Gives those
 * that are read soon together, and after them those that take long.
 */
export async function* readMessages(
  reports: readonly Report[],
  relaysOf: (reportId: string) => ReportRelays,
  app: Readers,
): AsyncGenerator<Read> {
  const raws = await listRawMessages(
    app.pool,
    reports.map(({ id }) => id),
  )
  const rawOf = new Map(raws.map((raw) => [raw.id, raw]))
  const slow = new Set<string>()
  const readings = reports.map((report) => {
    const { id } = report
    const { promise: isSlow, resolve } = Promise.withResolvers<undefined>()
    const onSlow = () => {
      slow.add(id)
      resolve(undefined)
    }
    const read = readOne(report, rawOf.get(id), { relays: relaysOf(id), onSlow }, app)
    return { id, read, decided: Promise.race([read, isSlow]) }
  })
  await Promise.all(readings.map(({ decided }) => decided))
  const quick = readings.filter(({ id }) => !slow.has(id))
  const others = readings.filter(({ id }) => slow.has(id))
  for (const its of [quick, others].filter(({ length }) => length > 0)) {
    const read = await Promise.all(its.map((one) => one.read))
    yield {
      analyses: read.filter((one) => 'analysis' in one),
      failures: read.filter((one) => 'reason' in one),
    }
  }
}

async function readOne(
  report: Report,
  raw: RawMessage | undefined,
  { relays, onSlow }: { relays: ReportRelays; onSlow: () => void },
  app: Readers,
): Promise<ReadReport | ReadFailure> {
  try {
    if (!raw) throw new Error('The raw message is missing.')
    const { originConfidenceMin } = app.config
    const isRebuilt = report.rebuiltFrom !== null
    const options = { ...relays.options, originConfidenceMin, isRebuilt }
    const dns = await findingsOf(raw, options, app)
    const analysis = await app.parser.analyze(raw, dns ? { ...options, dns } : options, onSlow)
    return { report, analysis }
  } catch (error) {
    return { reportId: report.id, reason: reasonOf(error) }
  }
}

/**
 * What the DNS tells of a message. It is asked here, not in the parser threads, which never wait;
 * only the header is read for it, in linear time.
 */
async function findingsOf(
  raw: RawMessage,
  relays: ParserOptions,
  { dns }: Readers,
): Promise<DnsFindings | undefined> {
  if (!dns) return undefined
  const options = { ...relays, ignoreStamps: false }
  return askAbout(await unpack(raw), options, dns, AbortSignal.timeout(DNS_MS_MAX))
}

/** A report with all that was found and made of it, before anything is kept. */
export type Judgment = {
  report: Report
  analysis: AnalysisDigest
  judgedCase: JudgedCase
  judged: Case
  submitterAsn: number | null
}

/** The campaigns of reports, by their ids. */
export type Campaigns = ReadonlyMap<string, string>

/** What advice on a report is decided by. */
export function adviceCase({
  report,
  analysis,
  judged,
}: Judgment): AdviceCase & { reportId: string } {
  return { ...judged, reportId: report.id, ...analysis }
}

/** What a report says of those it can be blamed on. */
export function evidenceOf(
  { report, judgedCase: { verdict, facts, subjects } }: Judgment,
  campaignOf: Campaigns,
): ReportEvidence {
  return {
    reportId: report.id,
    reporterId: report.reporterId,
    karma: Number(facts.report?.karma ?? 0),
    reportedAs: report.kind,
    verdict: { class: verdict.class, confidence: verdict.confidence ?? 0 },
    campaignId: campaignOf.get(report.id),
    subjects,
    at: report.receivedAt,
  }
}

/** What a report is counted as. */
export function toCount(
  { report, analysis: { shingles }, judgedCase, judged, submitterAsn }: Judgment,
  campaignOf: Campaigns,
): ReportToCount {
  const isSure = (judged.origin?.confidence ?? 0) >= judged.originConfidenceMin
  const originAsn = isSure ? judged.network?.asn : undefined
  const campaignId = campaignOf.get(report.id)
  const { verdict } = judgedCase
  return { report, verdict, shingles, originAsn, submitterAsn, campaignId }
}
