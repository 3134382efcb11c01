import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

/** A request received by the site. */
type Asked = {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** A website on this machine with a certificate for news.example.org. */
export type HttpsSite = {
  port: number
  /** The certificate, for clients that should trust it. */
  ca: string
  asked: Asked[]
  close: () => Promise<void>
}

const folder = path.join(import.meta.dirname, '../fixtures/tls')
const certificate = readFileSync(path.join(folder, 'certificate.pem'), 'utf8')
const key = readFileSync(path.join(folder, 'key.pem'), 'utf8')

/** Starts an HTTPS site; `answer` is called when a request is complete. */
export async function startHttpsSite(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<HttpsSite> {
  const asked: Asked[] = []
  const server = createServer({ key, cert: certificate }, (req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString()))
    req.on('end', () => {
      asked.push({ method: req.method, path: req.url, headers: req.headers, body })
      answer(req, res)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    ca: certificate,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
