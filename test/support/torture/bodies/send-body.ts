import { request } from 'node:http'
import { chunkOf, type HostileBody } from './hostile-bodies.ts'

/** An address that may read a request body. */
export type BodyRoute = { method: string; path: string }

/** The server's answer, and the number of bytes sent before it. */
export type BodyAnswer = { status: number; sentBytes: number }

/** The header fields that identify a client and its session. */
export type Sender = Record<string, string>

/**
 * Sends a body of unknown length until it is answered, or has `bytesMax` bytes. Status 0 if the
 * connection was cut.
 */
export function sendBody(
  url: string,
  { method, path }: BodyRoute,
  body: HostileBody,
  { bytesMax, sender }: { bytesMax: number; sender: Sender },
): Promise<BodyAnswer> {
  return new Promise((resolve) => {
    let sentBytes = 0
    let isAnswered = false
    const headers = { ...sender, ...body.headers, 'transfer-encoding': 'chunked' }
    const req = request(`${url}${path}`, { method, headers, agent: false })
    const finish = (status: number) => {
      if (isAnswered) return
      isAnswered = true
      req.destroy()
      resolve({ status, sentBytes })
    }
    const chunk = chunkOf(body)
    const write = () => {
      while (!isAnswered && chunk.length > 0 && sentBytes < bytesMax) {
        sentBytes += chunk.length
        if (!req.write(chunk)) return void req.once('drain', write)
      }
      if (!isAnswered) req.end()
    }
    req.on('response', (res) => finish(res.statusCode ?? 0))
    req.on('error', () => finish(0))
    if (body.start.length > 0) req.write(body.start)
    write()
  })
}

/**
 * Declares a body of `bytes` bytes and sends only the first byte; returns the status of the answer.
 */
export function declareBody(
  url: string,
  { method, path }: BodyRoute,
  { bytes, sender }: { bytes: number; sender: Sender },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ...sender, 'content-length': String(bytes) }
    const req = request(`${url}${path}`, { method, headers, agent: false })
    req.on('error', reject)
    req.on('response', (res) => {
      req.destroy()
      resolve(res.statusCode ?? 0)
    })
    req.write('-')
  })
}

const NO_CONTACT = '00000000-0000-7000-8000-000000000000'
const methods = ['post', 'put', 'patch', 'delete'] as const

/** Returns the addresses that answer a method with a body, collected from the routers. */
export function bodyRoutes(
  listRoutes: (method: (typeof methods)[number]) => string[],
  checkPaths: readonly string[],
): BodyRoute[] {
  const routed = methods.flatMap((method) =>
    listRoutes(method).map((path) => {
      const address = path.replaceAll(/:\w+/g, (name) => (name === ':number' ? '1' : NO_CONTACT))
      return { method: method.toUpperCase(), path: address }
    }),
  )
  return [...routed, ...checkPaths.map((path) => ({ method: 'POST', path }))]
}
