import { askAbout, type DnsTools } from '../analysis/authenticity/ask-dns.ts'
import type { DnsFindings } from '../analysis/dns-findings.ts'
import type { WorkApp } from '../app.ts'
import { unpack } from '../db/packed.ts'
import { listRawMessages, type RawMessage } from '../db/raw-messages.ts'
import type { Report } from '../db/reports.ts'
import { reasonOf } from '../errors.ts'
import type { ReportRelays } from './find-relays.ts'
import type { AnalysisDigest, ParserOptions, ParserPool } from '../parsing/parser-pool.ts'

/** What reading messages takes. */
export type Readers = Pick<WorkApp, 'pool' | 'config'> & {
  parser: ParserPool
  /** Absent when there is nobody to ask: then nothing is asked. */
  dns?: DnsTools | undefined
}

/** A report with what the analysis of its message found. */
export type ReadReport = { report: Report; analysis: AnalysisDigest }

/** A report whose message could not be read this time. */
export type ReadFailure = { reportId: string; reason: string }

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
