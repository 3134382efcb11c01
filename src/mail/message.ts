import { domainOf, parseMailboxes } from './address.ts'
import { parseMailDate } from './date.ts'
import { decodeHeaderText } from './encoded-word.ts'
import {
  fieldValue,
  type Header,
  type HeaderField,
  looksLikeMessage,
  parseHeader,
} from './header.ts'
import { isAutomaticReply } from './inbound/automatic.ts'
import { storableText } from './text.ts'

/** A message with its header, parsed once for all callers. */
export type ReadMessage = { raw: Buffer; header: Header }

/** Parses the header of a message. Never throws. */
export function readMessage(raw: Buffer): ReadMessage {
  return { raw, header: parseHeader(raw) }
}

const blankBytesMax = 8

/**
 * The message at the start of some bytes, without the blank lines that some programs put before an
 * attached message; with them, it would have no header. Undefined if there is no message.
 */
export function messageAtStart(bytes: Buffer): Buffer | undefined {
  let start = 0
  while (start < blankBytesMax && (bytes[start] === 0x0d || bytes[start] === 0x0a)) start += 1
  const message = bytes.subarray(start)
  return looksLikeMessage(parseHeader(message)) ? message : undefined
}

const prepended = ['x-mozilla-status:', 'x-mozilla-status2:', 'x-mozilla-keys:', 'from ', '>from ']

/**
 * Removes the lines that mail programs put before a message when they store it (mbox `From `,
 * `X-Mozilla-Status`, `-Status2`, `-Keys`, with CRLF or LF), so that the same message reported from
 * two programs has the same bytes. Everything after these lines is unchanged.
 */
export function normalizedForHash(raw: Buffer): Buffer {
  let offset = 0
  for (;;) {
    const start = raw.toString('latin1', offset, offset + 18).toLowerCase()
    if (!prepended.some((line) => start.startsWith(line))) return raw.subarray(offset)
    const end = lineEndAfter(raw, offset)
    if (end === undefined) return raw.subarray(offset)
    offset = end
    while (start.startsWith('x-') && (raw[offset] === 0x20 || raw[offset] === 0x09)) {
      const fold = lineEndAfter(raw, offset)
      if (fold === undefined) break
      offset = fold
    }
  }
}

function lineEndAfter(raw: Buffer, offset: number): number | undefined {
  const at = raw.indexOf(0x0a, offset)
  return at < 0 ? undefined : at + 1
}

/** The kind of a mail according to its header. */
export type MessageKind = 'message' | 'dsn' | 'feedback-report' | 'auto-reply'

/**
 * Distinguishes reports and automatic replies from ordinary mail: multipart/report with its report
 * type (RFC 6522, 3464, 5965), Auto-Submitted (RFC 3834 §5) and older fields.
 */
export function messageKind(fields: readonly HeaderField[]): MessageKind {
  const type = (fieldValue(fields, 'content-type') ?? '').slice(0, 2000).toLowerCase()
  if (/^\s*multipart\/report\b/.test(type)) {
    const report = /report-type\s{0,9}=\s{0,9}"?\s{0,9}([a-z0-9-]+)/.exec(type)?.[1]
    if (report === 'feedback-report') return 'feedback-report'
    if (report === 'delivery-status') return 'dsn'
  }
  return isAutomaticReply(fields) ? 'auto-reply' : 'message'
}

/**
 * Fields of a message's header, decoded, limited in length and storable in PostgreSQL. Absent
 * fields are null. All values are untrusted.
 */
export type ExtractedFields = {
  /** The From field as displayed to people, at most 1,000 characters. */
  from: string | null
  /** The first author's address with its domain in lower case, at most 320 characters. */
  fromAddress: string | null
  to: string | null
  subject: string | null
  /** The Date field as an ISO 8601 instant; null when it cannot be parsed. */
  date: string | null
  /** Without angle brackets, at most 998 characters. */
  messageId: string | null
  /** Return-Path without angle brackets; empty for `<>`. */
  returnPath: string | null
  replyTo: string | null
  listId: string | null
}

const textCharsMax = 1000
const addressCharsMax = 320
const idCharsMax = 998
const readCharsMax = 8 * 1024

/** Extracts the fields of a message from its header. Never throws. */
export function fieldsOf(fields: readonly HeaderField[]): ExtractedFields {
  const text = (key: string) => decoded(fieldValue(fields, key))
  const from = fieldValue(fields, 'from')?.slice(0, readCharsMax)
  const date = fieldValue(fields, 'date')
  return {
    from: decoded(from),
    fromAddress: from === undefined ? null : authorAddress(from),
    to: text('to'),
    subject: text('subject'),
    date: date === undefined ? null : (parseMailDate(date)?.toISOString() ?? null),
    messageId: bare(fieldValue(fields, 'message-id')),
    returnPath: bare(fieldValue(fields, 'return-path')),
    replyTo: text('reply-to'),
    listId: text('list-id'),
  }
}

/** The first address of an address list, with its domain in lower case; null when there is none. */
export function authorAddress(value: string): string | null {
  const mailbox = parseMailboxes(value).find(({ address }) => address.includes('@'))
  if (!mailbox) return null
  const { address } = mailbox
  const local = address.slice(0, address.lastIndexOf('@'))
  const readable = decodeHeaderText(`${local}@${domainOf(address) ?? ''}`)
  return storableText(readable, addressCharsMax)
}

function decoded(value: string | undefined): string | null {
  if (value === undefined) return null
  return storableText(decodeHeaderText(value.slice(0, readCharsMax)), textCharsMax)
}

function bare(value: string | undefined): string | null {
  if (value === undefined) return null
  const open = value.indexOf('<')
  const close = value.indexOf('>', open)
  const inner = open >= 0 && close > open ? value.slice(open + 1, close) : value
  return storableText(decodeHeaderText(inner.trim()), idCharsMax)
}
