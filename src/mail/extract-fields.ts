import { domainOf, parseMailboxes } from './address.ts'
import { parseMailDate } from './date.ts'
import { decodeHeaderText } from './encoded-word.ts'
import { fieldValue } from './header.ts'
import type { HeaderField } from './header.ts'
import { storableText } from './storable-text.ts'

/**
 * What a header says of its message, decoded, cut to a bound and storable in PostgreSQL. Absent
 * fields are null. Everything here is claimed by whoever wrote the message.
 */
export type ExtractedFields = {
  /** The From field as a person reads it, at most 1,000 characters. */
  from: string | null
  /** The first author's address with its domain in lower case, at most 320 characters. */
  fromAddress: string | null
  to: string | null
  subject: string | null
  /** The Date field as an ISO 8601 instant; null when it names none. */
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

/** Reads the fields of a message from its header. Never throws. */
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

/** The first address of an address list, its domain in lower case; null when it has none. */
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
