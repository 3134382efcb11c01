import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { isPublicName } from '../../mail/address.ts'
import { addressScope, type IpAddress, parseIp } from '../../mail/ip.ts'

/**
 * The limits of the registry client: which addresses it may query, which URLs it may request, and
 * which addresses it may connect to, whatever name resolved to them.
 */
export type Reach = {
  mayAsk: (address: IpAddress) => boolean
  mayOpen: (url: URL) => boolean
  mayConnect: (address: IpAddress) => boolean
}

/**
 * Returns the limits that follow from a bootstrap URL. A public URL allows public addresses, and
 * URLs with https and public names. A URL on the loopback address also allows the loopback address,
 * and queries about documentation ranges.
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

/** Whether this is an http or https URL of the local machine. */
function isLoopbackUrl(url: URL): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  const address = parseIp(url.hostname)
  return address ? addressScope(address) === 'loopback' : url.hostname === 'localhost'
}

/** Names below these domains are not resolved by the public DNS (RFC 7686). */
const inwardNames = /\.(?:arpa|onion)$/

/** Allows names only: registries do not use bare addresses, while internal machines may. */
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

/** Looks up all addresses of a name with the operating system. */
export type Lookup = (
  host: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

const bodiless: readonly number[] = [204, 205, 304]

/**
 * Returns a `fetch` that connects only to addresses that `mayConnect` allows. It checks the
 * addresses used for the connection, so a name that resolves differently a moment later cannot
 * bypass the check. Node's own `fetch` does not support this.
 */
export function createGuardedFetch(
  mayConnect: (address: IpAddress) => boolean,
  lookup: Lookup = systemLookup,
): Fetch {
  const guarded = guardLookup(mayConnect, lookup)
  return (url, { headers, signal }) =>
    new Promise((resolve, reject) => {
      // A bare address is not looked up, so it is checked here.
      const address = parseIp(url.hostname)
      if (address && !mayConnect(address)) throw outOfReach(url.hostname)
      const { request } = url.protocol === 'https:' ? https : http
      // No agent, because a reused connection was not checked.
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
  return new Error(`${host} has an address that is not allowed.`)
}

/** @throws RangeError for an invalid status code */
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

/** The result of one request. */
export type JsonAnswer =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  | { is: 'moved'; to: URL | undefined }
  /** The server refuses to answer now; `retryAfterMs` is the pause that it asks for. */
  | { is: 'busy'; retryAfterMs: number | undefined; why: string }
  /** No answer, or not in time. */
  | { is: 'failed'; why: string }
  /** The answer cannot be used. */
  | { is: 'unreadable'; why: string }

/** The time limit in milliseconds and the maximum body size of one request. */
export type RequestLimits = { timeoutMs: number; bodyBytesMax: number }

/** The required subset of `fetch`: a GET that follows no redirects and that the signal aborts. */
export type Fetch = (
  url: URL,
  options: { redirect: 'manual'; headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>

/** Dependencies of a request. */
export type RequestTools = { fetch: Fetch; now: Date; limits: RequestLimits }

const RETRY_AFTER_MS_MAX = 86_400_000
const jsonTypes = /^application\/(?:rdap\+json|json)\s*(?:;|$)/i

/**
 * Requests JSON once (RFC 7480), without following redirects. All failures of the server or the
 * network are results; never throws for them. The time limit includes the body.
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
    const failure = answeredByStatus(answer, url, tools.now)
    if (failure) {
      await answer.body?.cancel()
      return failure
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

/** Returns the result that follows from the status; undefined when the body must be read. */
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
 * Parses seconds or a date (RFC 9110 §10.2.3) and returns milliseconds, between a second and a day.
 * Undefined when it is neither.
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
  // Leaving the loop cancels the stream and closes the connection.
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
