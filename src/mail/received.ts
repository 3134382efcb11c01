import { parseMailDate } from './date.ts'
import { receivedClauses, type ReceivedClauses, valueCharsMax } from './received-clauses.ts'
import {
  knownName,
  readLiteral,
  readPeerRemark,
  receivedPeer,
  type ReceivedPeer,
  type ReceivedStyle,
} from './received-peer.ts'

const proving = /^(?:(?:E?SMTPS?|LMTPS?|UTF8SMTPS?|UTF8LMTPS?)A|ASMTP)(?= |$)/i

/**
 * The beginnings of comments that state authentication, each with the mail system that writes it. A
 * pattern without a mail system captures the mechanism.
 */
const proofs: readonly (readonly [RegExp, string?])[] = [
  [/^authenticated sender/i, 'Postfix'],
  [/^authenticated as /i, 'CriticalPath'],
  [/^authenticated:/i, 'qmail'],
  [/^authenticated/i, 'Sendmail'],
  [/^account /i, 'CommuniGate'],
  [/^auth[:=]\s*([\w-]{1,20})/i],
]

/**
 * How the peer authenticated: the protocol that says so (RFC 3848), `HTTP` for web mail, which a
 * browser submits by HTTP, or the mail system or mechanism that a comment names. HTTPS alone proves
 * nothing: Exchange uses it between its own machines.
 */
function receivedAuth(
  field: Pick<ReceivedField, 'with' | 'via' | 'by' | 'software'>,
  comments: readonly string[],
): string | undefined {
  const { with: protocol = '', via = '' } = field
  const proved = proving.exec(protocol)
  if (proved) return proved[0].toUpperCase()
  for (const comment of comments) {
    const found = proofIn(comment.trimStart())
    if (found !== undefined) return found
  }
  if (/^httpu?(?= |$)/i.test(protocol) || /^http$/i.test(via)) return 'HTTP'
  return isGmxSubmission(field) ? 'GMX' : undefined
}

/** GMX accepts mail from its customers, and from nobody else, as `mail.gmx.net (mp010)`. */
function isGmxSubmission({ by, software }: Pick<ReceivedField, 'by' | 'software'>): boolean {
  if (!software?.startsWith('mp')) return false
  return /^mp\d+$/.test(software) && /^mail\.gmx\.(?:net|com)$/i.test(by.host ?? '')
}

function proofIn(comment: string): string | undefined {
  const first = comment.charCodeAt(0) | 0x20
  if (first === 0x61) {
    const proof = proofs.find(([pattern]) => pattern.test(comment))
    return proof && (proof[1] ?? proof[0].exec(comment)?.[1]?.toUpperCase())
  }
  if (comment.startsWith('via HTTP') || isUserOfWebMail(comment)) return 'HTTP'
  if (!comment.includes('@')) return undefined
  return /^[^\s@]+@\S+ with (login|plain|cram-md5)$/i.exec(comment)?.[1]?.toUpperCase()
}

function isUserOfWebMail(text: string): boolean {
  return /^(?:SquirrelMail|NaSMail) authenticated user /.test(text)
}

const eximId = /^[0-9A-Za-z]{6}-[0-9A-Za-z]{6,11}-[0-9A-Za-z]{2,4}$/

/**
 * Detects the style from the rest of the field: each mail system words the from clause differently.
 */
function receivedStyle(
  { with: protocol = '', via, id, auth }: Omit<ReceivedField, 'by' | 'from'>,
  { from, date, comments }: ReceivedClauses,
): ReceivedStyle {
  if (protocol === 'local' || protocol.startsWith('local ')) return 'usual'
  if (auth === 'HTTP') return 'http'
  if (via !== undefined && /^(?:smap|csmap|smtpd?)(?= |$)/i.test(via)) return 'firewall'
  if (id && /^(?:e?smtps?a?|asmtp)(?= |$)/.test(protocol) && eximId.test(id)) return 'exim'
  for (const comment of comments) {
    if (comment.startsWith('Exim') || comment.includes('helo=')) return 'exim'
  }
  const peers = from?.comments ?? []
  for (const comment of peers) if (/^(?:HELO|EHLO|LHLO)(?: |$)/.test(comment)) return 'qmail'
  const isBare = protocol === 'SMTP' && id === undefined && peers.length === 1
  return isBare && isQmailDate(date) ? 'qmail' : 'usual'
}

/** Whether a date has the form in which qmail writes it: `14 Nov 2026 08:05:50 -0000`. */
function isQmailDate(date: string): boolean {
  return date.endsWith(' -0000') && date.charCodeAt(0) < 0x3a
}

/** A parsed Received field. What the field does not state is absent. */
export type ReceivedField = {
  /**
   * Undefined when the field has no from clause, for example after a hand-over inside one machine.
   */
  from?: ReceivedPeer
  /** The comments of the from clause as written, at most ten. */
  fromComments?: string[]
  by: { host?: string; ip?: string }
  /** The protocol, as written: `ESMTPS`, `Microsoft SMTP Server`, `LMTP`, `local`. */
  with?: string
  via?: string
  id?: string
  /** The recipient's address, without angle brackets. */
  for?: string
  /** The return path, if the mail system recorded it; empty for `<>`. */
  envelopeFrom?: string
  at?: Date
  /** The date as written, without its comments. */
  dateText?: string
  /** How the peer authenticated: `ESMTPSA`, `Postfix`, `Sendmail`, `CommuniGate`, … */
  auth?: string
  /** The first comment of the by clause that is not an address: `Postfix`, `Haraka/2.8`. */
  software?: string
}

const textCharsMax = 400

/**
 * Parses the value of a Received field in the forms of RFC 5321 §4.4 and in the forms that common
 * mail systems write. Undefined when it names neither the sending nor the receiving machine nor a
 * protocol nor a date, or is longer than 64 KiB. Linear in its length; never throws.
 */
export function parseReceived(value: string): ReceivedField | undefined {
  if (value.length > valueCharsMax) return undefined
  const clauses = receivedClauses(value.includes('\0') ? withoutNuls(value) : value)
  const { from, by, comments } = clauses
  if (!from && !by && !clauses.with) return readStep(value, clauses)
  const field: ReceivedField = { by: by ? readBy(by.words, by.comments) : {} }
  const withWords = joined(clauses.with?.words)
  if (withWords) field.with = clip(withWords)
  const software = by?.comments.find((comment) => !readLiteral(comment.trim()))
  if (software !== undefined) field.software = clip(software)
  readRest(clauses, field)
  const auth = receivedAuth(field, comments)
  if (auth !== undefined) field.auth = auth
  if (from) {
    const peer = receivedPeer(from, receivedStyle(field, clauses))
    if (peer) field.from = peer
    if (from.comments.length > 0) field.fromComments = from.comments.slice(0, 10).map(clip)
  } else if (clauses.opening?.startsWith('from ')) {
    const peer = enclosedPeer(clauses.opening.slice(5))
    if (peer) field.from = peer
  }
  return field
}

/** Removes NULs from addresses in brackets; elsewhere a NUL is a blank. */
function withoutNuls(value: string): string {
  const literals = value.replaceAll(/\[[^\][]*\]/g, (literal) => literal.replaceAll('\0', ''))
  return literals.replaceAll('\0', ' ')
}

/**
 * Parses `(from host [192.0.2.1]) by …`, which some mail systems write when the peer gave no HELO,
 * and others always. Nothing shows that the name was looked up. Undefined without an address: then
 * a local program handed the message over.
 */
function enclosedPeer(text: string): ReceivedPeer | undefined {
  const { ip, rdns } = readPeerRemark(text)
  if (ip === undefined) return undefined
  return rdns === undefined ? { ip } : { unprovenRdns: rdns, ip }
}

/**
 * Parses a field without clauses: `(qmail 123 invoked from network); date`, which qmail writes each
 * time it accepts a message, `(ofmipd 192.0.2.1); date`, which names the client, or only a date.
 */
function readStep(value: string, { opening, date }: ReceivedClauses): ReceivedField | undefined {
  const at = readDate(date)
  const step: ReceivedField = { by: {}, ...(at && { at }) }
  if (opening === undefined) {
    const before = value.slice(0, value.indexOf(date)).replace(';', '').trim()
    return at && before === '' ? step : undefined
  }
  if (!/^(?:qmail|ofmipd) /.test(opening)) return undefined
  step.software = clip(opening)
  const ip = opening.startsWith('ofmipd ') ? readPeerRemark(opening.slice(7)).ip : undefined
  return ip === undefined ? step : { ...step, from: { ip } }
}

function readRest(clauses: ReceivedClauses, field: ReceivedField): void {
  const via = joined(clauses.via?.words)
  if (via) field.via = clip(via)
  const id = clauses.id?.words[0]
  if (id !== undefined) field.id = clip(bareAddress(id))
  const recipient = clauses.for?.words[0]
  if (recipient !== undefined) field.for = clip(bareAddress(recipient))
  const envelopeFrom = clauses['envelope-from']?.words[0] ?? envelopeFromOf(clauses.comments)
  if (envelopeFrom !== undefined) field.envelopeFrom = clip(bareAddress(envelopeFrom))
  if (clauses.date !== '') field.dateText = clip(clauses.date)
  const at = readDate(clauses.date)
  if (at) field.at = at
}

function readDate(text: string): Date | undefined {
  return text === '' ? undefined : parseMailDate(text)
}

function joined(words: readonly string[] | undefined): string | undefined {
  return words && words.length > 1 ? words.slice(0, 8).join(' ') : words?.[0]
}

function readBy(words: readonly string[], comments: readonly string[]): ReceivedField['by'] {
  const by: ReceivedField['by'] = {}
  const head = words[0]
  const literal = head === undefined ? undefined : readLiteral(head)
  const ip = literal?.ip ?? notedIp(comments) ?? readLiteral(words[1] ?? '')?.ip
  if (ip !== undefined) by.ip = ip
  const name = head === undefined || literal ? undefined : knownName(withoutComma(head))
  if (name !== undefined) by.host = clip(name)
  return by
}

function notedIp(comments: readonly string[]): string | undefined {
  for (const comment of comments) {
    const { ip } = readPeerRemark(comment)
    if (ip !== undefined) return ip
  }
  return undefined
}

function withoutComma(text: string): string {
  return text.endsWith(',') ? text.slice(0, -1) : text
}

function envelopeFromOf(comments: readonly string[]): string | undefined {
  for (const comment of comments) {
    if (!comment.includes('nvelope-') && !comment.includes('eturn-')) continue
    const found = /(?:envelope-(?:from|sender)|return-path)[\s:=]+([^\s,]+)/i.exec(comment)
    if (found) return found[1]
  }
  return undefined
}

function bareAddress(text: string): string {
  const opened = text.startsWith('<') ? text.slice(1) : text
  return opened.endsWith('>') ? opened.slice(0, -1) : opened
}

function clip(text: string): string {
  return text.slice(0, textCharsMax)
}
