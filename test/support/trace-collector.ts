import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as received. */
type ReceivedSpan = {
  service: string
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]
  status: { code?: number }
}

type Exported = {
  resourceSpans: {
    resource: { attributes: ReceivedSpan['attributes'] }
    scopeSpans: { spans: ReceivedSpan[] }[]
  }[]
}

/** Starts a receiver of traces (OTLP over HTTP, as JSON). */
export async function startTraceCollector() {
  const spans: ReceivedSpan[] = []
  const requests: { path: string | undefined; headers: Record<string, unknown> }[] = []
  const settings = { status: 200 }
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += String(chunk)))
    req.on('end', () => {
      requests.push({ path: req.url, headers: req.headers })
      res.statusCode = settings.status
      for (const { resource, scopeSpans } of (JSON.parse(body) as Exported).resourceSpans) {
        const service = resource.attributes[0]?.value.stringValue ?? ''
        spans.push(...scopeSpans.flatMap((one) => one.spans.map((span) => ({ ...span, service }))))
      }
      res.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ spans, requests, settings },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
