import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { KeyPurpose, KeyRing } from '../key-ring.ts'
import { addressKey, type KeyedLink, signedLink } from './keys.ts'

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** Encodes bytes in base 32 (RFC 4648 §6), in lower case and without padding. */
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

/** Decodes base 32; ignores the bits that are left over at the end. */
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

/**
 * The content of a token: an id and a number, such as the id of a report and the number of one of
 * its feedback reports.
 */
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
 * Composes a token that nobody else can forge: its content, signed with the first 80 bits of an
 * HMAC-SHA256. The key is derived for one `purpose`, so that a token for one purpose is not valid
 * for another. Base 32 in lower case, 45 characters: it survives relays that change case, and can
 * be read aloud.
 *
 * Throws a RangeError when the id is not a UUID or the number is not within 1 to 255.
 */
export function composeToken(content: TokenContent, purpose: KeyPurpose, secret: KeyRing): string {
  return signToken(content, secret.key(purpose))
}

function signToken(content: TokenContent, key: Buffer): string {
  const id = content.id.toLowerCase()
  if (!uuidShape.test(id)) throw new RangeError('A token needs a UUID')
  if (!Number.isInteger(content.number) || content.number < 1 || content.number > 255) {
    throw new RangeError('A token needs a number from 1 to 255')
  }
  const bytes = Buffer.from(id.replaceAll('-', '') + '00', 'hex')
  bytes[16] = content.number
  const mac = createHmac('sha256', key).update(bytes).digest()
  return `${base32(bytes)}-${base32(mac.subarray(0, macBytes))}`
}

/**
 * Parses a token, in any case: `'forged'` when it has the shape but not our signature for this
 * purpose, undefined when it is not a token. A previous secret is accepted if what the token names
 * is older than its end. The comparison of signatures takes constant time.
 */
export function parseToken(
  text: string,
  purpose: KeyPurpose,
  secret: KeyRing,
): TokenContent | 'forged' | undefined {
  const given = text.toLowerCase()
  if (!tokenShape.test(given)) return undefined
  const bytes = fromBase32(given.slice(0, 28))
  const number = bytes[16] ?? 0
  if (number === 0) return 'forged'
  const content = { id: uuidOf(bytes.subarray(0, 16)), number }
  const compare = (key: Buffer) => {
    const expected = Buffer.from(signToken(content, key))
    return timingSafeEqual(Buffer.from(given), expected) ? content : undefined
  }
  return secret.find(purpose, compare, idTime(content.id)) ?? 'forged'
}

/** The time in a UUID of version 7; others may be of any time. */
function idTime(id: string): Date | undefined {
  if (id.charAt(14) !== '7') return undefined
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16))
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The answers that an abuse desk can give to a feedback report. */
export const answerKinds = ['resolved', 'not-ours', 'wrong', 'stop', 'original'] as const

export type AnswerKind = (typeof answerKinds)[number]

/** The answers that say what became of a report; `original` asks for more. */
export type ResultKind = Exclude<AnswerKind, 'original'>

/**
 * The links to the pages on which the consumer of one feedback report answers it, one for each
 * answer. Each page asks for confirmation before it acts, because mail scanners follow links.
 */
export function answerLinks(
  { reportId, number }: ReturnPathToken,
  { publicUrl, secret }: { publicUrl: string; secret: KeyRing },
): Record<AnswerKind, string> {
  const token = composeToken({ id: reportId, number }, 'answer link', secret)
  const linkOf = (kind: AnswerKind) => `${publicUrl}/answer/${token}/${kind}`
  return {
    resolved: linkOf('resolved'),
    'not-ours': linkOf('not-ours'),
    wrong: linkOf('wrong'),
    stop: linkOf('stop'),
    original: linkOf('original'),
  }
}

/** The keys in the answer links and in the answer address of a feedback report. */
export function answerKeys(token: ReturnPathToken, settings: ReturnPathSettings): string[] {
  const { resolved } = answerLinks(token, { publicUrl: '', secret: settings.secret })
  const [link = ''] = resolved.split('/').slice(-2)
  return [signedLink(link).key, addressKey(composeAnswerAddress(token, settings))]
}

/**
 * The feedback report that the token of an answer link names; undefined when the token is not ours.
 */
export function parseAnswerToken(token: string, secret: KeyRing): ReturnPathToken | undefined {
  const content = parseToken(token, 'answer link', secret)
  if (content === undefined || content === 'forged') return undefined
  return { reportId: content.id, number: content.number }
}

/** Letters that their reader can turn off by a link in them, and their number in its token. */
const optionalLetters = { advice: 1, news: 2, summary: 3 } as const

export type OptionalLetters = keyof typeof optionalLetters

/**
 * The link to the page on which a reporter turns off letters of one kind. The page asks for
 * confirmation before it acts.
 */
export function lettersOffLink(
  reporterId: string,
  letters: OptionalLetters,
  { publicUrl, secret }: { publicUrl: string; secret: KeyRing },
): KeyedLink {
  const content = { id: reporterId, number: optionalLetters[letters] }
  const token = composeToken(content, 'letters off', secret)
  return signedLink(`${publicUrl}/letters/off/${token}`)
}

/**
 * The reporter and the letters that the token of such a link names; undefined when the token is not
 * ours.
 */
export function parseLettersOffToken(
  token: string,
  secret: KeyRing,
): { reporterId: string; letters: OptionalLetters } | undefined {
  const content = parseToken(token, 'letters off', secret)
  if (content === undefined || content === 'forged') return undefined
  const all = Object.keys(optionalLetters) as OptionalLetters[]
  const letters = all.find((name) => optionalLetters[name] === content.number)
  return letters && { reporterId: content.id, letters }
}

const SECRET_CHARS = 26
const SECRET_BYTES = 17

/**
 * The secret of the address to which a reporter mails reports: 130 bits derived by a key of ours,
 * so that it need not be stored. A new generation has a new secret.
 */
export function mailInSecret(
  { reporterId, generation }: { reporterId: string; generation: number },
  key: Buffer,
): string {
  const mac = createHmac('sha256', key).update(`${reporterId.toLowerCase()} ${generation}`).digest()
  return base32(mac.subarray(0, SECRET_BYTES)).slice(0, SECRET_CHARS)
}

/** The hash by which a mail-in secret is looked up; it cannot be reversed. */
export function mailInHash(mailSecret: string): Buffer {
  return createHash('sha256').update(`mail-in ${mailSecret.toLowerCase()}`).digest()
}

/** The feedback report that a return path identifies: the nth one made for a report. */
export type ReturnPathToken = {
  /** The report's id, a UUID in its usual lower-case form. */
  reportId: string
  /** Which of the feedback reports made for that report this is, from 1 to 255. */
  number: number
}

export type ReturnPathSettings = { domain: string; secret: KeyRing }

/** An address of ours to which a mail was sent, by its purpose. */
export type OwnAddress =
  | ({ is: 'feedback-bounce' } & ReturnPathToken)
  /** The Reply-To of a feedback report, for its consumer's answer. */
  | ({ is: 'feedback-answer' } & ReturnPathToken)
  | { is: 'letter-bounce'; letterId: string }
  | { is: 'letter-answer'; letterId: string }
  /** The address to which a reporter sends mail to report: the secret is looked up by its hash. */
  | { is: 'mail-in'; secret: string }

const kinds = {
  fb: 'feedback-bounce',
  re: 'feedback-answer',
  lt: 'letter-bounce',
  la: 'letter-answer',
} as const

type Prefix = keyof typeof kinds

const purposes: Record<Prefix, KeyPurpose> = {
  fb: 'return path',
  re: 'answer address',
  lt: 'letter return path',
  la: 'letter answer address',
}

const addressShape = /^<?(fb|re|lt|la)-([a-z2-7-]{45})@([^@<>\s]+?)\.?>?$/
const mailInShape = /^<?report-([a-z2-7]{26})@([^@<>\s]+?)\.?>?$/

/**
 * Composes the variable envelope return path of one feedback report. Bounces are sent to it, so
 * even a malformed bounce identifies its report. It is in lower case and case-insensitive, because
 * relays change case; it has 48 octets before the `@`, where RFC 5321 §4.5.3.1.1 allows 64; and it
 * is signed.
 *
 * Throws a RangeError when the report id is not a UUID or the number is not within 1 to 255.
 */
export function composeReturnPath(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('fb', { id: token.reportId, number: token.number }, settings)
}

/** Composes the Reply-To of one feedback report; mail to it is the answer of its consumer. */
export function composeAnswerAddress(token: ReturnPathToken, settings: ReturnPathSettings): string {
  return addressOf('re', { id: token.reportId, number: token.number }, settings)
}

export function composeLetterReturnPath(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('lt', { id: letterId, number: 1 }, settings)
}

/** Composes the Message-ID of a letter, with its angle brackets. */
export function letterMessageId(id: string, domain: string): string {
  return `<letter.${id}@${domain}>`
}

export function letterIdIn(messageId: string, domain: string): string | undefined {
  const [, id, host] = /^<letter\.([\da-f-]{36})@([^<>@\s]+)>$/i.exec(messageId.trim()) ?? []
  return host?.toLowerCase() === domain.toLowerCase() ? id?.toLowerCase() : undefined
}

/** Composes the Reply-To of a letter that may be answered. */
export function composeLetterAnswerAddress(letterId: string, settings: ReturnPathSettings): string {
  return addressOf('la', { id: letterId, number: 1 }, settings)
}

/** Composes the address to which a reporter sends mail to report; `secret` is base 32. */
export function composeMailInAddress(
  secret: string,
  { domain }: Pick<ReturnPathSettings, 'domain'>,
): string {
  return `report-${secret}@${domain.toLowerCase()}`
}

/**
 * Parses an address of ours, in any case and with or without angle brackets: `'forged'` when it has
 * the shape and the domain but not our signature, undefined when it is any other address. The
 * comparison of signatures takes constant time.
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

function addressOf(
  prefix: Prefix,
  content: { id: string; number: number },
  { domain, secret }: ReturnPathSettings,
): string {
  return `${prefix}-${composeToken(content, purposes[prefix], secret)}@${domain.toLowerCase()}`
}
