import { retryAfter } from '../../durations.ts'
import { isPublicName } from '../../mail/address.ts'
import { addressScope, type IpAddress, parseIp } from '../../mail/ip.ts'
import { jsonOf } from '../../mail/text.ts'
import type { Fetch } from '../guarded-http.ts'

/**
 * The limits of the registry client: the addresses it may query, the URLs it may request, and the
 * addresses it may connect to, regardless of the host name.
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

/** Names below the domains `arpa` and `onion` are not resolved by the public DNS (RFC 7686). */
const inwardNames = /\.(?:arpa|onion)$/

/**
 * Whether this is an https URL with a public host name. Bare addresses are refused: registries do
 * not use them, but internal machines may.
 */
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

export type JsonAnswer =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  | { is: 'moved'; to: URL | undefined }
  /** The server refuses to answer now; `retryAfterMs` is the pause that it requests. */
  | { is: 'busy'; retryAfterMs: number | undefined; why: string }
  /** No answer, or none within the time limit. */
  | { is: 'failed'; why: string }
  /** The answer cannot be used. */
  | { is: 'unreadable'; why: string }

/** The time limit in milliseconds and the maximum body size of one request. */
export type RequestLimits = { timeoutMs: number; bodyBytesMax: number }

export type RequestTools = { fetch: Fetch; now: Date; limits: RequestLimits }

const jsonTypes = /^application\/(?:rdap\+json|json)\s*(?:;|$)/i

/**
 * Requests JSON once (RFC 7480), without following redirects. Returns all failures of the server or
 * the network as results; never throws for them. The time limit includes the body.
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
    const json = jsonOf(text)
    return json === undefined
      ? { is: 'unreadable', why: 'the answer is not JSON' }
      : { is: 'json', json }
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
