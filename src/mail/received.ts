import { parseMailDate } from './date.ts'
import { receivedAuth } from './received-auth.ts'
import { receivedClauses } from './received-clauses.ts'
import type { ReceivedClauses } from './received-clauses.ts'
import { knownName, readLiteral, readPeerRemark } from './received-comment.ts'
import { receivedPeer } from './received-peer.ts'
import type { ReceivedPeer, ReceivedStyle } from './received-peer.ts'
import type { ReceivedToken } from './received-tokens.ts'

/** A Received field, read. What the field does not say is absent. */
export type ReceivedField = {
  /** Undefined when the field has no from clause: a hand-over inside one machine. */
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
  /** The return path, where the mail system wrote it down; empty for `<>`. */
  envelopeFrom?: string
  at?: Date
  /** How the peer proved who it was: `ESMTPSA`, `Postfix`, `Sendmail`, `CommuniGate`, … */
  auth?: string
  /** The first comment of the by clause that is no address: `Postfix`, `Haraka/2.8`. */
  software?: string
}

const clauseOrder = ['from', 'by', 'via', 'with', 'id', 'for', 'envelope-from', 'date'] as const

const valueCharsMax = 64 * 1024
const textCharsMax = 400

/**
 * Reads the value of a Received field in the forms of RFC 5321 §4.4 and those that common mail
 * systems write instead. Undefined when it says neither who handed over nor who received, or is
 * longer than 64 KiB. Linear in its length; never throws.
 */
export function parseReceived(value: string): ReceivedField | undefined {
  if (value.length > valueCharsMax) return undefined
  const { clauses, first } = receivedClauses(value)
  const { from, by } = clauses
  if (!from && !by && !clauses.with) return readQmailStep(first, clauses)
  const field: ReceivedField = { by: readBy(by?.words ?? [], by?.comments ?? []) }
  const withWords = clauses.with?.words.slice(0, 8).join(' ')
  if (withWords) field.with = clip(withWords)
  const software = by?.comments.find((comment) => !readLiteral(comment.trim()))
  if (software !== undefined) field.software = clip(software)
  const comments = allComments(clauses)
  readRest(clauses, comments, field)
  if (from) {
    const peer = receivedPeer({ ...from, style: styleOf(field, clauses, comments) })
    if (Object.keys(peer).length > 0) field.from = peer
    if (from.comments.length > 0) field.fromComments = from.comments.slice(0, 10).map(clip)
  }
  return field
}

/** qmail writes `(qmail 123 invoked from network); date` each time it takes a message in. */
function readQmailStep(
  first: ReceivedToken | undefined,
  clauses: ReceivedClauses,
): ReceivedField | undefined {
  if (first?.kind !== 'comment' || !first.text.startsWith('qmail ')) return undefined
  const at = parseMailDate(clauses.date?.words.join(' ') ?? '')
  const step = { by: {}, software: clip(first.text) }
  return at ? { ...step, at } : step
}

function readRest(
  clauses: ReceivedClauses,
  comments: readonly string[],
  field: ReceivedField,
): void {
  const via = clauses.via?.words.join(' ')
  if (via) field.via = clip(via)
  const id = clauses.id?.words[0]
  if (id !== undefined) field.id = clip(bareAddress(id))
  const recipient = clauses.for?.words[0]
  if (recipient !== undefined) field.for = clip(bareAddress(recipient))
  const envelopeFrom = clauses['envelope-from']?.words[0] ?? envelopeFromOf(comments)
  if (envelopeFrom !== undefined) field.envelopeFrom = clip(bareAddress(envelopeFrom))
  const at = parseMailDate(clauses.date?.words.join(' ') ?? '')
  if (at) field.at = at
  const auth = receivedAuth(field, comments)
  if (auth !== undefined) field.auth = auth
}

function allComments(clauses: ReceivedClauses): string[] {
  const comments: string[] = []
  for (const name of clauseOrder) {
    const clause = clauses[name]
    if (clause) comments.push(...clause.comments)
  }
  return comments
}

function readBy(words: readonly string[], comments: readonly string[]): ReceivedField['by'] {
  const by: ReceivedField['by'] = {}
  const head = words[0]
  const literal = head === undefined ? undefined : readLiteral(head)
  const noted = comments.map(readPeerRemark).find((remark) => remark.ip !== undefined)
  const ip = literal?.ip ?? noted?.ip ?? words.slice(1, 2).map(readLiteral)[0]?.ip
  if (ip !== undefined) by.ip = ip
  const name = head === undefined || literal ? undefined : knownName(head.replace(/,$/, ''))
  if (name !== undefined) by.host = clip(name)
  return by
}

/** Each mail system words the from clause in its own way; the rest of the line betrays which. */
function styleOf(
  field: ReceivedField,
  { from, date }: ReceivedClauses,
  comments: readonly string[],
): ReceivedStyle {
  const protocol = field.with ?? field.via ?? ''
  if (/^local(?= |$)/.test(protocol)) return 'usual'
  if (field.auth === 'HTTP') return 'http'
  if (/^(?:smap|csmap|smtpd?)(?= |$)/i.test(field.via ?? '')) return 'firewall'
  if (/^(?:e?smtps?a?|asmtp)(?= |$)/.test(protocol) && eximId.test(field.id ?? '')) {
    return 'exim'
  }
  if (comments.some((text) => text.startsWith('Exim') || text.includes('helo='))) return 'exim'
  if (from?.comments.some((comment) => /^[HE][EH]LO(?: |$)/.test(comment))) return 'qmail'
  const isBare = field.with === 'SMTP' && field.id === undefined && from?.comments.length === 1
  return isBare && date && isQmailDate(date.words) ? 'qmail' : 'usual'
}

const eximId = /^[0-9A-Za-z]{6}-[0-9A-Za-z]{6,11}-[0-9A-Za-z]{2,4}$/

/** `14 Nov 2026 08:05:50 -0000` */
function isQmailDate(words: readonly string[]): boolean {
  return words.length === 5 && words[4] === '-0000'
}

function envelopeFromOf(comments: readonly string[]): string | undefined {
  for (const comment of comments) {
    if (!/envelope-|return-path/i.test(comment)) continue
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
