import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

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

/** The bytes of a text of those digits; what is left of the last ones falls away. */
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

/** What an abuse desk may say to a feedback report. */
export const answerKinds = ['resolved', 'not-ours', 'wrong', 'stop'] as const

/** One of them. */
export type AnswerKind = (typeof answerKinds)[number]

const ANSWER_PURPOSE = 'answer link 1'

/**
 * The pages on which the consumer of one feedback report answers it, by what they say. Each asks
 * before it acts: mail scanners follow links.
 */
export function answerLinks(
  { reportId, number }: ReturnPathToken,
  { publicUrl, secret }: { publicUrl: string; secret: string },
): Record<AnswerKind, string> {
  const token = composeToken({ id: reportId, number }, ANSWER_PURPOSE, secret)
  const linkOf = (kind: AnswerKind) => `${publicUrl}/answer/${token}/${kind}`
  return {
    resolved: linkOf('resolved'),
    'not-ours': linkOf('not-ours'),
    wrong: linkOf('wrong'),
    stop: linkOf('stop'),
  }
}

/** Which feedback report the token of such a link names; undefined when it is none of ours. */
export function parseAnswerToken(token: string, secret: string): ReturnPathToken | undefined {
  const content = parseToken(token, ANSWER_PURPOSE, secret)
  if (content === undefined || content === 'forged') return undefined
  return { reportId: content.id, number: content.number }
}

const ADVICE_OFF_PURPOSE = 'advice off 1'

/** The page on which a reporter switches letters of advice off. It asks before it acts. */
export function adviceOffLink(
  reporterId: string,
  { publicUrl, secret }: { publicUrl: string; secret: string },
): string {
  const token = composeToken({ id: reporterId, number: 1 }, ADVICE_OFF_PURPOSE, secret)
  return `${publicUrl}/advice/off/${token}`
}

/** Whose letters the token of such a link is about; undefined when it is none of ours. */
export function parseAdviceOffToken(token: string, secret: string): string | undefined {
  const content = parseToken(token, ADVICE_OFF_PURPOSE, secret)
  return content === undefined || content === 'forged' ? undefined : content.id
}

const SECRET_CHARS = 26
const SECRET_BYTES = 17

/**
 * The secret of the address to which a reporter mails reports: 130 bits that only our own secret
 * can make, so nothing that tells it is stored. A new generation has a new one.
 */
export function mailInSecret(
  { reporterId, generation }: { reporterId: string; generation: number },
  secret: string,
): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'signalpost mail-in address 1', 32))
  const mac = createHmac('sha256', key).update(`${reporterId.toLowerCase()} ${generation}`).digest()
  return base32(mac.subarray(0, SECRET_BYTES)).slice(0, SECRET_CHARS)
}

/** By which a secret is looked up; nobody can turn it back. */
export function mailInHash(mailSecret: string): Buffer {
  return createHash('sha256').update(`mail-in ${mailSecret.toLowerCase()}`).digest()
}

/** Which feedback report a return path stands for: the nth one made for a report. */
export type ReturnPathToken = {
  /** The report's id, a UUID in its usual lower-case form. */
  reportId: string
  /** Which of the report's feedback reports, 1 to 255. */
  number: number
}

/** Where return paths live and what signs them. */
export type ReturnPathSettings = { domain: string; secret: string }

/** An address of ours that a mail was sent to, by what it was given out for. */
export type OwnAddress =
  /** The return path of a feedback report. */
  | ({ is: 'feedback-bounce' } & ReturnPathToken)
  /** Where its consumer answers. */
  | ({ is: 'feedback-answer' } & ReturnPathToken)
  /** The return path of a letter. */
  | { is: 'letter-bounce'; letterId: string }
  /** Where who got a letter answers. */
  | { is: 'letter-answer'; letterId: string }
  /** Where a reporter sends mail to be reported: the secret is looked up by its hash. */
  | { is: 'mail-in'; secret: string }

const kinds = {
  fb: 'feedback-bounce',
  re: 'feedback-answer',
  lt: 'letter-bounce',
  la: 'letter-answer',
} as const

type Prefix = keyof typeof kinds

const purposes: Record<Prefix, string> = {
  fb: 'return path 1',
  re: 'answer address 1',
  lt: 'letter return path 1',
  la: 'letter answer address 1',
}

const addressShape = /^<?(fb|re|lt|la)-([a-z2-7-]{45})@([^@<>\s]+?)\.?>?$/
const mailInShape = /^<?report-([a-z2-7]{26})@([^@<>\s]+?)\.?>?$/

/**
 * The variable envelope return path of one feedback report: what is sent under it bounces to it,
 * so a bounce names its report however badly it is written. Lower case and case-insensitive
 * (relays change case), 48 octets before the `@` where RFC 5321 §4.5.3.1.1 allows 64, and signed.
 *
 * Throws a RangeError when the report id is no UUID or the number not within 1 to 255.
 */
export function composeReturnPath(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('fb', { id: token.reportId, number: token.number }, settings)
}

/** The Reply-To of one feedback report: what comes there is its consumer's answer. */
export function composeAnswerAddress(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('re', { id: token.reportId, number: token.number }, settings)
}

/** The return path of a letter. */
export function composeLetterReturnPath(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('lt', { id: letterId, number: 1 }, settings)
}

/** The Reply-To of a letter that may be answered. */
export function composeLetterAnswerAddress(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('la', { id: letterId, number: 1 }, settings)
}

/** The address to which a reporter sends what is to be reported; `secret` is base 32. */
export function composeMailInAddress(
  secret: string,
  { domain }: Pick<ReturnPathSettings, 'domain'>,
): string {
  return `report-${secret}@${domain.toLowerCase()}`
}

/**
 * What an address of ours was given out for, in any case and with or without angle brackets:
 * `'forged'` when it has the shape and the domain but not our signature, undefined when it is some
 * other address. The comparison takes the same time wherever the signature differs.
 */
export function parseOwnAddress(
  address: string,
  settings: ReturnPathSettings,
): OwnAddress | 'forged' | undefined {
  const given = address.trim().toLowerCase()
  const ours = settings.domain.toLowerCase()
  const [, secret, mailInDomain] = mailInShape.exec(given) ?? []
  if (secret !== undefined) return mailInDomain === ours ? { is: 'mail-in', secret } : undefined
  const [, prefix, token = '', domain] = addressShape.exec(given) ?? []
  if (prefix === undefined || domain !== ours) return undefined
  const content = parseToken(token, purposes[prefix as Prefix], settings.secret)
  if (content === undefined || content === 'forged') return content
  const its = kinds[prefix as Prefix]
  if (its === 'letter-bounce' || its === 'letter-answer') return { is: its, letterId: content.id }
  return { is: its, reportId: content.id, number: content.number }
}

/** The same for return paths of feedback reports alone; any other address is undefined. */
export function parseReturnPath(
  address: string,
  settings: ReturnPathSettings,
): ReturnPathToken | 'forged' | undefined {
  const own = parseOwnAddress(address, settings)
  if (own === undefined) return undefined
  if (own === 'forged') return /^\s*<?fb-/i.test(address) ? own : undefined
  if (own.is !== 'feedback-bounce') return undefined
  return { reportId: own.reportId, number: own.number }
}

function addressOf(
  prefix: Prefix,
  content: { id: string; number: number },
  { domain, secret }: ReturnPathSettings,
): string {
  return `${prefix}-${composeToken(content, purposes[prefix], secret)}@${domain.toLowerCase()}`
}
