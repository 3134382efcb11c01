import { expect, test } from 'vitest'
import { createSpans } from '../../../src/activity/spans.ts'
import { exportSpans } from '../../../src/processes/export-spans.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { startTraceCollector } from '../../support/trace-collector.ts'

const collector = await closeAfterTests(startTraceCollector())
const reportId = '01966666-0000-7000-8000-00000000000a'
const clock = () => new Date()

/** Starts an exporter with spans of its own; returns also what it logged. */
function start({ ratio = 1, isOn = true } = {}) {
  const spans = createSpans()
  const warned: object[] = []
  const traces = isOn
    ? { url: `${collector.url}/v1/traces`, headers: { 'x-key': 'k' }, ratio }
    : undefined
  const log = { warn: (facts: object) => void warned.push(facts) }
  const app = { config: { traces }, log, clock } as unknown as Parameters<typeof exportSpans>[1]
  const { close } = exportSpans('work', app, { spans, lastMs: 60_000 })
  const add = (id: string, kind: 'root' | 'client' = 'client') =>
    spans.add(id, ['send', kind, performance.now() - 250], { 'signalpost.n': 1, none: undefined })
  return { spans, warned, add, close }
}

test('the spans of a report are one trace, and belong to its first span', async () => {
  const { add, close } = start()
  add(reportId, 'root')
  add(reportId)
  await close()
  const [first, second] = collector.spans.splice(0)
  const traceId = '01966666000070008000' + '00000000000a'
  expect(first).toMatchObject({ traceId, spanId: traceId.slice(16), kind: 2, name: 'send' })
  expect(first).not.toHaveProperty('parentSpanId')
  expect(second).toMatchObject({ traceId, parentSpanId: first?.spanId, kind: 3 })
  expect(second?.spanId).toMatch(/^[0-9a-f]{16}$/)
  expect(second?.attributes).toEqual([
    { key: 'signalpost.report.id', value: { stringValue: reportId } },
    { key: 'signalpost.n', value: { intValue: '1' } },
  ])
  const [startedAt, endedAt] = [second?.startTimeUnixNano, second?.endTimeUnixNano].map(Number)
  expect(((endedAt ?? 0) - (startedAt ?? 0)) / 1e6).toBeCloseTo(250, -1)
  expect(Math.abs((endedAt ?? 0) / 1e6 - Date.now())).toBeLessThan(10_000)
  const [request] = collector.requests.splice(0)
  expect(request).toMatchObject({
    path: '/v1/traces',
    headers: { 'x-key': 'k', 'content-type': 'application/json' },
  })
})

test('spans above the limit are dropped and counted, and so is what cannot be sent', async () => {
  const { spans, warned, add, close } = start()
  for (let n = 0; n < 5_000; n++) add(reportId)
  expect(spans.dropped()).toBe(5_000 - 4_096)
  collector.settings.status = 503
  await close()
  collector.settings.status = 200
  expect(collector.requests.splice(0)).toHaveLength(4_096 / 512)
  expect(spans.dropped()).toBe(5_000)
  expect(warned).toEqual([{ reason: 'The answer was HTTP 503.', dropped: 5_000 - 4_096 + 512 }])
  collector.spans.length = 0
})

test('a share of the reports is traced, the same in every process', async () => {
  const ids = Array.from({ length: 400 }, (_, n) => reportId.replace(/.{3}$/, String(100 + n)))
  for (const one of [start({ ratio: 0.5 }), start({ ratio: 0.5 })]) {
    ids.forEach((id) => one.add(id))
    await one.close()
  }
  const traced = collector.spans.splice(0).map(({ traceId }) => traceId)
  const half = traced.length / 2
  expect(traced.slice(0, half)).toEqual(traced.slice(half))
  expect(half).toBeGreaterThan(150)
  expect(half).toBeLessThan(250)
  collector.requests.length = 0
})

test('without the setting, nothing is collected or sent', async () => {
  const { spans, add, close } = start({ isOn: false })
  add(reportId)
  expect([spans.isOn(), spans.take(10), spans.dropped()]).toEqual([false, [], 0])
  await close()
  expect(collector.requests).toEqual([])
})
