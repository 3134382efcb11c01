import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Which feedback report a return path stands for: the nth one made for a report. */
export type ReturnPathToken = {
  /** The report's id, a UUID in its usual lower-case form. */
  reportId: string
  /** Which of the report's feedback reports, 1 to 255. */
  number: number
}

/** Where return paths live and what signs them. */
export type ReturnPathSettings = { domain: string; secret: string }

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const macBytes = 10
const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const returnPathShape = /^<?fb-([a-z2-7]{28})-[a-z2-7]{16}@([^@<>\s]+?)\.?>?$/

/**
 * The variable envelope return path of one feedback report: what is sent under it bounces to it,
 * so a bounce names its report however badly it is written. Lower case and case-insensitive
 * (relays change case), 48 octets before the `@` where RFC 5321 §4.5.3.1.1 allows 64, and signed
 * by the first 80 bits of an HMAC-SHA256 whose key serves nothing else.
 *
 * Throws a RangeError when the report id is no UUID or the number not within 1 to 255.
 */
export function composeReturnPath(token: ReturnPathToken, settings: ReturnPathSettings): string {
  const reportId = token.reportId.toLowerCase()
  if (!uuidShape.test(reportId)) throw new RangeError('A return path needs a UUID')
  if (!Number.isInteger(token.number) || token.number < 1 || token.number > 255) {
    throw new RangeError('A return path needs a number from 1 to 255')
  }
  const content = Buffer.from(reportId.replaceAll('-', '') + '00', 'hex')
  content[16] = token.number
  const mac = createHmac('sha256', signingKey(settings.secret)).update(content).digest()
  const signature = base32(mac.subarray(0, macBytes))
  return `fb-${base32(content)}-${signature}@${settings.domain.toLowerCase()}`
}

/**
 * Reads a return path back, in any case and with or without angle brackets: the token it was
 * made of, `'forged'` when it has the shape and the domain but not our signature, undefined when
 * it is some other address. The comparison takes the same time wherever the signature differs.
 */
export function parseReturnPath(
  address: string,
  settings: ReturnPathSettings,
): ReturnPathToken | 'forged' | undefined {
  const [, content, domain] = returnPathShape.exec(address.trim().toLowerCase()) ?? []
  if (content === undefined || domain !== settings.domain.toLowerCase()) return undefined
  const bytes = fromBase32(content)
  const number = bytes[16] ?? 0
  if (number === 0) return 'forged'
  const token = { reportId: uuidOf(bytes.subarray(0, 16)), number }
  const expected = localPart(composeReturnPath(token, settings))
  const given = localPart(address.trim().toLowerCase().replace(/^</, ''))
  if (given.length !== expected.length) return 'forged'
  return timingSafeEqual(given, expected) ? token : 'forged'
}

let derived: { secret: string; key: Buffer } | undefined

/** Derived once: a process has one secret, and a thousand return paths a second. */
function signingKey(secret: string): Buffer {
  if (derived?.secret !== secret) {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'signalpost return path 1', 32))
    derived = { secret, key }
  }
  return derived.key
}

function localPart(address: string): Buffer {
  return Buffer.from(address.slice(0, address.lastIndexOf('@')))
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Base 32 by RFC 4648 §6, in lower case and without padding. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((held >> bits) & 31)
    }
  }
  return bits === 0 ? text : text + alphabet.charAt((held << (5 - bits)) & 31)
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const character of text) {
    held = ((held << 5) | alphabet.indexOf(character)) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((held >> bits) & 255)
  }
  return Buffer.from(bytes)
}
