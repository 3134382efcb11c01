import { fork, type ChildProcess } from 'node:child_process'
import path from 'node:path'
import { analyzeForCounting } from '../../src/pieces/analyze.ts'
import { readConfig } from '../../src/config.ts'
import { shippedRules } from '../../src/judging/rule-versions.ts'
import { complaintOf, doubtOf } from '../../src/verdict/complaint.ts'
import { decide, isUnwanted } from '../../src/verdict/verdict.ts'
import { factDefinitions, type FactsInput, factsOf } from '../../src/verdict/facts/facts.ts'
import { compileRules } from '../../src/verdict/rules/rule-book.ts'
import { faultLine } from '../../src/verdict/rules/rule-file.ts'
import { isRelayed, subjectsOf } from '../../src/verdict/subjects.ts'
import { percentiles, printTable, readCorpus, variantOf } from './corpus.ts'
import { cpuSeconds, endOf, serverCpuSeconds, startInstance, type Instance } from './instance.ts'
import { postAll, type Posted } from './load.ts'
import type { Arrival } from './sink.ts'

const { originConfidenceMin } = readConfig({}, { cores: 1, cwd: '/' })
const compiled = compileRules(shippedRules(), factDefinitions)
if ('faults' in compiled) throw new Error(compiled.faults.map(faultLine).join('\n'))
const { rules } = compiled

type Pace = { connections: number } | { rate: number }
export type Measured = {
  name: string
  perSecond: number
  postToAnswer: ReturnType<typeof percentiles>
  postToArf: ReturnType<typeof percentiles>
  /** Microseconds per report. */
  cpu: Record<string, number>
}
export type Sink = {
  child: ChildProcess
  port: number
  /** The time at which the first mail about each report arrived. */
  arrivals: Map<string, number>
  /** How many mails arrived; more than `arrivals` if some arrived twice. */
  mails: () => number
}
/** An instance with its measured processes by name, and the sink to which it sends. */
export type Stage = {
  instance: Instance
  sink: Sink
  processes: Record<string, readonly ChildProcess[]>
}

const REPORTS = 8_000
const CONNECTIONS = 16
const SIGNAL_SPAM_PEAK = 17
const PEAK_SECONDS = 60
const WAIT_MS = 300_000

/**
 * Measures reports per second from the POST to the ARF accepted by a mail server, with everything
 * on this machine: the client, `web`, `work`, `count`, PostgreSQL and the sink. Then repeats the
 * measurement at 17 reports per second. Before that, waits until the search index contains the
 * earlier reports, and measures what this takes. The messages are those of the corpus that are
 * unwanted after one report and have a network to notify, so each POST leads to one ARF.
 */
export async function benchPipeline(): Promise<void> {
  const fresh = variantsOf(await readForwardable())
  const instance = await startInstance()
  const sink = await startSink()
  try {
    const stage = await startStage(instance, sink)
    const flood = { connections: CONNECTIONS }
    await measure('warm-up', fresh(1_000), flood, stage)
    print(await measure('as fast as possible', fresh(REPORTS), flood, stage))
    console.log(`\nSearch index: CPU per report ${perPart(await measureIndexing(stage))}`)
    const peak = fresh(SIGNAL_SPAM_PEAK * PEAK_SECONDS)
    print(await measure(`${SIGNAL_SPAM_PEAK} a second`, peak, { rate: SIGNAL_SPAM_PEAK }, stage))
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}

/** Starts one process of each part that a report passes through. */
export async function startStage(instance: Instance, sink: Sink): Promise<Stage> {
  const processes = {
    web: [await instance.run('web')],
    work: [await instance.run('work', sendingTo(sink, instance))],
    count: [await instance.run('count')],
  }
  return { instance, sink, processes }
}

/** The messages of the corpus whose report leads to one ARF. */
export function readForwardable(): Promise<Buffer[]> {
  return forwardable(readCorpus(['phishing', 'newsletters', 'spam', 'ham']))
}

/** Returns a function that makes messages, each different from all others. */
export function variantsOf(messages: readonly Buffer[]): (reports: number) => Buffer[] {
  let number = 0
  return (reports) =>
    Array.from({ length: reports }, () => {
      number++
      return variantOf(messages[number % messages.length] ?? Buffer.alloc(0), number)
    })
}

/** The environment of a worker that sends signed mail to the sink without a limit. */
export function sendingTo({ port }: Sink, { signing }: Instance): NodeJS.ProcessEnv {
  return {
    ...signing,
    SMTP_URL: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
    FEEDBACK_HOURLY_MAX: '1000000',
  }
}

/** Starts a sink and collects its mails. */
export async function startSink(): Promise<Sink> {
  const child = fork(path.join(import.meta.dirname, 'sink.ts'))
  const arrivals = new Map<string, number>()
  let mails = 0
  return new Promise((resolve) => {
    child.on('message', (told: { port?: number; arrivals?: Arrival[] }) => {
      for (const { id, at } of told.arrivals ?? []) {
        mails++
        if (!arrivals.has(id)) arrivals.set(id, at)
      }
      if (told.port !== undefined) resolve({ child, port: told.port, arrivals, mails: () => mails })
    })
  })
}

/** Returns the messages whose report leads to feedback if every network is known. */
async function forwardable(messages: readonly Buffer[]): Promise<Buffer[]> {
  const owed = await Promise.all(
    messages.map(async (raw) => {
      const options = { trustedRelays: [], ignoreStamps: false }
      const { analysis, features } = await analyzeForCounting(raw, options)
      const { origin, kind } = analysis
      const first = Number(origin?.ip.split(/[.:]/)[0])
      const isKnown = origin?.ip.includes(':') ? /^[23]/.test(origin.ip) : first < 224
      const isSure = (origin?.confidence ?? 0) >= originConfidenceMin
      const subjects = subjectsOf({ ...analysis, telephones: [] }, { originConfidenceMin })
      return kind === 'message' && isSure && isKnown && isForwarded(features, isRelayed(subjects))
    }),
  )
  return messages.filter((_, index) => owed[index])
}

/** Whether the report of a trusted reporter is forwarded without a question or other evidence. */
function isForwarded(features: FactsInput['features'], isRelayed: boolean): boolean {
  const report = { kind: 'spam', karma: 1, channel: 'api' } as const
  const facts = factsOf({ features, report, now: new Date() })
  const verdict = decide({ facts, symbols: rules.run(facts) })
  const stated = { kind: 'spam', isConfirmed: false } as const
  const complaint = complaintOf({ ...stated, isResolved: false }, { verdict, facts, isRelayed })
  return isUnwanted(verdict) && doubtOf(complaint) === undefined
}

/** Posts reports and waits until each has led to an ARF at the sink. */
export async function measure(
  name: string,
  messages: readonly Buffer[],
  pace: Pace,
  stage: Stage,
): Promise<Measured> {
  const { sink } = stage
  const before = await cpuOf(stage)
  const posted = await postAccepted(messages, stage.instance, pace)
  await untilArrived(posted, sink)
  const after = await cpuOf(stage)
  const arrivedAt = ({ id }: Posted) => sink.arrivals.get(id) ?? Number.NaN
  const first = Math.min(...posted.map(({ startedAt }) => startedAt))
  const last = Math.max(...posted.map(arrivedAt))
  return {
    name,
    perSecond: (posted.length * 1000) / (last - first),
    postToAnswer: percentiles(posted.map(({ ms }) => ms)),
    postToArf: percentiles(posted.map((one) => arrivedAt(one) - one.startedAt)),
    cpu: cpuPerReport(before, after, posted.length),
  }
}

/** Posts reports; throws if one is not accepted. */
export async function postAccepted(
  messages: readonly Buffer[],
  { httpUrl, token }: Instance,
  pace: Pace,
): Promise<Posted[]> {
  const posted = await postAll(messages, { url: httpUrl, token }, pace)
  const refused = posted.filter(({ status }) => status !== 202)
  if (refused.length > 0) throw new Error(`${refused.length} posts were not accepted`)
  return posted
}

/** Waits until each report has led to a mail; throws after five minutes. */
export async function untilArrived(posted: readonly Posted[], sink: Sink): Promise<void> {
  const patience = performance.now() + WAIT_MS
  while (posted.some(({ id }) => !sink.arrivals.has(id))) {
    if (performance.now() > patience) {
      const missing = posted.filter(({ id }) => !sink.arrivals.has(id))
      throw new Error(`${missing.length} reports led to no ARF, for example ${missing[0]?.id}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Measures writing the search index, until it contains all reports. */
async function measureIndexing(stage: Stage): Promise<Record<string, number>> {
  const { pool } = stage.instance
  const countIndexed = async () => {
    const { rows } = await pool.query<{ reports: number }>(
      'select count(*) as reports from report_terms',
    )
    return rows[0]?.reports ?? 0
  }
  const [before, indexed] = [await cpuOf(stage), await countIndexed()]
  await untilIndexed(stage.instance)
  return cpuPerReport(before, await cpuOf(stage), (await countIndexed()) - indexed)
}

/** Waits until the search index contains all reports; throws after five minutes. */
export async function untilIndexed({ pool }: Instance): Promise<void> {
  const patience = performance.now() + WAIT_MS
  for (;;) {
    const { rows } = await pool.query<{ waits: boolean }>(
      'select exists(select from report_news) or exists(select from search_news) as waits',
    )
    if (rows[0]?.waits !== true) return
    if (performance.now() > patience) throw new Error('The search index was not written.')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

/** Seconds of CPU of the measured processes, the database, the sink and the client so far. */
export async function cpuOf({ instance, sink, processes }: Stage): Promise<Record<string, number>> {
  const parts = await Promise.all(
    Object.entries({ ...processes, sink: [sink.child] }).map(async ([name, its]) => {
      const seconds = await Promise.all(its.map(({ pid = 0 }) => cpuSeconds(pid)))
      return [name, seconds.reduce((sum, one) => sum + one, 0)] as const
    }),
  )
  const { user, system } = process.cpuUsage()
  return {
    ...Object.fromEntries(parts),
    database: await serverCpuSeconds(instance.server),
    client: (user + system) / 1e6,
  }
}

/** Microseconds of CPU per report between two calls of `cpuOf`. */
export function cpuPerReport(
  before: Record<string, number>,
  after: Record<string, number>,
  reports: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([part, seconds]) => [
      part,
      ((seconds - (before[part] ?? 0)) / reports) * 1e6,
    ]),
  )
}

function print({ name, perSecond, postToAnswer, postToArf, cpu }: Measured): void {
  const ms = (value: number) => `${value.toFixed(0)} ms`
  console.log('')
  printTable(
    [`bench pipeline, ${name}`, 'p50', 'p99', 'max'],
    [
      ['POST to 202', ms(postToAnswer.p50), ms(postToAnswer.p99), ms(postToAnswer.max)],
      ['POST to ARF accepted', ms(postToArf.p50), ms(postToArf.p99), ms(postToArf.max)],
    ],
  )
  console.log(`\n${perSecond.toFixed(1)} reports/s; CPU per report ${perPart(cpu)}`)
}

function perPart(cpu: Record<string, number>): string {
  const micro = (value: number) => `${Math.round(value)} µs`
  const total = Object.values(cpu).reduce((sum, one) => sum + one, 0)
  const parts = Object.entries(cpu).map(([part, value]) => `${part} ${micro(value)}`)
  return `${micro(total)}:\n${parts.join(', ')}`
}
