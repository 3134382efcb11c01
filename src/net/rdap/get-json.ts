import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { isPublicName } from '../../mail/address.ts'
import { addressScope, type IpAddress, parseIp } from '../../mail/ip.ts'

/**
 * How far the registry client may go: which addresses it may ask about, which URLs open, and which
 * addresses connect to, whatever name led there.
 */
export type Reach = {
  mayAsk: (address: IpAddress) => boolean
  mayOpen: (url: URL) => boolean
  mayConnect: (address: IpAddress) => boolean
}

/**
 * The reach that a bootstrap URL gives. One out in the world leads to public addresses and, by
 * https, to public names. One on this machine may lead to this machine as well, and answers for
 * documentation ranges.
 */
export function reachOf(bootstrapUrl: string): Reach {
  const isLocal = isLoopbackUrl(new URL(bootstrapUrl))
  return {
    mayAsk(address) {
      const scope = addressScope(address)
      return scope === 'public' || (isLocal && scope === 'documentation')
    },
    mayOpen: (url) => isPublicUrl(url) || (isLocal && isLoopbackUrl(url)),
    mayConnect(address) {
      const scope = addressScope(address)
      return scope === 'public' || (isLocal && scope === 'loopback')
    },
  }
}

/** Whether it is an http or https URL of this very machine. */
function isLoopbackUrl(url: URL): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  const address = parseIp(url.hostname)
  return address ? addressScope(address) === 'loopback' : url.hostname === 'localhost'
}

/** Public top level domains below which nothing is reached by the DNS of the world (RFC 7686). */
const inwardNames = /\.(?:arpa|onion)$/

/** Names only: a registry is never found at a bare address, a machine inside a network may be. */
function isPublicUrl(url: URL): boolean {
  return (
    url.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    (url.port === '' || url.port === '443') &&
    isPublicName(url.hostname) &&
    !inwardNames.test(url.hostname)
  )
}

/** Asks the operating system for all addresses of a name. */
export type Lookup = (
  host: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

const bodiless: readonly number[] = [204, 205, 304]

/**
 * A `fetch` that connects to no other addresses than `mayConnect` allows. It looks at the addresses
 * that the connection is made with, so a name that leads elsewhere the next moment gains nothing.
 * Node's own `fetch` cannot be told which addresses to leave alone.
 */
export function createGuardedFetch(
  mayConnect: (address: IpAddress) => boolean,
  lookup: Lookup = systemLookup,
): Fetch {
  const guarded = guardLookup(mayConnect, lookup)
  return (url, { headers, signal }) =>
    new Promise((resolve, reject) => {
      // A bare address is never looked up.
      const address = parseIp(url.hostname)
      if (address && !mayConnect(address)) throw outOfReach(url.hostname)
      const { request } = url.protocol === 'https:' ? https : http
      // No agent: a connection that somebody else opened was not guarded.
      request(url, { headers, signal, lookup: guarded, agent: false }, (answer) => {
        try {
          resolve(responseOf(answer))
        } catch (error) {
          answer.destroy()
          reject(error)
        }
      })
        .on('error', reject)
        .end()
    })
}

function guardLookup(mayConnect: (address: IpAddress) => boolean, lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const within = found.filter(({ address }) => {
        const ip = parseIp(address)
        return ip !== undefined && mayConnect(ip)
      })
      const [first] = within
      if (!first) return done(outOfReach(host), [])
      if (options.all) return done(null, within)
      done(null, first.address, first.family)
    })
  }
}

function outOfReach(host: string): Error {
  return new Error(`${host} leads to an address out of reach.`)
}

/** @throws RangeError for a status that no answer can have */
function responseOf(answer: http.IncomingMessage): Response {
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const status = answer.statusCode ?? 0
  if (!bodiless.includes(status)) {
    return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers })
  }
  answer.resume()
  return new Response(null, { status, headers })
}

/** What one request brought. */
export type JsonAnswer =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  | { is: 'moved'; to: URL | undefined }
  /** The server will not answer now; how long to leave it alone when it says so. */
  | { is: 'busy'; retryAfterMs: number | undefined; why: string }
  /** Nothing came, or not in time: the server or the way to it is at fault. */
  | { is: 'failed'; why: string }
  /** It answered with something nobody can use. */
  | { is: 'unreadable'; why: string }

/** How much of one request is borne. */
export type RequestLimits = { timeoutMs: number; bodyBytesMax: number }

/** The part of `fetch` that is needed: one GET, no redirect followed, ended by the signal. */
export type Fetch = (
  url: URL,
  options: { redirect: 'manual'; headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>

/** What a request needs of the world. */
export type RequestTools = { fetch: Fetch; now: Date; limits: RequestLimits }

const RETRY_AFTER_MS_MAX = 86_400_000
const jsonTypes = /^application\/(?:rdap\+json|json)\s*(?:;|$)/i

/**
 * Asks once for JSON (RFC 7480), following nothing. All that can go wrong out there is an answer;
 * never throws for it. The time limit covers the body too.
 */
export async function getJson(url: URL, tools: RequestTools): Promise<JsonAnswer> {
  const { timeoutMs, bodyBytesMax } = tools.limits
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await tools.fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/rdap+json, application/json;q=0.5' },
      signal,
    })
    const told = answeredByStatus(answer, url, tools.now)
    if (told) {
      await answer.body?.cancel()
      return told
    }
    if (!jsonTypes.test(answer.headers.get('content-type') ?? '')) {
      await answer.body?.cancel()
      return { is: 'unreadable', why: 'the answer is not JSON' }
    }
    const text = await readBounded(answer, bodyBytesMax)
    if (text === undefined) return { is: 'unreadable', why: 'the answer is too long' }
    return parsed(text)
  } catch {
    const why = signal.aborted ? 'no answer came in time' : 'the connection failed'
    return { is: 'failed', why }
  }
}

/** Everything but an answer to read; undefined for that. */
function answeredByStatus(answer: Response, url: URL, now: Date): JsonAnswer | undefined {
  const { status } = answer
  if (status === 200) return undefined
  if (status === 404 || status === 410) return { is: 'absent' }
  if ([301, 302, 303, 307, 308].includes(status)) {
    const to = URL.parse(answer.headers.get('location') ?? '', url)
    return { is: 'moved', to: to ?? undefined }
  }
  if (status === 429 || status === 503 || status === 401 || status === 403) {
    const retryAfterMs = retryAfter(answer.headers.get('retry-after'), now)
    return { is: 'busy', retryAfterMs, why: `it answered ${status}` }
  }
  if (status >= 500) return { is: 'failed', why: `it answered ${status}` }
  return { is: 'unreadable', why: `it answered ${status}` }
}

/**
 * Milliseconds from seconds or a date (RFC 9110 §10.2.3), between a second and a day; undefined
 * when neither can be read.
 */
export function retryAfter(value: string | null, now: Date): number | undefined {
  if (value === null) return undefined
  const waitMs = /^\s*\d{1,9}\s*$/.test(value)
    ? Number(value) * 1_000
    : Date.parse(value) - now.getTime()
  if (Number.isNaN(waitMs)) return undefined
  return Math.min(Math.max(waitMs, 1_000), RETRY_AFTER_MS_MAX)
}

async function readBounded(answer: Response, bytesMax: number): Promise<string | undefined> {
  if (!answer.body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of answer.body) {
    bytes += chunk.length
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

function parsed(text: string): JsonAnswer {
  try {
    return { is: 'json', json: JSON.parse(text) as unknown }
  } catch {
    return { is: 'unreadable', why: 'the answer is not JSON' }
  }
}
