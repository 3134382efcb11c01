import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Hook = {
  type: string
  data: {
    kind: string
    raised: { code: string; action: string | null }[]
    over: { code: string }[]
  }
}

/** Starts a receiver of alarms over HTTP. */
export async function startWebhookReceiver() {
  const told: Hook[] = []
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += String(chunk)))
    req.on('end', () => {
      told.push(JSON.parse(body) as Hook)
      res.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { url: `http://127.0.0.1:${port}/`, told, close }
}
