import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { ReadCounterHealth } from '../counting/run-roll-ups.ts'
import { REPORTS } from '../db/counter-rows.ts'
import type { Pool } from '../db/pool.ts'
import type { Channel } from '../db/reports.ts'
import { listRuleProcesses, newestRuleVersion } from '../db/rule-sets.ts'
import type { ReadHealth } from '../health/read-health.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../judging/live-rules.ts'
import type { Health } from '../verdict/choose-contact.ts'
import { type Clock, inTime } from '../world.ts'
import type { Outage } from '../outage/outage.ts'
import type { Spool } from '../outage/spool.ts'
import type { MailNow, ReadMail, ReadQueues } from './read-backlogs.ts'

function createRegistry(prefix: string) {
  const registry = new Registry()
  const common = { registers: [registry] }
  return {
    registry,
    gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge<Label>({ name: `${prefix}_${name}`, help, labelNames, ...common }),
    total: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter<Label>({ name: `${prefix}_${name}_total`, help, labelNames, ...common }),
  }
}

/**
 * Composes metrics in the Prometheus text format. Those from the database have registries of their
 * own, and reject if it cannot be read.
 */
type MetricsText = () => Promise<string>

export function createCounterMetrics(readCounters: ReadCounterHealth): MetricsText {
  const { registry, gauge, total } = createRegistry('signalpost_counts')
  const totals = {
    deltas: total('deltas', 'Increments rolled up since the database was created.'),
    passed: total('gate_passed', 'Keys that the gates gave a counter.'),
    heldBack: total('gate_held_back', 'Sightings of keys that the gates held back.'),
    turnovers: total('gate_turnovers', 'Generations of gate filters that ended.'),
  }
  const mistaken = 'Share of new keys mistaken for known ones: mean and worst shard.'
  const gates = {
    falsePositives: gauge('gate_false_positive_rate', mistaken, 'of'),
    fill: gauge('gate_fill_ratio', 'Fill level of the gates: mean and worst shard.', 'of'),
  }
  const began = 'Start of the gate generation, in Unix time.'
  const beganAt = gauge('gate_generation_start_seconds', began, 'shard')
  const gateBytes = gauge('gate_memory_bytes', 'Memory used by the gates.')
  const waiting = {
    rows: gauge('backlog_rows', 'Packed rows of increments waiting for the roll-up.', 'shard'),
    bytes: gauge('backlog_bytes', 'Bytes of increments waiting for the roll-up.', 'shard'),
    oldestSeconds: gauge(
      'backlog_oldest_seconds',
      'Age of the oldest waiting increments.',
      'shard',
    ),
  }
  const tables = gauge('table_bytes', 'Size on disk, with partitions and indexes.', 'table')

  return async () => {
    const { shards, backlogs, gateBytes: bytes, tables: measured } = await readCounters()
    registry.resetMetrics()
    for (const shard of shards) {
      for (const [name, one] of entriesOf(totals)) one.inc(shard[name])
      const labels = { shard: String(shard.shard) }
      if (shard.gate) beganAt.set(labels, shard.gate.beganAt.getTime() / 1_000)
    }
    for (const shard of [...shards.map((one) => one.shard), REPORTS]) {
      const backlog = backlogs.find((one) => one.shard === shard)
      const labels = { shard: shard === REPORTS ? 'reports' : String(shard) }
      for (const [name, one] of entriesOf(waiting)) one.set(labels, backlog?.[name] ?? 0)
    }
    const present = shards.flatMap(({ gate }) => gate ?? [])
    for (const [name, one] of entriesOf(gates)) {
      const values = present.map((gate) => gate[name])
      if (values.length === 0) continue
      one.set({ of: 'mean' }, values.reduce((sum, value) => sum + value, 0) / values.length)
      one.set({ of: 'worst' }, Math.max(...values))
    }
    gateBytes.set(bytes)
    for (const { table, bytes: size } of measured) tables.set({ table }, size)
    return registry.metrics()
  }
}

function entriesOf<Name extends string, T>(record: Record<Name, T>): [Name, T][] {
  return Object.entries(record) as [Name, T][]
}

export function createMailMetrics(readMail: ReadMail, clock: Clock): MetricsText {
  return async () => textOf(await readMail(), clock())
}

async function textOf({ relay, totals, waiting, refused }: MailNow, now: Date): Promise<string> {
  const { registry, gauge, total } = createRegistry('signalpost')
  const ended = total('mail', 'Mails sent by us, by kind and result.', 'kind', 'outcome')
  const kinds = ['feedback', 'letter'] as const
  for (const kind of kinds) {
    for (const outcome of ['sent', 'refused', 'bounced'] as const) {
      const its = totals.find((one) => one.kind === kind && one.outcome === outcome)
      ended.inc({ kind, outcome }, its?.total ?? 0)
    }
  }
  const help = 'Mails not sent yet: queued, waiting for a limit, held or refused.'
  const unsent = gauge('mail_unsent', help, 'kind', 'state')
  for (const kind of kinds) {
    for (const state of ['queued', 'waiting', 'held'] as const) {
      const its = waiting.find((one) => one.kind === kind && one.state === state)
      unsent.set({ kind, state }, its?.mails ?? 0)
    }
    unsent.set({ kind, state: 'refused' }, refused[kind])
  }
  const since = gauge(
    'mail_relay_refusing_seconds',
    'Seconds for which our own mail server has accepted no mail; 0 while it does.',
  )
  const refusedMs = relay.refusedSince ? now.getTime() - relay.refusedSince.getTime() : 0
  since.set(Math.max(0, refusedMs) / 1000)
  return registry.metrics()
}

/** Composes the metrics of outages of the database, also while it is away. */
export function createSpoolMetrics(
  { outage, spool }: { outage: Outage; spool: Spool },
  clock: Clock,
): MetricsText {
  const { registry, gauge } = createRegistry('signalpost')
  const away = gauge('database_away_seconds', 'Duration of the outage of the database; 0: none.')
  const bytes = gauge('spool_bytes', 'Size of the reports on disk that wait for the database.')
  const oldest = gauge('spool_oldest_seconds', 'Age of the oldest report on disk; 0: none.')
  const unstorable = gauge('spool_unstorable_files', 'Files of the spool that were not stored.')
  return async () => {
    const state = await spool.state()
    const secondsSince = (at: Date | null | undefined) =>
      at ? Math.max(0, clock().getTime() - at.getTime()) / 1_000 : 0
    away.set(secondsSince(outage.since()))
    bytes.set(state.bytes)
    oldest.set(secondsSince(state.oldestAt))
    unstorable.set(state.unstorable)
    return registry.metrics()
  }
}

/**
 * Composes the health of the rules in every process that judges. Each process stores its data every
 * ten seconds.
 */
export function createRuleMetrics(app: { pool: Pool; clock: Clock }): MetricsText {
  const { registry, gauge, total } = createRegistry('signalpost_rules')
  const newestHelp = 'The version of the rules that should be active; 0 is the shipped version.'
  const newest = gauge('newest_version', newestHelp)
  const versionHelp = 'The version of the rules that is active in a process.'
  const version = gauge('version', versionHelp, 'process', 'id')
  const refusedHelp = '1 if a process cannot run the newest rules.'
  const refused = gauge('refused', refusedHelp, 'process', 'id')
  const cutOffHelp = 'Rules that were switched off because they are too slow.'
  const cutOff = gauge('cut_off', cutOffHelp, 'process', 'id')
  const errorsHelp = 'Failed evaluations, which count as not matched, of the active version.'
  const errors = total('errors', errorsHelp, 'process', 'id')
  return async () => {
    const since = new Date(app.clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
    const [newestVersion, processes] = await Promise.all([
      newestRuleVersion(app.pool),
      listRuleProcesses(app.pool, since),
    ])
    registry.resetMetrics()
    newest.set(newestVersion)
    for (const one of processes) {
      // The first part of a UUID is its time, so the last part distinguishes processes started
      // together.
      const labels = { process: one.name, id: one.id.slice(-12) }
      version.set(labels, one.version)
      refused.set(labels, one.fault === null ? 0 : 1)
      cutOff.set(labels, one.health.filter((rule) => rule.cutOff).length)
      errors.inc(
        labels,
        one.health.reduce((sum, rule) => sum + rule.errors, 0),
      )
    }
    return registry.metrics()
  }
}

/** What is known for certain when the health cannot be read. */
const silentDatabase = [{ code: 'database', level: 'critical' }] as const

/**
 * Composes the conditions of health, one series for each level worse than `ok`. While the database
 * does not answer in time, the condition `database` is critical, and the others are as last read.
 */
export function createHealthMetrics(readHealth: ReadHealth): MetricsText {
  const { registry, gauge } = createRegistry('signalpost')
  const help = '1 if a condition of health has the level, otherwise 0.'
  const level = gauge('condition', help, 'condition', 'level')
  return async () => {
    const health = await inTime(
      readHealth().catch(() => undefined),
      ANSWER_MS,
      undefined,
    )
    for (const condition of health?.conditions ?? silentDatabase) {
      for (const one of ['unknown', 'warning', 'critical'] as const) {
        level.set({ condition: condition.code, level: one }, condition.level === one ? 1 : 0)
      }
    }
    return registry.metrics()
  }
}

export type IntakeMetrics = {
  count: (channel: Channel, outcome: 'accepted' | 'changed' | 'repeat' | 'refused') => void
}

export type Metrics = {
  intake: IntakeMetrics
  /**
   * Express middleware that measures every request under its route pattern, never under its URL.
   */
  requests: RequestHandler
  /** All metrics in the Prometheus text format, with current queue data. */
  text: () => Promise<{ contentType: string; body: string }>
}

export type CountConsumers = () => Promise<readonly { health: Health; consumers: number }[]>

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Metrics of the library with names that promtool rejects; other metrics contain the same data. */
const misnamed = [
  ...['nodejs_active_handles_total', 'nodejs_active_requests_total'],
  ...['nodejs_active_resources_total', 'nodejs_eventloop_utilization_histogram'],
  'nodejs_eventloop_utilization_summary',
]

/**
 * Longer than a process lives, so that the library starts no timer for the metrics removed below.
 */
const NEVER_MS = 2 ** 31 - 1
/**
 * Interval in milliseconds of measuring the delay of the event loop; the measured values include
 * it. The library's 10 ms would wake an idle process 100 times a second.
 */
const LOOP_DELAY_MS = 100

let ofProcess: Registry | undefined

/**
 * The library's metrics of this process, which its servers share. They are collected from the first
 * request for them on, because collecting them wakes an idle process.
 */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({
    register: ofProcess,
    eventLoopUtilizationTimeout: NEVER_MS,
    eventLoopMonitoringPrecision: LOOP_DELAY_MS,
  })
  for (const name of misnamed) ofProcess.removeSingleMetric(name)
  return ofProcess
}

/** Maximum time in milliseconds to wait for the database. */
const ANSWER_MS = 1_500

/** Metrics as last composed, and when; `isNew` if that was for this request. */
type LastText = { text: string; at: Date | undefined; isNew: boolean }

/**
 * Returns the metrics of the database, or, if it does not answer in time, the last ones. One
 * request at a time waits for the database.
 */
function keepLast(compose: MetricsText, clock: Clock): () => Promise<LastText> {
  let last = { text: '', at: undefined as Date | undefined }
  let composing: Promise<boolean> | undefined
  const composeNew = async () => {
    last = { text: await compose(), at: clock() }
    return true
  }
  return async () => {
    composing ??= composeNew()
      .catch(() => false)
      .finally(() => (composing = undefined))
    const isNew = await inTime(composing, ANSWER_MS, false)
    return { ...last, isNew }
  }
}

/** The texts of one server besides its own registry. */
type OtherMetrics = {
  /** Composed in this process, also while the database is away. */
  own: readonly MetricsText[]
  /** Read from the database. While it does not answer, the last ones are repeated. */
  fromDatabase: readonly MetricsText[]
}

export function createMetrics({ own, fromDatabase }: OtherMetrics, clock: Clock): Metrics {
  const { registry, gauge, total } = createRegistry('signalpost')
  const ageHelp = 'Age of the metrics from the database, repeated while it is silent; 0: new.'
  const age = gauge('database_metrics_age_seconds', ageHelp)
  const kept = fromDatabase.map((compose) => keepLast(compose, clock))
  const outcomes = 'Reported messages by channel and result.'
  const intake = total('intake_messages', outcomes, 'channel', 'outcome')
  const requests = new Histogram({
    name: 'signalpost_http_request_seconds',
    help: 'Time from the end of the request header to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: seconds,
    registers: [registry],
  })
  return {
    intake: { count: (channel, outcome) => intake.inc({ channel, outcome }) },
    requests: timed((method, route, status, took) =>
      requests.observe({ method, route, status }, took),
    ),
    async text() {
      const [others, lasts] = await Promise.all([
        Promise.all(own.map((compose) => compose())),
        Promise.all(kept.map((read) => read())),
      ])
      const now = clock().getTime()
      const agesMs = lasts.map(({ isNew, at }) => (isNew || !at ? 0 : now - at.getTime()))
      age.set(Math.max(0, ...agesMs) / 1_000)
      const first = await Promise.all([processMetrics().metrics(), registry.metrics()])
      const body = [...first, ...others, ...lasts.map(({ text }) => text)].join('\n')
      return { contentType: registry.contentType, body }
    },
  }
}

export function createConsumerMetrics(countConsumers: CountConsumers): MetricsText {
  const { registry, gauge } = createRegistry('signalpost')
  const consumers = gauge('consumers', 'Consumers by the state of their address.', 'health')
  return async () => {
    const counted = await countConsumers()
    consumers.reset()
    for (const one of counted) consumers.set({ health: one.health }, one.consumers)
    return registry.metrics()
  }
}

export function createQueueMetrics(readQueues: ReadQueues): MetricsText {
  const { registry, gauge } = createRegistry('signalpost')
  const jobs = gauge('queue_jobs', 'Jobs by queue and state.', 'queue', 'state')
  const oldestHelp = 'Age of the oldest unfinished job since it was first due.'
  const oldest = gauge('queue_oldest_job_seconds', oldestHelp, 'queue')
  const waitingHelp = 'Seconds that the oldest ready job has been waiting for a worker.'
  const waiting = gauge('queue_longest_wait_seconds', waitingHelp, 'queue')
  const paused = gauge('queue_paused', '1 if operators paused the queue.', 'queue')
  return async () => {
    const queues = await readQueues()
    for (const one of [jobs, oldest, waiting, paused]) one.reset()
    for (const queue of queues) {
      for (const state of ['ready', 'active', 'deferred', 'failed'] as const) {
        jobs.set({ queue: queue.name, state }, queue[state])
      }
      oldest.set({ queue: queue.name }, queue.oldestJobSeconds)
      waiting.set({ queue: queue.name }, queue.longestWaitSeconds)
      paused.set({ queue: queue.name }, queue.isPaused ? 1 : 0)
    }
    return registry.metrics()
  }
}

type Observe = (method: string, route: string, status: string, took: number) => void

function timed(observe: Observe): RequestHandler {
  return (req: Request, res: Response, next: NextFunction) => {
    const start = performance.now()
    res.once('finish', () => {
      const took = (performance.now() - start) / 1000
      observe(req.method, routeOf(req), String(res.statusCode), took)
    })
    next()
  }
}

/** The route pattern, such as `/api/v1/reports/:id`, never the actual path. */
export function routeOf(req: Request): string {
  const route: unknown = req.route
  if (typeof route !== 'object' || route === null || !('path' in route)) return 'none'
  return typeof route.path === 'string' ? `${req.baseUrl}${route.path}` : 'none'
}
