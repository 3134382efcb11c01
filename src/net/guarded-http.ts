import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector, errors, fetch as undiciFetch, request } from 'undici'
import { reasonOf } from '../errors.ts'
import { addressScope, type IpAddress, networkSet, parseIp } from '../mail/ip.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Resolve } from '../world.ts'

/**
 * Whether this is an address of the public Internet: IANA allocated it for global use, and it does
 * not embed another address (IPv4-mapped and -compatible, NAT64, 6to4, Teredo, ISATAP). All other
 * addresses are refused, including unknown ones.
 */
export function isPublicAddress(text: string): boolean {
  // parseIp reads ::ffff:192.0.2.1 as IPv4; this notation is probably an attempt to bypass the
  // check.
  if (text.includes(':') && text.includes('.')) return false
  const address = parseIp(text)
  if (!address || text.includes('%') || (address.family === 4 && text.includes(':'))) return false
  return addressScope(address) === 'public' && !furtherSpecial.has(address) && !isIsatap(address)
}

/**
 * Special-purpose ranges of IANA's registries that are refused here, although mail may come from
 * them: AS112, 6to4.
 */
const furtherSpecial = networkSet([
  ...['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '2002::/16', '2620:4f:8000::/48'],
])

/**
 * Whether this is an ISATAP address (RFC 5214 §6.1): the interface identifier is 0000:5efe or
 * 0200:5efe, followed by an IPv4 address.
 */
function isIsatap({ family, groups }: IpAddress): boolean {
  return family === 6 && groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0
}

/** Looks up all addresses of a name. */
export type Lookup = (
  host: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

/** The options of an agent: its permitted addresses, and its limits. */
type AgentOptions = {
  mayConnect: (address: string) => boolean
  lookup?: Lookup
  connectMsMax?: number
  /** Called when a connection is open, and its certificate is verified. */
  onConnect?: () => void
  /** Only for tests, whose servers run on their own machine. */
  forTests?: { port: number; ca: string } | undefined
}

const HEADER_BYTES_MAX = 16 * 1024
const CONNECT_MS_MAX = 10_000

/**
 * Creates the agent of outgoing requests. It connects only to addresses that `mayConnect` allows:
 * it checks the address of each connection, so a name cannot bypass the check by resolving
 * differently a moment later. Each request has its own connection.
 */
function createGuardedAgent(options: AgentOptions): Agent {
  const { mayConnect, connectMsMax = CONNECT_MS_MAX, onConnect, forTests } = options
  const connect = buildConnector({
    timeout: connectMsMax,
    allowH2: false,
    maxCachedSessions: 0,
    lookup: guardLookup(mayConnect, options.lookup ?? systemLookup),
    ...(forTests && { ca: forTests.ca }),
  })
  return new Agent({
    pipelining: 0,
    maxHeaderSize: HEADER_BYTES_MAX,
    connect(to, done) {
      // A bare address is not looked up, so it is checked here.
      if (parseIp(to.hostname) && !mayConnect(to.hostname)) {
        return done(outOfReach(to.hostname), null)
      }
      connect({ ...to, ...(forTests && { port: String(forTests.port) }) }, (...result) => {
        if (result[1]) onConnect?.()
        done(...result)
      })
    },
  })
}

function guardLookup(mayConnect: (address: string) => boolean, lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const within = found.filter(({ address }) => mayConnect(address))
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

/** The required subset of `fetch`: a GET that follows no redirects, and that `signal` can abort. */
export type Fetch = (
  url: URL,
  options: { redirect: 'manual'; headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>

/** Returns a `fetch` that connects only to addresses that `mayConnect` allows. */
export function createGuardedFetch(
  mayConnect: (address: IpAddress) => boolean,
  lookup: Lookup = systemLookup,
): Fetch {
  const dispatcher = createGuardedAgent({
    lookup,
    mayConnect: (text) => {
      const address = parseIp(text)
      return address !== undefined && mayConnect(address)
    },
  })
  return async (url, options) => {
    const answer = await undiciFetch(url, { ...options, dispatcher }).catch((error: Error) => {
      throw error.cause ?? error
    })
    return answer as unknown as Response
  }
}

/** The required subset of `fetch` for requests with a body. Redirects are not followed. */
type BoundedFetch = (
  url: string,
  options: { method: string; headers: Record<string, string>; body?: unknown },
) => Promise<Response>

/**
 * Returns a `fetch` for hosts that the operator chose, which may be anywhere. It reads at most
 * `bytesMax` bytes, does not decompress them, and ends after `msMax` milliseconds.
 */
export function createBoundedFetch(limits: { bytesMax: number; msMax: number }): BoundedFetch {
  const { bytesMax, msMax } = limits
  return async (url, { method, headers, body }) => {
    const dispatcher = createGuardedAgent({ mayConnect: () => true, connectMsMax: msMax })
    const signal = AbortSignal.timeout(msMax)
    try {
      const answer = await request(url, {
        method: method as 'GET',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body === undefined || body === null ? null : String(body as string),
        dispatcher,
        signal,
      })
      const chunks: Buffer[] = []
      let bytes = 0
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        if ((bytes += chunk.length) > bytesMax) {
          throw new Error(`The answer has more than ${bytesMax} bytes.`)
        }
      }
      const fields = Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      )
      const hasBody = ![204, 205, 304].includes(answer.statusCode)
      const content = hasBody ? Buffer.concat(chunks) : null
      return new Response(content, { status: answer.statusCode, headers: fields })
    } finally {
      await dispatcher.destroy()
    }
  }
}

export type PublicPost = { body: string; headers: Readonly<Record<string, string>> }

/**
 * The result of a POST: answered with a status; refused before a connection was made; failed before
 * it was sent; or unanswered, so that it is unknown whether it took effect. `reason`: the error;
 * undefined when the time limit was reached.
 */
export type PostResult =
  | { is: 'answered'; status: number }
  | { is: 'refused'; outcome: Phrase }
  | { is: 'failed' | 'unanswered'; reason: string | undefined }

/** Dependencies and limits of POST requests. */
export type PostOptions = {
  /** Queries the DNS. The request connects to the address that was checked. */
  resolve: Resolve
  userAgent: string
  mayConnect?: ((address: string) => boolean) | undefined
  /**
   * Time limit of a whole request in milliseconds, and maximum number of bytes read of its
   * response.
   */
  allMsMax: number
  bodyBytesMax: number
  /** Only for tests, whose servers run on their own machine. */
  forTests?: { port: number; ca: string; connectMsMax?: number; allMsMax?: number } | undefined
}

/**
 * Sends one POST to a host whose addresses were looked up and checked. Refuses the host if any of
 * them is not allowed (by default, public). Verifies the certificate; sends no cookies, credentials
 * or referrer; does not follow redirects; and ignores the response except its status.
 */
export async function postPublic(
  url: URL,
  { body, headers }: PublicPost,
  options: PostOptions,
): Promise<PostResult> {
  const { resolve, userAgent, mayConnect = isPublicAddress, bodyBytesMax, forTests } = options
  const found = await findHost(url.hostname, resolve, mayConnect)
  if ('outcome' in found) return { is: 'refused', ...found }
  let hasLeft = false
  const allMs = forTests?.allMsMax ?? options.allMsMax
  const dispatcher = createGuardedAgent({
    mayConnect,
    // Connects to the address that was checked, without looking up the name again.
    lookup: (_host, _options, done) => done(null, [found]),
    onConnect: () => (hasLeft = true),
    // A connection that is still being made would delay the end.
    connectMsMax: Math.min(forTests?.connectMsMax ?? CONNECT_MS_MAX, allMs),
    forTests,
  })
  const signal = AbortSignal.timeout(allMs)
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'user-agent': userAgent, accept: '*/*', ...headers },
      body,
      dispatcher,
      signal,
    })
    // Once the status is known the request is answered, even if the rest of the response fails.
    await answer.body.dump({ limit: bodyBytesMax, signal }).catch(() => undefined)
    return { is: 'answered', status: answer.statusCode }
  } catch (error) {
    const isLate = signal.aborted || error instanceof errors.ConnectTimeoutError
    const reason = isLate ? undefined : reasonOf(error).slice(0, 200)
    return { is: hasLeft ? 'unanswered' : 'failed', reason }
  } finally {
    await dispatcher.destroy()
  }
}

/** Returns an allowed address of a host, or why there is none. */
async function findHost(
  host: string,
  resolve: Resolve,
  mayConnect: (address: string) => boolean,
): Promise<LookupAddress | { outcome: Phrase }> {
  const notFound = (reason: string) => ({ outcome: phrase('host-not-found', { host, reason }) })
  const asked = [resolve(host, 'A'), resolve(host, 'AAAA')]
  const answers = await Promise.all(asked).catch((error: unknown) => notFound(reasonOf(error)))
  if ('outcome' in answers) return answers
  const unknown = answers.find((answer) => answer.is === 'unknown')
  // If a query has no answer, the missing answer might contain an internal address.
  if (unknown) return notFound(unknown.why)
  const addresses = answers.flatMap((one) => (one.is === 'found' ? one.records : []))
  const [address] = addresses
  if (address === undefined) return { outcome: phrase('host-without-address', { host }) }
  if (!addresses.every(mayConnect)) return { outcome: phrase('host-not-public', { host }) }
  return { address, family: address.includes(':') ? 6 : 4 }
}
