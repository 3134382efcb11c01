import { parseHeader, type Header } from './header.ts'

/** A message with its header, which is read once for all who ask. */
export type ReadMessage = { raw: Buffer; header: Header }

/** Reads the header of a message. Never throws. */
export function readMessage(raw: Buffer): ReadMessage {
  return { raw, header: parseHeader(raw) }
}

const telling = new Set([
  'from',
  'received',
  'date',
  'subject',
  'message-id',
  'return-path',
  'delivered-to',
  'to',
  'mime-version',
  'reply-to',
])
const decisive = new Set(['from', 'received', 'date', 'subject', 'message-id', 'return-path'])

/**
 * Whether what begins with this header is a mail message at all: at least two header fields that
 * mail has, one of them From, Received, Date, Subject, Message-ID or Return-Path (RFC 5322 §3.6),
 * and no NUL where the first field stands.
 */
export function looksLikeMessage({ fields }: Header): boolean {
  let found: string | undefined
  let isDecided = false
  for (const { key } of fields) {
    if (!telling.has(key)) continue
    isDecided ||= decisive.has(key)
    if (isDecided && found !== undefined && found !== key) return true
    found ??= key
  }
  return false
}

const prepended = ['x-mozilla-status:', 'x-mozilla-status2:', 'x-mozilla-keys:', 'from ', '>from ']

/**
 * The message without the lines that mail programs put before it when they store it (mbox
 * `From `, `X-Mozilla-Status`, `-Status2`, `-Keys`, ended by CRLF or LF), so that the same message
 * reported from two of them is the same bytes. Everything after them is kept as it is.
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
