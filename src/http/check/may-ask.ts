import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../world.ts'

/** Why somebody may not ask; `status` as HTTP has it. */
export type NotAllowed = { status: 401 | 403 | 429; error: string; retrySeconds?: number }

/** Why who sends this request may not ask for verdicts, nor teach; undefined when they may. */
export type Gate = (req: IncomingMessage) => NotAllowed | undefined

/** So many wrong passwords of one address, then a minute of silence. */
const WRONG_MAX = 10
const SILENCE_MS = 60_000
const ADDRESSES_MAX = 10_000
/** What a proxy adds, and what a browser cannot leave out: neither is a program of this machine. */
const goBetweens = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'origin', 'sec-fetch-site']

/**
 * With a password, who sends it in the header `Password`; without one, programs of this machine
 * that ask directly. A page that a browser on this machine shows is not one of them.
 */
export function createGate(password: string | undefined, clock: Clock): Gate {
  const wrong = new Map<string, { times: number; until: number }>()
  const expected = password === undefined ? undefined : digestOf(password)

  return (req) => {
    if (!expected) return isDirect(req) ? undefined : { status: 403, error: closed }
    const given = req.headers['password']
    if (typeof given !== 'string') {
      return { status: 401, error: 'Send the password in the header "Password".' }
    }
    const now = clock().getTime()
    const address = req.socket.remoteAddress ?? ''
    const before = wrong.get(address)
    const isLive = before !== undefined && before.until > now
    if (isLive && before.times >= WRONG_MAX) {
      const retrySeconds = Math.ceil((before.until - now) / 1_000)
      return { status: 429, error: 'Too many wrong passwords. Try again later.', retrySeconds }
    }
    if (timingSafeEqual(digestOf(given), expected)) return undefined
    if (wrong.size >= ADDRESSES_MAX) wrong.clear()
    wrong.set(address, { times: isLive ? before.times + 1 : 1, until: now + SILENCE_MS })
    return { status: 401, error: 'This is not the password.' }
  }
}

const closed = 'Only programs on this machine may ask, unless CHECK_PASSWORD is set.'

/** Whether a program of this machine asks, with nobody between. */
export function isDirect(req: IncomingMessage): boolean {
  return isLoopback(req.socket.remoteAddress) && !goBetweens.some((name) => name in req.headers)
}

/** Whether an address of a connection is this machine's own. */
export function isLoopback(address: string | undefined): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(address ?? '')
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
