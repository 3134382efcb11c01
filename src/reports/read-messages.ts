import { LRUCache } from 'lru-cache'
import type { WorkApp } from '../app.ts'
import type { RawMessage, Report } from '../db/reports.ts'
import { type Packed, unpack, unpackAtMost } from '../db/rows.ts'
import { reasonOf } from '../errors.ts'
import type { Case } from '../feedback/draw-consequences.ts'
import type { JudgedCase } from '../judging/judge.ts'
import { askAbout, type DnsTools } from '../origin/authenticity/ask-dns.ts'
import type { DnsFindings } from '../origin/authenticity/dns-findings.ts'
import {
  type AnalysisDigest,
  FilesUnderWay,
  type ParserOptions,
  type ParserPool,
} from '../parsing/parser-pool.ts'
import type { JobOutcome } from '../queue/work.ts'
import type { AdviceCase } from '../verdict/advice.ts'
import { doubtOf } from '../verdict/complaint.ts'
import { karmaIn } from '../verdict/facts/facts.ts'
import { type ReportEvidence, supportOf } from '../verdict/reputation/evidence.ts'
import type { ReportToCount } from './count-reports.ts'
import type { KnownExchangers } from './known-exchangers.ts'
import type { ReportRelays } from './relays.ts'

/** The texts of messages that this process has analyzed, by report. */
export type ShownTexts = {
  get: (reportId: string) => string | undefined
  set: (reportId: string, text: string) => void
}

const SHOWN_BYTES_MAX = 16 * 1024 * 1024
/** Bytes that an entry takes besides its text. */
const ENTRY_BYTES = 200

/** Creates a store of texts that keeps the last ones, of some thousand messages. */
export function createShownTexts(): ShownTexts {
  const sizeCalculation = (text: string) => text.length * 2 + ENTRY_BYTES
  return new LRUCache<string, string>({ maxSize: SHOWN_BYTES_MAX, sizeCalculation })
}

export type Readers = Pick<WorkApp, 'config'> & {
  parser: ParserPool
  /** Absent without a DNS resolver: then no DNS queries are sent. */
  dns?: DnsTools | undefined
  /** Absent without a DNS resolver, like `dns`. */
  exchangersOf?: KnownExchangers | undefined
  /** Keeps the texts for the search index; absent if this process does not write it. */
  shownTexts?: ShownTexts | undefined
}

/** Time in milliseconds in which the files of a message are usually read. */
const FILES_LATER_MS = 700

/** Postpones a report until its files are read, so that the others of its batch do not wait. */
export function afterFiles(reportId: string, { clock }: Pick<WorkApp, 'clock'>): JobOutcome {
  const postponedTo = new Date(clock().getTime() + FILES_LATER_MS)
  return { postponedTo, payload: { reportId, hasWaited: true } }
}

export type ReadReport = { report: Report; raw: Packed; analysis: AnalysisDigest }

/**
 * A report whose message could not be read in this run; `isFiles`: its attached files are still
 * being read.
 */
type ReadFailure = { reportId: string; reason: string; isFiles: boolean }

/** Maximum wait in milliseconds for the files of a message, because its batch waits, too. */
const FILES_MS_MAX = 300

/**
 * Time limit in milliseconds for the DNS queries of a message; missing answers count as unknown.
 */
const DNS_MS_MAX = 3_000

/** Maximum size in bytes of a message that is unpacked once for all its readers. */
const SMALL_BYTES_MAX = 64_000

/** `mayWait`: whether the report may be read later, after its files. */
type Reading = {
  relaysOf: (reportId: string) => ReportRelays
  mayWait: (reportId: string) => boolean
}

type Read = { analyses: ReadReport[]; failures: ReadFailure[] }

/**
 * Reads the messages of reports in the parser threads; a failure affects only that message. Yields
 * the quickly read messages together first, then the slow ones.
 */
export async function* readMessages(
  reports: readonly Report[],
  raws: readonly RawMessage[],
  { relaysOf, mayWait }: Reading,
  app: Readers,
): AsyncGenerator<Read> {
  const rawOf = new Map(raws.map((raw) => [raw.id, raw]))
  const slow = new Set<string>()
  const readings = reports.map((report) => {
    const { id } = report
    const { promise: isSlow, resolve } = Promise.withResolvers<undefined>()
    const onSlow = () => {
      slow.add(id)
      resolve(undefined)
    }
    const asked = { relays: relaysOf(id), mayWait: mayWait(id), onSlow }
    const read = readOne(report, rawOf.get(id), asked, app)
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
  stored: RawMessage | undefined,
  { relays, mayWait, onSlow }: { relays: ReportRelays; mayWait: boolean; onSlow: () => void },
  app: Readers,
): Promise<ReadReport | ReadFailure> {
  try {
    if (!stored) throw new Error('The raw message is missing.')
    const raw = unpackedIfSmall(stored)
    const { originConfidenceMin } = app.config
    const isRebuilt = report.rebuiltFrom !== null
    const { mailbox } = relays
    const exchangers = mailbox === undefined ? undefined : await app.exchangersOf?.(mailbox, raw)
    const options = { ...relays.options, exchangers, originConfidenceMin, isRebuilt }
    const dns = await findingsOf(raw, options, app)
    const analysis = await app.parser.analyze(raw, dns ? { ...options, dns } : options, {
      ...{ owner: report.reporterId, filesMsMax: FILES_MS_MAX },
      ...{ isRepeatable: mayWait, onSlow },
    })
    app.shownTexts?.set(report.id, analysis.shownText)
    return { report, raw, analysis }
  } catch (error) {
    const isFiles = error instanceof FilesUnderWay
    return { reportId: report.id, reason: reasonOf(error), isFiles }
  }
}

/**
 * Returns a small message unpacked, because several threads read it: one that analyzes it, one that
 * composes its feedback report, and this one for its DNS queries. A large message stays packed,
 * because each thread gets a copy.
 */
function unpackedIfSmall(stored: Packed): Packed {
  const content = unpackAtMost(stored, SMALL_BYTES_MAX)
  return content ? { encoding: 'identity', content } : stored
}

/**
 * Returns the DNS findings for a message. Runs outside the parser threads, which never wait for the
 * network; it parses only the header, in linear time.
 */
async function findingsOf(
  raw: Packed,
  relays: ParserOptions,
  { dns }: Readers,
): Promise<DnsFindings | undefined> {
  if (!dns) return undefined
  const options = { ...relays, ignoreStamps: false }
  return askAbout(await unpack(raw), options, dns, AbortSignal.timeout(DNS_MS_MAX))
}

/** A report with its analysis and judgment, before anything is stored. */
export type Judgment = {
  report: Report
  raw: Packed
  analysis: AnalysisDigest
  judgedCase: JudgedCase
  judged: Case
  /** Whether an operator created the reporter's account. */
  isVouched: boolean
  /** See `Standing`. */
  sourceId: string
  submitterAsn: number | null
}

/** The campaign ids of reports, by report id. */
export type Campaigns = ReadonlyMap<string, string>

/** Returns the facts from which the advice on a report is decided. */
export function adviceCase({
  report,
  analysis,
  judged,
}: Judgment): AdviceCase & { reportId: string } {
  return { ...judged, reportId: report.id, reportedAs: report.kind, ...analysis }
}

export function evidenceOf(
  { report, isVouched, sourceId, judged, judgedCase: { verdict, facts, subjects } }: Judgment,
  campaignOf: Campaigns,
): ReportEvidence {
  return {
    reportId: report.id,
    reporterId: report.reporterId,
    sourceId,
    karma: karmaIn(facts),
    isVouched,
    reportedAs: report.kind,
    verdict: { class: verdict.class, confidence: verdict.confidence ?? 0 },
    doubt: doubtOf(judged.complaint),
    support: supportOf(verdict),
    campaignId: campaignOf.get(report.id),
    subjects,
    at: report.receivedAt,
  }
}

export function toCount(
  { report, analysis: { shingles }, judgedCase, judged, sourceId, submitterAsn }: Judgment,
  campaignOf: Campaigns,
): ReportToCount {
  const isSure = (judged.origin?.confidence ?? 0) >= judged.originConfidenceMin
  const { asn: originAsn, country: originCountry } = (isSure ? judged.network : undefined) ?? {}
  const campaignId = campaignOf.get(report.id)
  const { verdict } = judgedCase
  const known = { originAsn, originCountry, submitterAsn, campaignId }
  return { report, verdict, shingles, sourceId, ...known }
}
