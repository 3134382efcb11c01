import type { IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'

/** Where a POST goes: what it is addressed to, and the address that was looked up for it. */
export type PublicTarget = { url: URL; address: string }

/** What is sent. */
export type PublicPost = { body: string; headers: Readonly<Record<string, string>> }

type Options = {
  userAgent: string
  /** Handed in by tests alone, whose servers are on their own machine. */
  forTests?: { port: number; ca: string }
}

const HEADER_BYTES_MAX = 16 * 1024

/**
 * The request of a POST to a host on the Internet: to the very address that was looked up, by TLS
 * that is checked against the name, without cookies, credentials or referrer.
 */
export function publicPost(
  { url, address }: PublicTarget,
  { body, headers }: PublicPost,
  { userAgent, forTests }: Options,
): RequestOptions {
  return {
    // The address itself: no name is looked up a second time.
    host: address,
    servername: url.hostname,
    port: forTests?.port ?? 443,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: {
      host: url.hostname,
      'user-agent': userAgent,
      accept: '*/*',
      'content-length': Buffer.byteLength(body),
      ...headers,
      connection: 'close',
    },
    setHost: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    rejectUnauthorized: true,
    ...(forTests && { ca: forTests.ca }),
  }
}

/** Reads what follows the status, and forgets it, up to so many bytes. */
export function drop(response: IncomingMessage, bytesMax: number, done: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) done()
  })
  for (const event of ['end', 'error', 'close']) response.on(event, done)
}
