import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { base32, fromBase32 } from './base32.ts'

/** What a token stands for: one of the things that hang on an id. */
export type TokenContent = {
  /** A UUID in its usual lower-case form. */
  id: string
  /** 1 to 255. */
  number: number
}

const macBytes = 10
const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const tokenShape = /^[a-z2-7]{28}-[a-z2-7]{16}$/

/**
 * A token that nobody else can make: its content, signed by the first 80 bits of an HMAC-SHA256
 * whose key serves one `purpose` only, so that a token of one is none of another. Base 32 in lower
 * case, 45 characters: it survives relays that change case, and people who read it aloud.
 *
 * Throws a RangeError when the id is no UUID or the number not within 1 to 255.
 */
export function composeToken(content: TokenContent, purpose: string, secret: string): string {
  const id = content.id.toLowerCase()
  if (!uuidShape.test(id)) throw new RangeError('A token needs a UUID')
  if (!Number.isInteger(content.number) || content.number < 1 || content.number > 255) {
    throw new RangeError('A token needs a number from 1 to 255')
  }
  const bytes = Buffer.from(id.replaceAll('-', '') + '00', 'hex')
  bytes[16] = content.number
  const mac = createHmac('sha256', keyOf(purpose, secret)).update(bytes).digest()
  return `${base32(bytes)}-${base32(mac.subarray(0, macBytes))}`
}

/**
 * Reads a token back, in any case: `'forged'` when it has the shape but not our signature for this
 * purpose, undefined when it is none. Takes the same time wherever the signature differs.
 */
export function parseToken(
  text: string,
  purpose: string,
  secret: string,
): TokenContent | 'forged' | undefined {
  const given = text.toLowerCase()
  if (!tokenShape.test(given)) return undefined
  const bytes = fromBase32(given.slice(0, 28))
  const number = bytes[16] ?? 0
  if (number === 0) return 'forged'
  const content = { id: uuidOf(bytes.subarray(0, 16)), number }
  const expected = composeToken(content, purpose, secret)
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? content : 'forged'
}

const derived = new Map<string, { secret: string; key: Buffer }>()

/** Derived once: a process has one secret and few purposes, and a thousand tokens a second. */
function keyOf(purpose: string, secret: string): Buffer {
  const known = derived.get(purpose)
  if (known?.secret === secret) return known.key
  const key = Buffer.from(hkdfSync('sha256', secret, '', `signalpost ${purpose}`, 32))
  derived.set(purpose, { secret, key })
  return key
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
