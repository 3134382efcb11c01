import { parseArgs } from 'node:util'
import { runAction } from '../../src/actions.ts'
import { findContact, forwardReport } from '../../src/feedback/queues.ts'
import { demoteWaiting } from '../../src/queue/redrive.ts'
import { analyzeReport } from '../../src/reports/queues.ts'
import { loadOf, percentiles, printTable } from './corpus.ts'
import { endOf, type Instance, manyConnections, startInstance } from './instance.ts'
import type { Posted } from './load.ts'
import {
  cpuOf,
  cpuPerReport,
  postAccepted,
  readForwardable,
  sendingTo,
  type Sink,
  startSink,
  untilArrived,
  variantsOf,
} from './pipeline.ts'

const CONNECTIONS = 16
/** Messages made in advance; all 122,400 would need 2.4 GB. */
const POSTED_AT_ONCE = 2_000
/** Time between two new reports, in milliseconds. */
const NEW_REPORT_MS = 1_000
/**
 * Time without any mail after which a report counts as lost. It is longer than the lease of 15
 * minutes after which a mail that was slow to compose is tried again.
 */
const STALLED_MS = 1_200_000
/** Time after which jobs that are still there cannot be about to send a mail twice. */
const QUIET_MS_MAX = 120_000

const orders = ['oldest first', 'new first'] as const
type Order = (typeof orders)[number]
type Drained = {
  workers: number
  order: Order
  perSecond: number
  seconds: number
  /** Microseconds per report. */
  cpu: Record<string, number>
  /** Reports that were posted during the drain. */
  young: number
  youngToArf: ReturnType<typeof percentiles>
  /** Mails beyond one for each report. */
  duplicates: number
}

/**
 * Measures how fast workers drain the reports that were accepted while none ran, and how long a new
 * report waits meanwhile: once in the usual order, once after `queue demote`. Each number of
 * workers and each order gets a fresh instance. Fails unless each report leads to exactly one ARF.
 */
export async function benchBacklog(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      reports: { type: 'string', default: '122400' },
      workers: { type: 'string', default: '1,2,4' },
      orders: { type: 'string', default: 'oldest first,new first' },
    },
  })
  const messages = await readForwardable()
  console.log(`load before: ${loadOf()}`)
  const all: Drained[] = []
  try {
    for (const workers of values.workers.split(',').map(Number)) {
      for (const order of values.orders.split(',').map(asOrder)) {
        const drained = await drain(messages, { workers, order, reports: Number(values.reports) })
        all.push(drained)
        console.log(`work × ${workers}, ${order}: ${drained.perSecond.toFixed(1)} reports/s`)
      }
    }
  } finally {
    console.log(`load after: ${loadOf()}\n`)
    print(all, values.reports)
  }
  const duplicates = all.reduce((sum, one) => sum + one.duplicates, 0)
  if (duplicates > 0) throw new Error(`${duplicates} mails arrived twice`)
}

function asOrder(text: string): Order {
  const order = orders.find((one) => one === text)
  if (order === undefined) throw new Error(`--orders lists: ${orders.join(', ')}`)
  return order
}

async function drain(
  messages: readonly Buffer[],
  { workers, order, reports }: { workers: number; order: Order; reports: number },
): Promise<Drained> {
  const instance = await startInstance(manyConnections)
  const sink = await startSink()
  try {
    const fresh = variantsOf(messages)
    const processes = { web: [await instance.run('web')], count: [await instance.run('count')] }
    const old: Posted[] = []
    while (old.length < reports) {
      const some = fresh(Math.min(POSTED_AT_ONCE, reports - old.length))
      old.push(...(await postAccepted(some, instance, { connections: CONNECTIONS })))
    }
    if (order === 'new first') await demote(instance)
    const before = await cpuOf({ instance, sink, processes })
    const start = now()
    const work = await Promise.all(
      Array.from({ length: workers }, () => instance.run('work', sendingTo(sink, instance))),
    )
    const young = await postWhile(old, () => fresh(1), instance, sink)
    await untilArrived(young, sink)
    const after = await cpuOf({ instance, sink, processes: { ...processes, work } })
    await untilQuiet(instance)
    const arrivedAt = ({ id }: Posted) => sink.arrivals.get(id) ?? Number.NaN
    const end = old.reduce((last, one) => Math.max(last, arrivedAt(one)), start)
    const early = young.filter((one) => arrivedAt(one) <= end)
    return {
      ...{ workers, order },
      perSecond: ((old.length + early.length) * 1000) / (end - start),
      seconds: (end - start) / 1000,
      cpu: cpuPerReport(before, after, old.length + young.length),
      young: young.length,
      youngToArf: percentiles(young.map((one) => arrivedAt(one) - one.startedAt)),
      duplicates: sink.mails() - old.length - young.length,
    }
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}

async function demote({ pool }: Instance): Promise<void> {
  const app = { pool, clock: () => new Date(), config: { needsFourEyes: false } }
  const start = now()
  await runAction(demoteWaiting, { queue: analyzeReport.name }, app, null)
  console.log(`queue demote: ${((now() - start) / 1000).toFixed(1)} s`)
}

/** Posts a report each second until all old reports have led to a mail. */
async function postWhile(
  old: readonly Posted[],
  fresh: () => Buffer[],
  instance: Instance,
  sink: Sink,
): Promise<Posted[]> {
  const young: Posted[] = []
  let missing = old
  let movedAt = now()
  while (missing.length > 0) {
    const due = now() + NEW_REPORT_MS
    young.push(...(await postAccepted(fresh(), instance, { connections: 1 })))
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - now())))
    const left = missing.filter(({ id }) => !sink.arrivals.has(id))
    if (left.length < missing.length) movedAt = now()
    if (now() - movedAt > STALLED_MS) throw new Error(`${left.length} reports led to no ARF`)
    missing = left
  }
  return young
}

/** Waits until no job is left that could send a mail a second time. */
async function untilQuiet({ pool }: Instance): Promise<void> {
  const names = [analyzeReport, findContact, forwardReport].map(({ name }) => name)
  const patience = now() + QUIET_MS_MAX
  for (let jobs = 1; jobs > 0 && now() < patience;) {
    await new Promise((resolve) => setTimeout(resolve, NEW_REPORT_MS))
    const { rows } = await pool.query<{ jobs: number }>(
      `select count(*)::int as jobs from pgboss.job
       where name = any($1) and state <= 'active'`,
      [names],
    )
    jobs = rows[0]?.jobs ?? 0
  }
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

function print(all: readonly Drained[], reports: string): void {
  const parts = Object.keys(all[0]?.cpu ?? {})
  const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`
  printTable(
    [
      `bench backlog, ${reports} reports: workers, order`,
      ...['reports/s', 'time', 'CPU per report, µs', ...parts],
      ...['new reports', 'POST to ARF p50', 'p99', 'duplicates'],
    ],
    all.map((one) => {
      const { cpu, youngToArf } = one
      const total = Object.values(cpu).reduce((sum, value) => sum + value, 0)
      return [
        `${one.workers}, ${one.order}`,
        ...[one.perSecond.toFixed(1), `${one.seconds.toFixed(0)} s`],
        ...[total, ...parts.map((part) => cpu[part] ?? 0)].map((value) => value.toFixed(0)),
        ...[String(one.young), seconds(youngToArf.p50), seconds(youngToArf.p99)],
        String(one.duplicates),
      ]
    }),
  )
}
