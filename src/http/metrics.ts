import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { ReadCounterHealth } from '../counters/counter-health.ts'
import type { Channel } from '../db/reports.ts'
import type { Health } from '../verdict/contact-health.ts'
import { createCounterMetrics } from './metrics/counter-metrics.ts'
import type { QueueState, ReadQueues } from './queues-now.ts'

/** Counts what intake did with each message. */
export type IntakeMetrics = {
  count: (channel: Channel, outcome: 'accepted' | 'changed' | 'repeat' | 'refused') => void
}

/** What one web process measures. */
export type Metrics = {
  intake: IntakeMetrics
  /** Express middleware that times every request, by route and never by address. */
  requests: RequestHandler
  /** Everything in the Prometheus text format, the queues read anew. */
  text: () => Promise<{ contentType: string; body: string }>
}

/** Counts the consumers in each health, as the database has them now. */
export type CountConsumers = () => Promise<readonly { health: Health; consumers: number }[]>

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Metrics of the library whose names promtool refuses; other ones tell the same. */
const misnamed = [
  ...['nodejs_active_handles_total', 'nodejs_active_requests_total'],
  ...['nodejs_active_resources_total', 'nodejs_eventloop_utilization_histogram'],
  'nodejs_eventloop_utilization_summary',
]

/**
 * A registry of its own for each server; what cannot be read from the database is left out. The
 * `others` give the text of registries that stand elsewhere.
 */
export function createMetrics(
  readQueues: ReadQueues,
  countConsumers: CountConsumers,
  readCounters: ReadCounterHealth,
  others: readonly (() => Promise<string>)[],
): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const registers = [registry]
  const intake = new Counter({
    name: 'signalpost_intake_messages_total',
    help: 'Reported messages by channel and by what became of them.',
    labelNames: ['channel', 'outcome'],
    registers,
  })
  const requests = new Histogram({
    name: 'signalpost_http_request_seconds',
    help: 'Time from the end of the request header to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: seconds,
    registers,
  })
  const consumersByHealth = new Gauge({
    name: 'signalpost_consumers',
    help: 'Addresses we have feedback for, by whether their mail comes back.',
    labelNames: ['health'],
    registers,
  })
  const showQueues = queueGauges(registers)
  const counterMetrics = createCounterMetrics()
  return {
    intake: { count: (channel, outcome) => intake.inc({ channel, outcome }) },
    requests: timed((method, route, status, took) =>
      requests.observe({ method, route, status }, took),
    ),
    async text() {
      const counted = countConsumers().catch(() => [])
      const counters = readCounters().catch(() => undefined)
      showQueues(await readQueues().catch(() => []))
      consumersByHealth.reset()
      for (const { health, consumers } of await counted)
        consumersByHealth.set({ health }, consumers)
      const health = await counters
      const counterText = health ? await counterMetrics(health) : ''
      const texts = await Promise.all(others.map((text) => text()))
      const body = [await registry.metrics(), ...texts, counterText].join('\n')
      return { contentType: registry.contentType, body }
    },
  }
}

function queueGauges(registers: Registry[]): (queues: readonly QueueState[]) => void {
  const gauge = (name: string, help: string, labels: readonly string[]) =>
    new Gauge({ name, help, labelNames: [...labels], registers })
  const jobs = gauge('signalpost_queue_jobs', 'Jobs by queue and state.', ['queue', 'state'])
  const oldest = gauge(
    'signalpost_queue_oldest_job_seconds',
    'Age of the oldest unfinished job since it was first due.',
    ['queue'],
  )
  const waiting = gauge(
    'signalpost_queue_longest_wait_seconds',
    'How long the first job in line has been waiting for a worker.',
    ['queue'],
  )
  return (queues) => {
    for (const gauge of [jobs, oldest, waiting]) gauge.reset()
    for (const queue of queues) {
      for (const state of ['ready', 'active', 'deferred', 'failed'] as const) {
        jobs.set({ queue: queue.name, state }, queue[state])
      }
      oldest.set({ queue: queue.name }, queue.oldestJobSeconds)
      waiting.set({ queue: queue.name }, queue.longestWaitSeconds)
    }
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

/** The pattern that matched, such as `/api/v1/reports/:id`: never the address itself. */
function routeOf(req: Request): string {
  const route: unknown = req.route
  if (typeof route !== 'object' || route === null || !('path' in route)) return 'none'
  return typeof route.path === 'string' ? `${req.baseUrl}${route.path}` : 'none'
}
