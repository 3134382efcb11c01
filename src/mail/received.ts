import { parseMailDate } from './date.ts'
import { knownName, readLiteral, receivedPeer } from './received-peer.ts'
import type { ReceivedPeer, ReceivedStyle } from './received-peer.ts'
import { receivedTokens } from './received-tokens.ts'
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
  /** The date as it was written, its comments left out. */
  dateText?: string
  /** How the peer proved who it was: `ESMTPSA`, `Postfix`, `Sendmail`, `CommuniGate`, … */
  auth?: string
  /** The first comment of the by clause that is no address: `Postfix`, `Haraka/2.8`. */
  software?: string
}

const keywords = ['from', 'by', 'via', 'with', 'id', 'for', 'envelope-from'] as const

type ClauseName = (typeof keywords)[number] | 'date'
type Clause = { words: string[]; comments: string[] }
type Clauses = Partial<Record<ClauseName, Clause>>

const valueCharsMax = 64 * 1024
const textCharsMax = 400

/**
 * Reads the value of a Received field in the forms of RFC 5321 §4.4 and those that common mail
 * systems write instead. Undefined when it says neither who handed over nor who received, or is
 * longer than 64 KiB. Linear in its length; never throws.
 */
export function parseReceived(value: string): ReceivedField | undefined {
  if (value.length > valueCharsMax) return undefined
  const tokens = receivedTokens(value)
  const clauses = splitClauses(tokens)
  const { from, by } = clauses
  if (!from && !by) return readQmailStep(tokens[0], clauses)
  const field: ReceivedField = { by: readBy(by?.words ?? [], by?.comments ?? []) }
  const withWords = clauses.with?.words.slice(0, 8).join(' ')
  if (withWords) field.with = clip(withWords)
  const comments = Object.values(clauses).flatMap((clause) => clause.comments)
  const software = by?.comments.find((comment) => !readLiteral(comment.trim()))
  if (software !== undefined) field.software = clip(software)
  if (from) {
    const peer = receivedPeer({ ...from, style: styleOf(field.with, comments, from.comments) })
    if (Object.keys(peer).length > 0) field.from = peer
    if (from.comments.length > 0) field.fromComments = from.comments.slice(0, 10).map(clip)
  }
  readRest(clauses, comments, field)
  return field
}

/** qmail writes `(qmail 123 invoked from network); date` each time it takes a message in. */
function readQmailStep(
  first: ReceivedToken | undefined,
  clauses: Clauses,
): ReceivedField | undefined {
  if (first?.kind !== 'comment' || !first.text.startsWith('qmail ')) return undefined
  const at = parseMailDate(clauses.date?.words.join(' ') ?? '')
  const step = { by: {}, software: clip(first.text) }
  return at ? { ...step, at } : step
}

function readRest(clauses: Clauses, comments: readonly string[], field: ReceivedField): void {
  const via = clauses.via?.words.join(' ')
  if (via) field.via = clip(via)
  const id = clauses.id?.words[0]
  if (id !== undefined) field.id = clip(bareAddress(id))
  const recipient = clauses.for?.words[0]
  if (recipient !== undefined) field.for = clip(bareAddress(recipient))
  const envelopeFrom = clauses['envelope-from']?.words[0] ?? envelopeFromOf(comments)
  if (envelopeFrom !== undefined) field.envelopeFrom = clip(bareAddress(envelopeFrom))
  const dateText = clauses.date?.words.join(' ')
  if (dateText) field.dateText = clip(dateText)
  const at = parseMailDate(dateText ?? '')
  if (at) field.at = at
  const auth = authOf(field.with, comments)
  if (auth !== undefined) field.auth = auth
}

/**
 * The word after a keyword is its value whatever it says, so a HELO of `by` cannot pass for a
 * clause; a comment right after `from` stands for a HELO that was empty. What stands behind the
 * last semicolon is the date.
 */
function splitClauses(tokens: readonly ReceivedToken[]): Clauses {
  const clauses: Clauses = {}
  const dateFrom = tokens.findLastIndex(({ kind }) => kind === 'semicolon')
  let current: Clause | undefined
  let isValueDue = false
  const end = dateFrom < 0 ? tokens.length : dateFrom
  for (let index = 0; index < end; index++) {
    const token = tokens[index]
    if (!token || token.kind === 'semicolon') {
      isValueDue = false
      continue
    }
    if (token.kind === 'comment') {
      current?.comments.push(token.text)
      isValueDue &&= current !== clauses.from
      continue
    }
    const name: ClauseName | undefined = isValueDue ? undefined : clauseName(token.text)
    isValueDue = name !== undefined && !clauses[name] && fits(name, clauses)
    if (name !== undefined && isValueDue) current = openClause(name, clauses)
    else current?.words.push(token.text)
  }
  if (dateFrom >= 0) readDate(tokens.slice(dateFrom + 1), openClause('date', clauses))
  return clauses
}

function readDate(tokens: readonly ReceivedToken[], clause: Clause): void {
  for (const { kind, text } of tokens) {
    if (kind === 'comment') clause.comments.push(text)
    else clause.words.push(text)
  }
}

function openClause(name: ClauseName, clauses: Clauses): Clause {
  const clause = { words: [], comments: [] }
  clauses[name] = clause
  return clause
}

function clauseName(word: string): ClauseName | undefined {
  if (word.length > 4 && word.length !== 13) return undefined
  for (const keyword of keywords) {
    if (word.length !== keyword.length) continue
    if ((word.charCodeAt(0) | 0x20) !== keyword.charCodeAt(0)) continue
    if (word.toLowerCase() === keyword) return keyword
  }
  return undefined
}

/** `from` opens the field; the others follow it or `by`. */
function fits(name: ClauseName, clauses: Clauses): boolean {
  const { from, by } = clauses
  if (name === 'from') return !by
  return name === 'by' || from !== undefined || by !== undefined
}

function readBy(words: readonly string[], comments: readonly string[]): ReceivedField['by'] {
  const by: ReceivedField['by'] = {}
  const head = words[0]
  const literal = head === undefined ? undefined : readLiteral(head)
  const noted = comments.map((comment) => readLiteral(comment.trim())).find(Boolean)
  const ip = literal?.ip ?? noted?.ip ?? words.slice(1, 2).map(readLiteral)[0]?.ip
  if (ip !== undefined) by.ip = ip
  const name = head === undefined || literal ? undefined : knownName(head.replace(/,$/, ''))
  if (name !== undefined) by.host = clip(name)
  return by
}

function styleOf(
  protocol: string | undefined,
  comments: readonly string[],
  fromComments: readonly string[],
): ReceivedStyle {
  if (protocol !== undefined && /^(e?smtps?a?|asmtp|local)(?= |$)/.test(protocol)) return 'exim'
  if (comments.some((text) => text.startsWith('Exim') || text.includes('helo='))) return 'exim'
  return fromComments.some((comment) => /^[HE][EH]LO /.test(comment)) ? 'qmail' : 'usual'
}

function envelopeFromOf(comments: readonly string[]): string | undefined {
  for (const comment of comments) {
    if (!/envelope-|return-path/i.test(comment)) continue
    const words = comment.split(/[\s=]+/, 60)
    const at = words.findIndex((word) => /^(envelope-(from|sender)|return-path)$/i.test(word))
    const value = at < 0 ? undefined : words[at + 1]
    if (value !== undefined) return value
  }
  return undefined
}

const authenticated: readonly (readonly [RegExp, string])[] = [
  [/^\s*authenticated sender/i, 'Postfix'],
  [/^\s*authenticated/i, 'Sendmail'],
  [/^\s*account /i, 'CommuniGate'],
  [/^\s*auth[:=]/i, 'Auth'],
]

function authOf(protocol: string | undefined, comments: readonly string[]): string | undefined {
  const proving = /^(?:(?:E?SMTPS?|LMTPS?|UTF8SMTPS?|HTTPS?)A|ASMTP)(?= |$)/i.exec(protocol ?? '')
  if (proving) return proving[0].toUpperCase()
  for (const comment of comments) {
    if (!/^\s*a/i.test(comment)) continue
    const found = authenticated.find(([pattern]) => pattern.test(comment))
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
