import { hash } from 'node:crypto'
import {
  spans as ownSpans,
  type Attributes,
  type createSpans,
  type Span,
} from '../activity/spans.ts'
import type { Config } from '../config.ts'
import { forLog, reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { callOperator } from '../net/operator-http.ts'
import { type Clock, inTime, systemRandom } from '../world.ts'

const EVERY_MS = 3_000
const SPANS_AT_ONCE = 512
const LAST_MS = 2_000
const WARNED_MS = 60_000

/** The spans to send, and the time in milliseconds for the last ones when the process stops. */
type Collected = { spans: ReturnType<typeof createSpans>; lastMs: number }
type Needs = { config: Pick<Config, 'traces'>; log: Pick<Logger, 'warn'>; clock: Clock }

/**
 * Sends the spans of this process every three seconds to an OpenTelemetry collector (OTLP over
 * HTTP, as JSON). Does nothing without the setting. A batch that cannot be sent is dropped: traces
 * may have gaps, but cost no report any time.
 */
export function exportSpans(
  name: string,
  { config: { traces }, log, clock }: Needs,
  { spans = ownSpans, lastMs = LAST_MS }: Partial<Collected> = {},
): { close: () => Promise<void> } {
  if (!traces) return { close: () => Promise.resolve() }
  const { url, headers, ratio } = traces
  spans.turnOn((reportId) => isChosen(reportId, ratio))
  let warnedAt = Number.NEGATIVE_INFINITY
  async function sendWaiting(): Promise<void> {
    for (let batch = next(); batch.length > 0; batch = next()) {
      try {
        const body = JSON.stringify(composeTraces(name, batch, clock()))
        await callOperator(url, {
          body,
          headers: { ...headers, 'content-type': 'application/json' },
        })
      } catch (error) {
        spans.drop(batch.length)
        if (performance.now() - warnedAt < WARNED_MS) continue
        warnedAt = performance.now()
        const facts = { reason: forLog(reasonOf(error)), dropped: spans.dropped() }
        log.warn(facts, 'Could not send traces to OTEL_EXPORTER_OTLP_ENDPOINT.')
      }
    }
  }
  const next = () => spans.take(SPANS_AT_ONCE)
  let sending = Promise.resolve()
  const timer = setInterval(() => (sending = sending.then(sendWaiting)), EVERY_MS).unref()
  return {
    async close() {
      clearInterval(timer)
      spans.turnOff()
      await inTime(sending.then(sendWaiting), lastMs, undefined)
    },
  }
}

/** Whether a report is among the traced ones; every process decides the same. */
function isChosen(reportId: string, ratio: number): boolean {
  return ratio >= 1 || Number.parseInt(hash('md5', reportId).slice(0, 8), 16) < ratio * 2 ** 32
}

/** The numbers of the kinds in the protocol; the first step answers a request. */
const kinds = { internal: 1, root: 2, client: 3, consumer: 5 }
const FAILED = 2

/**
 * Composes a request as in opentelemetry-proto 1.9 (`ExportTraceServiceRequest` as JSON). The id of
 * the trace is that of the report; the id of its first span is the second half.
 */
function composeTraces(name: string, batch: readonly Span[], now: Date) {
  const passed = performance.now()
  const nano = (ms: number) => `${Math.round((now.getTime() - passed + ms) * 1_000)}000`
  const spans = batch.map(({ reportId, kind, startMs, endMs, attributes, isFailed, ...span }) => {
    const traceId = reportId.replaceAll('-', '')
    const root = traceId.slice(16)
    return {
      traceId,
      ...(kind === 'root'
        ? { spanId: root }
        : { spanId: systemRandom(8).toString('hex'), parentSpanId: root }),
      name: span.name,
      kind: kinds[kind],
      startTimeUnixNano: nano(startMs),
      endTimeUnixNano: nano(endMs),
      attributes: attributesOf({ 'signalpost.report.id': reportId, ...attributes }),
      status: isFailed ? { code: FAILED } : {},
    }
  })
  const resource = { attributes: attributesOf({ 'service.name': `signalpost-${name}` }) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'signalpost' }, spans }] }] }
}

function attributesOf(attributes: Attributes) {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined)
  return given.map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
