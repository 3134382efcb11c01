import { parseMailDate } from './date.ts'
import { receivedAuth } from './received-auth.ts'
import { receivedClauses } from './received-clauses.ts'
import type { ReceivedClauses } from './received-clauses.ts'
import { knownName, readLiteral, readPeerRemark } from './received-comment.ts'
import { receivedPeer } from './received-peer.ts'
import type { ReceivedPeer } from './received-peer.ts'
import { receivedStyle } from './received-style.ts'
import { valueCharsMax } from './received-tokens.ts'

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
  /** The date as it was written, its comments left out. */
  dateText?: string
  /** How the peer proved who it was: `ESMTPSA`, `Postfix`, `Sendmail`, `CommuniGate`, … */
  auth?: string
  /** The first comment of the by clause that is no address: `Postfix`, `Haraka/2.8`. */
  software?: string
}

const textCharsMax = 400

/**
 * Reads the value of a Received field in the forms of RFC 5321 §4.4 and those that common mail
 * systems write instead. Undefined when it says neither who handed over nor who received, or is
 * longer than 64 KiB. Linear in its length; never throws.
 */
export function parseReceived(value: string): ReceivedField | undefined {
  if (value.length > valueCharsMax) return undefined
  const clauses = receivedClauses(value)
  const { from, by, comments } = clauses
  if (!from && !by && !clauses.with) return readQmailStep(clauses)
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
  }
  return field
}

/** qmail writes `(qmail 123 invoked from network); date` each time it takes a message in. */
function readQmailStep({ opening, date }: ReceivedClauses): ReceivedField | undefined {
  if (!opening?.startsWith('qmail ')) return undefined
  const at = readDate(date)
  const step = { by: {}, software: clip(opening) }
  return at ? { ...step, at } : step
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
  if (text === '') return undefined
  const at = parseMailDate(text)
  return at ?? (text.includes('\0') ? parseMailDate(text.replaceAll('\0', ' ')) : undefined)
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
