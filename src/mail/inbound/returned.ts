import { domainOf, parseMailboxes } from '../address.ts'
import { fieldValues, parseHeader } from '../header.ts'
import type { HeaderField } from '../header.ts'
import { leafText } from '../mime-tree.ts'
import type { Entity } from '../mime-tree.ts'

/** What a mail says of the message it returns or is about. */
export type Returned = {
  messageIds: string[]
  envelopeIds: string[]
  /** Addresses it was sent under, or is to be answered at. */
  returnPaths: string[]
}

const partsRead = 50
const textCharsRead = 128 * 1024
const valuesMax = 20
const idCharsMax = 998
const statusTypes = ['message/delivery-status', 'message/global-delivery-status']
const headerTypes = ['text/rfc822-headers', 'text/rfc822-header', 'message/global-headers']

/**
 * Looks for what names the message that came back: in the message or its header where it is
 * attached, in the machine-readable parts, else in the lines of its header that a text quotes.
 * Each is a claim; nothing is made up. At most 20 of a kind.
 */
export function returnedIn(tree: Entity, text: string): Returned {
  const found = new Found()
  visit(tree, found, { left: partsRead })
  if (found.messageIds.size === 0) readQuoted(text.slice(0, textCharsRead), found)
  return {
    messageIds: [...found.messageIds],
    envelopeIds: [...found.envelopeIds],
    returnPaths: [...found.returnPaths],
  }
}

/** What was found so far, each once and only so many. */
class Found {
  readonly messageIds = new Set<string>()
  readonly envelopeIds = new Set<string>()
  readonly returnPaths = new Set<string>()

  add(kind: keyof Returned, value: string | undefined): void {
    if (value === undefined || value === '' || value.length > idCharsMax) return
    if (this[kind].size < valuesMax) this[kind].add(value)
  }
}

function visit(entity: Entity, found: Found, budget: { left: number }): void {
  budget.left -= 1
  if (budget.left < 0) return
  const { body, type } = entity
  if (body.kind === 'message') readHeader(body.message.fields, found)
  else if (body.kind === 'multipart') {
    for (const part of body.parts) visit(part.entity, found, budget)
  } else if (headerTypes.includes(type) || type === 'message/rfc822') {
    readHeader(fieldsIn(leafText(entity)), found)
  } else if (statusTypes.includes(type) || type === 'message/feedback-report') {
    readMachinePart(fieldsIn(leafText(entity)), found)
  }
}

function fieldsIn(text: string): HeaderField[] {
  return parseHeader(Buffer.from(text.slice(0, textCharsRead).trimStart(), 'latin1')).fields
}

function readHeader(fields: readonly HeaderField[], found: Found): void {
  for (const value of fieldValues(fields, 'message-id')) found.add('messageIds', idOf(value))
  for (const key of ['return-path', 'x-envelope-from', 'reply-to']) {
    for (const value of fieldValues(fields, key)) found.add('returnPaths', pathIn(value))
  }
}

function readMachinePart(fields: readonly HeaderField[], found: Found): void {
  for (const value of fieldValues(fields, 'original-envelope-id')) {
    found.add('envelopeIds', fromXtext(value.trim()))
  }
  for (const key of ['original-mail-from', 'x-postfix-sender']) {
    for (const value of fieldValues(fields, key)) found.add('returnPaths', pathIn(value))
  }
  for (const value of fieldValues(fields, 'original-message-id')) {
    found.add('messageIds', idOf(value))
  }
}

const quotedId = /^[>\s|*]{0,9}message-id\s{0,9}:\s{0,9}<([^<>\s]{1,998})>/gim
const quotedPath =
  /^[>\s|*]{0,9}(?:return-path|mail from)\s{0,9}:\s{0,9}<?([^<>\s]{1,320}@[^<>\s]{1,253})>?/gim

function readQuoted(text: string, found: Found): void {
  for (const [, id] of text.matchAll(quotedId)) found.add('messageIds', id)
  for (const [, path] of text.matchAll(quotedPath)) found.add('returnPaths', pathIn(path ?? ''))
}

/** Some write it without its angle brackets. */
function idOf(value: string): string | undefined {
  return idsIn(value)[0] ?? /^\s*([^<>\s]{1,900}@[^<>\s@]{1,253})\s*$/.exec(value)?.[1]
}

/** The Message-IDs in a field, without angle brackets. */
export function idsIn(value: string): string[] {
  const found = value.slice(0, 16 * 1024).matchAll(/<([^<>\s]{1,998})>/g)
  return [...found].map(([, id = '']) => id)
}

function pathIn(value: string): string | undefined {
  const typed = value.slice(0, 1000).replace(/^\s*rfc822\s*;/i, '')
  const address = parseMailboxes(typed).find((one) => one.address.includes('@'))?.address
  return address === undefined || domainOf(address) === undefined
    ? undefined
    : address.toLowerCase()
}

/** RFC 3461 §4: `+` and two hexadecimal digits stand for a character. */
function fromXtext(text: string): string {
  return text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
