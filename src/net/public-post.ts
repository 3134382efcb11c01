import type { IncomingMessage } from 'node:http'
import { Agent, request, type RequestOptions } from 'node:https'
import { reasonOf } from '../errors.ts'
import { type IpAddress, networkSet, parseIp } from '../mail/ip.ts'
import {
  oneClickBody,
  type OneClickOutcome,
  type PostOneClick,
  readOneClickUrl,
} from '../mail/list-unsubscribe.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { DnsAnswer, Resolve } from '../world.ts'

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
  if (!address || text.includes('%')) return false
  if (address.family === 4) return !text.includes(':') && !special4.has(address)
  return global6.has(address) && !special6.has(address) && !isIsatap(address)
}

/** IANA IPv4 special-purpose registry, multicast and reserved ranges. */
const special4 = networkSet([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])

const global6 = networkSet(['2000::/3'])

/** IANA IPv6 special-purpose registry within 2000::/3; 2001::/23 includes Teredo and ORCHID. */
const special6 = networkSet([
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
])

/** RFC 5214 §6.1: an IPv4 address after 0000:5efe or 0200:5efe. */
function isIsatap({ groups }: IpAddress): boolean {
  return groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0
}

/** Dependencies of the host lookup. */
export type HostOptions = {
  /** Queries the DNS. The address that is checked is the one to connect to. */
  resolve: Resolve
  /** Only for tests, whose servers run on their own machine. */
  mayConnect?: ((address: string) => boolean) | undefined
}

/**
 * Returns a public address of a host. Connect to that address: a second lookup of the name may
 * return another one. Refuses the host if any of its addresses is not public, and returns the
 * reason.
 */
export async function findPublicHost(
  host: string,
  { resolve, mayConnect = isPublicAddress }: HostOptions,
): Promise<string | { outcome: Phrase }> {
  const notFound = (reason: string) => ({ outcome: phrase('host-not-found', { host, reason }) })
  const asked = [resolve(host, 'A'), resolve(host, 'AAAA')]
  const answers = await Promise.all(asked).catch((error: unknown) => notFound(reasonOf(error)))
  if ('outcome' in answers) return answers
  const unknown = answers.find((answer) => answer.is === 'unknown')
  // A missing answer might contain an internal address.
  if (unknown) return notFound(unknown.why)
  const addresses = answers.flatMap(recordsOf)
  const [first] = addresses
  if (first === undefined) return { outcome: phrase('host-without-address', { host }) }
  if (!addresses.every((address) => mayConnect(address))) {
    return { outcome: phrase('host-not-public', { host }) }
  }
  return first
}

function recordsOf(answer: DnsAnswer): readonly string[] {
  return answer.is === 'found' ? answer.records : []
}

/** The target of a POST: its URL, and the address that was looked up for it. */
export type PublicTarget = { url: URL; address: string }

/** The body and the additional headers of a POST. */
export type PublicPost = { body: string; headers: Readonly<Record<string, string>> }

type Options = {
  userAgent: string
  /** Only for tests, whose servers run on their own machine. */
  forTests?: { port: number; ca: string }
}

const HEADER_BYTES_MAX = 16 * 1024

/**
 * Returns the options of a POST to a public host: it connects to the address that was looked up,
 * verifies the TLS certificate against the name, and sends no cookies, credentials or referrer.
 */
export function publicPost(
  { url, address }: PublicTarget,
  { body, headers }: PublicPost,
  { userAgent, forTests }: Options,
): RequestOptions {
  return {
    // The address itself, so that the name is not looked up again.
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

/** Reads and discards the response body, up to `bytesMax` bytes. */
export function drop(response: IncomingMessage, bytesMax: number, done: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) done()
  })
  for (const event of ['end', 'error', 'close']) response.on(event, done)
}

/** Dependencies of unsubscribe requests. */
export type OneClickOptions = {
  /** Queries the DNS. The address that is checked is the one that is connected to. */
  resolve: Resolve
  /** The User-Agent of the requests. */
  userAgent: string
  /** Only for tests, whose servers run on their own machine. */
  forTests?: {
    mayConnect: (address: string) => boolean
    port: number
    ca: string
    connectMsMax?: number
    allMsMax?: number
  }
}

const CONNECT_MS_MAX = 10_000
const ALL_MS_MAX = 20_000
const BODY_BYTES_MAX = 64 * 1024

/**
 * Creates the function that sends one-click unsubscribe requests (RFC 8058 §3.2): one POST, without
 * cookies, credentials or referrer, to a public address that was looked up and checked. Refuses a
 * host if any of its addresses is not public. Does not follow redirects, and ignores the response
 * except its status.
 */
export function createOneClick(options: OneClickOptions): PostOneClick {
  return async (text) => {
    const read = readOneClickUrl(text)
    if ('refused' in read) return { state: 'refused', outcome: read.refused }
    const { hostname } = read.url
    const { resolve, forTests } = options
    const hosts = { resolve, mayConnect: forTests?.mayConnect }
    const found = await findPublicHost(hostname, hosts)
    if (typeof found !== 'string') return { state: 'refused', ...found }
    return post({ url: read.url, address: found }, options)
  }
}

function post(to: PublicTarget, options: OneClickOptions): Promise<OneClickOutcome> {
  const { hostname } = to.url
  const { connectMsMax = CONNECT_MS_MAX, allMsMax = ALL_MS_MAX } = options.forTests ?? {}
  // A separate agent, so that no connection or proxy of the process is used.
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 })
  return new Promise((resolve) => {
    let hasLeft = false
    let answered: OneClickOutcome | undefined
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = request({ ...publicPost(to, { body: oneClickBody, headers }, options), agent })
    const settle = (outcome: OneClickOutcome) => {
      clearTimeout(connecting)
      clearTimeout(all)
      resolve(outcome)
      sent.destroy()
      agent.destroy()
    }
    // Once the status is known the request is answered, even if the rest of the response fails.
    const giveUp = (outcome: Phrase) => {
      settle(answered ?? { state: hasLeft ? 'unknown' : 'failed', outcome })
    }
    const unreached = phrase('unsubscribe-unreached', { host: hostname })
    const connecting = setTimeout(() => giveUp(unreached), connectMsMax)
    const unanswered = phrase('unsubscribe-unanswered', { host: hostname })
    const all = setTimeout(() => giveUp(unanswered), allMsMax)
    sent.on('socket', (socket) =>
      socket.once('secureConnect', () => {
        hasLeft = true
        clearTimeout(connecting)
      }),
    )
    sent.on('error', (error) => {
      const reason = reasonOf(error).slice(0, 200)
      giveUp(phrase('unsubscribe-failed', { host: hostname, reason }))
    })
    sent.on('response', (response) => {
      const outcome = outcomeOf(hostname, response.statusCode ?? 0)
      answered = outcome
      drop(response, BODY_BYTES_MAX, () => settle(outcome))
    })
    sent.end(oneClickBody)
  })
}

function outcomeOf(host: string, status: number): OneClickOutcome {
  if (status >= 200 && status < 300) {
    return { state: 'done', outcome: phrase('unsubscribe-accepted', { host, status }) }
  }
  if (status >= 300 && status < 400) {
    return { state: 'doubtful', outcome: phrase('unsubscribe-redirected', { host, status }) }
  }
  return { state: 'failed', outcome: phrase('unsubscribe-declined', { host, status }) }
}
