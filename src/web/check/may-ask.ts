import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Clock } from '../../world.ts'
import { askerOf } from '../lists/downloads.ts'

/** Why somebody may not ask; `status` as HTTP has it. */
type NotAllowed = { status: 401 | 403 | 429; error: string; retrySeconds?: number }

/** What a gate goes by: the password, if one is asked for, and which proxies are ours. */
export type GateSettings = {
  checkPassword: string | undefined
  trustedProxies: readonly string[]
}

/** Why who sends this request may not ask for verdicts, nor teach; undefined when they may. */
export type AccessCheck = (req: IncomingMessage) => NotAllowed | undefined

/** So many wrong passwords of one address, then a minute of silence. */
const WRONG_MAX = 10
/** Of all for whom one proxy asks: what it says of them may be made up. */
const WRONG_OF_PROXY_MAX = 1_000
const SILENCE_MS = 60_000
const ADDRESSES_MAX = 10_000
/** What a proxy adds, and what a browser cannot leave out: neither is a program of this machine. */
const goBetweens = [
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-server'],
  ...['forwarded', 'via', 'x-real-ip', 'origin', 'sec-fetch-site'],
]

/**
 * With a password, who sends it in the header `Password`; without one, whoever is trusted as he
 * comes. Strangers who guess behind a proxy silence themselves, not who asks beside them.
 */
export function createGate(
  config: GateSettings,
  clock: Clock,
  isTrusted: (req: IncomingMessage) => boolean,
): AccessCheck {
  const password = config.checkPassword
  const wrong = new Map<string, { times: number; until: number }>()
  const expected = password === undefined ? undefined : digestOf(Buffer.from(password))
  const live = (who: string, now: number) => {
    const before = wrong.get(who)
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
    for (const [who, timesMax] of guessers) {
      const { times, until } = live(who, now)
      if (times < timesMax) continue
      const retrySeconds = Math.ceil((until - now) / 1_000)
      return { status: 429, error: 'Too many wrong passwords. Try again later.', retrySeconds }
    }
    // Header fields are bytes; Node reads them as Latin-1.
    if (timingSafeEqual(digestOf(Buffer.from(given, 'latin1')), expected)) return undefined
    if (wrong.size >= ADDRESSES_MAX) wrong.clear()
    for (const [who] of guessers) {
      wrong.set(who, { times: live(who, now).times + 1, until: now + SILENCE_MS })
    }
    return { status: 401, error: 'This is not the password.' }
  }
}

const closed =
  'Only programs on this machine may ask, and not through a proxy, unless CHECK_PASSWORD is set.'

function guessersOf(
  req: IncomingMessage,
  config: GateSettings,
): (readonly [who: string, timesMax: number])[] {
  const peer = req.socket.remoteAddress ?? ''
  if (!goBetweens.some((name) => name in req.headers)) return [[peer, WRONG_MAX]]
  return [
    [`${peer} for ${askerOf(req, config)}`, WRONG_MAX],
    [`${peer} for others`, WRONG_OF_PROXY_MAX],
  ]
}

/**
 * Whether a program of this machine asks, with nobody between. Who passes a request on often passes
 * on the name it was sent to: that is not this machine's.
 */
export function isDirect(req: IncomingMessage): boolean {
  const isPassedOn = goBetweens.some((name) => name in req.headers)
  return isLoopback(req.socket.remoteAddress) && !isPassedOn && isLocalHost(req.headers.host)
}

/**
 * Tells programs of this machine from everybody else, on the port of the web. Where `publicUrl` has
 * a name of the Internet, a proxy stands before the program, and some proxies add nothing to what
 * they pass on: then no request is trusted for its address.
 */
export function createTrust(publicUrl: string): (req: IncomingMessage) => boolean {
  return isLocalHost(new URL(publicUrl).host) ? isDirect : () => false
}

/** Whether a name with its port means this machine itself; rspamc and Exim send none. */
function isLocalHost(host: string | undefined): boolean {
  if (host === undefined || host === '') return true
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  const address = name.replace(/^\[|\]$/g, '')
  return name === 'localhost' || (isIP(address) !== 0 && isLoopback(address))
}

/** Whether an address of a connection is this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address ?? '')
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
