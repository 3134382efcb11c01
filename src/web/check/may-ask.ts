import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { App } from '../../app.ts'
import type { Clock } from '../../world.ts'
import { askerOf } from '../limits.ts'

/** The reason why a client may not check; `status` is an HTTP status. */
type NotAllowed = { status: 401 | 403 | 429; error: string; retrySeconds?: number }

/** The settings of the access check: the password, if any, and our proxies. */
export type GateSettings = {
  checkPassword: string | undefined
  trustedProxies: readonly string[]
}

/** Returns why a client may not check or teach messages; undefined if it may. */
export type AccessCheck = (req: IncomingMessage) => NotAllowed | undefined

/** Maximum number of wrong passwords per address, before it is blocked for a minute. */
const WRONG_MAX = 10
/**
 * Maximum number of wrong passwords for all clients of one proxy together, because the addresses
 * that it forwards may be forged.
 */
const WRONG_OF_PROXY_MAX = 1_000
const SILENCE_MS = 60_000
const ADDRESSES_MAX = 10_000
/** Headers that proxies add; many have one of their own, such as CF-Connecting-IP. */
const proxyHeader =
  /^(?:x-)?forwarded|^via$|^x-(?:real-ip$|original|envoy|cluster)|(?:client|connecting)-?ip$/
/** Headers added by browsers; programs on this machine send neither these nor those of proxies. */
const browserHeader = /^(?:origin|sec-fetch-site)$/

/**
 * With a password, allows clients that send it in the header `Password`; without one, allows
 * trusted requests. Clients that guess passwords through a proxy are blocked without blocking other
 * clients of that proxy.
 */
export function createGate(
  config: GateSettings,
  clock: Clock,
  isTrusted: (req: IncomingMessage) => boolean,
): AccessCheck {
  const password = config.checkPassword
  const wrong = new LRUCache<string, { times: number; until: number }>({ max: ADDRESSES_MAX })
  const expected = password === undefined ? undefined : digestOf(Buffer.from(password))
  const live = (client: string, now: number) => {
    const before = wrong.get(client)
    return before && before.until > now ? before : { times: 0, until: now + SILENCE_MS }
  }

  return (req) => {
    if (!expected) return isTrusted(req) ? undefined : { status: 403, error: closed }
    const given = req.headers['password']
    if (typeof given !== 'string') {
      return { status: 401, error: 'Send the password in the header "Password".' }
    }
    const now = clock().getTime()
    const guessers = guessersOf(req, config)
    for (const [client, timesMax] of guessers) {
      const { times, until } = live(client, now)
      if (times < timesMax) continue
      const retrySeconds = Math.ceil((until - now) / 1_000)
      return { status: 429, error: 'Too many wrong passwords. Try again later.', retrySeconds }
    }
    // Header fields are bytes, which Node decodes as Latin-1.
    if (timingSafeEqual(digestOf(Buffer.from(given, 'latin1')), expected)) return undefined
    for (const [client] of guessers) {
      wrong.set(client, { times: live(client, now).times + 1, until: now + SILENCE_MS })
    }
    return { status: 401, error: 'The password is wrong.' }
  }
}

const closed =
  'Only programs on this machine may use this, without a proxy, unless CHECK_PASSWORD is set.'

function guessersOf(
  req: IncomingMessage,
  config: GateSettings,
): (readonly [who: string, timesMax: number])[] {
  const peer = req.socket.remoteAddress ?? ''
  if (!isPassedOn(req)) return [[peer, WRONG_MAX]]
  return [
    [`${peer} for ${askerOf(req, config)}`, WRONG_MAX],
    [`${peer} for others`, WRONG_OF_PROXY_MAX],
  ]
}

/**
 * Whether a request comes from a program on this machine without a proxy. Proxies often keep the
 * Host of the original request, which does not name this machine.
 */
export function isDirect(req: IncomingMessage): boolean {
  const isLocal = isLoopback(req.socket.remoteAddress) && isLocalHost(req.headers.host)
  return isLocal && !isPassedOn(req)
}

function isPassedOn({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return hasHeader(headers, proxyHeader) || hasHeader(headers, browserHeader)
}

function hasHeader(headers: IncomingMessage['headers'], names: RegExp): boolean {
  return Object.keys(headers).some((name) => names.test(name))
}

/**
 * Identifies requests of programs on this machine on the web port. If `publicUrl` has a public host
 * name, the program runs behind a proxy, and some proxies add no header to what they forward; then
 * no request is trusted by its address.
 */
export function createTrust(publicUrl: string): (req: IncomingMessage) => boolean {
  return isLocalHost(new URL(publicUrl).host) ? isDirect : () => false
}

type TrialSettings = Pick<App['config'], 'publicUrl' | 'smtpUrl' | 'mainUrl' | 'trustedProxies'>

/**
 * Identifies requests to a trial instance: it sends no mail, its address is that of this machine,
 * and the request comes from this machine without a proxy. Unlike trusted requests, they may come
 * from a browser, for a page of this machine. Browsers send HTTP/1.1; nginx, which may add no
 * header, sends HTTP/1.0.
 */
export function createTrial({
  publicUrl,
  smtpUrl,
  mainUrl,
  trustedProxies,
}: TrialSettings): (req: IncomingMessage) => boolean {
  const hasProxy = trustedProxies.length > 0
  if (smtpUrl !== undefined || mainUrl !== undefined || hasProxy) return () => false
  if (!isLocalHost(new URL(publicUrl).host)) return () => false
  return ({ headers, socket, httpVersion }) => {
    const { origin, referer, host } = headers
    const pages = [origin, referer].flatMap((url) => (url ? (URL.parse(url)?.host ?? '?') : []))
    return (
      isLoopback(socket.remoteAddress) &&
      httpVersion !== '1.0' &&
      !hasHeader(headers, proxyHeader) &&
      [host, ...pages].every(isLocalHost)
    )
  }
}

/** Whether a Host names this machine; rspamc and Exim send none. */
function isLocalHost(host: string | undefined): boolean {
  if (host === undefined || host === '') return true
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  const address = name.replace(/^\[|\]$/g, '')
  return name === 'localhost' || (isIP(address) !== 0 && isLoopback(address))
}

export function isLoopback(address: string | undefined): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address ?? '')
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
