import { looksLikeMessage } from '../header.ts'

/** The messages of a mailbox file. `isCut`: the file has more messages than the limit. */
type MboxMessages = { messages: Buffer[]; isCut: boolean }

const lineCharsMax = 300
/**
 * Matches `From a@b.example Mon Nov 16 10:00:00 2026` and `From - Mon, 16 Nov 2026 10:00:00 +0000`.
 */
const datedLine = /^From \S.*\b\d{1,2}:\d{2}(?::\d{2})?\b/
const year = /\b(?:19|20)\d{2}\b/
const fieldStart = /^[\x21-\x39\x3b-\x7e]{1,80}[ \t]*:/

/** How a line before a message is written: with a date, with an address only, or with neither. */
type Form = 'dated' | 'address' | 'bare'
type Envelope = { at: number; form: Form; isAfterBlank: boolean }

/**
 * Whether the bytes begin as a mailbox file does. Such a file may hold a single message. Reads the
 * first lines.
 */
export function looksMbox(bytes: Buffer): boolean {
  return firstEnvelope(bytes) !== undefined
}

/**
 * Splits a mailbox file (RFC 4155) at the lines that begin with `From `. Such a line with a date
 * after a blank line needs only a header field after it. Mail programs also write it without a
 * date, as `From -`, or without the blank line before it: then the header of a message must follow,
 * and the line must be like the first one of the file. A sentence that begins with "From" therefore
 * does not end a message. Ignores Content-Length. Removes one `>` from quoted `From ` lines
 * (mboxrd). Messages are views of the input unless a line in them was quoted. Linear; never throws.
 */
export function splitMbox(bytes: Buffer, messagesMax: number): MboxMessages {
  const messages: Buffer[] = []
  const first = firstEnvelope(bytes)
  let start = first
  while (first && start) {
    if (messages.length >= messagesMax) return { messages, isCut: true }
    const next = nextEnvelope(bytes, start.at + 1, first.form)
    const content = bytes.subarray(lineEnd(bytes, start.at) + 1, next?.at ?? bytes.length)
    messages.push(unquoted(next?.isAfterBlank ? withoutLastLineEnd(content) : content))
    start = next
  }
  return { messages, isCut: false }
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf)

function firstEnvelope(bytes: Buffer): Envelope | undefined {
  let at = bytes.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
  while (bytes[at] === 0x0a || bytes[at] === 0x0d) at++
  const form = bytes.toString('latin1', at, at + 4) === 'From' ? formAt(bytes, at) : undefined
  if (!form) return undefined
  const isFirst = form === 'dated' ? beginsHeader(bytes, at) : beginsMessage(bytes, at)
  return isFirst ? { at, form, isAfterBlank: true } : undefined
}

function nextEnvelope(bytes: Buffer, from: number, usual: Form): Envelope | undefined {
  for (let end = bytes.indexOf('\nFrom', from); end >= 0; end = bytes.indexOf('\nFrom', end + 1)) {
    const at = end + 1
    const form = formAt(bytes, at)
    if (!form) continue
    const isAfterBlank = isBlankBefore(bytes, end)
    const isPlain = form === 'dated' && isAfterBlank && beginsHeader(bytes, at)
    const isLikeFirst = form === usual || (form === 'bare' && isAfterBlank)
    if (isPlain || (isLikeFirst && beginsMessage(bytes, at))) return { at, form, isAfterBlank }
  }
  return undefined
}

/** Whether the line that ends with the line feed at `at` is blank. */
function isBlankBefore(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1] === 0x0d ? at - 2 : at - 1
  return bytes[before] === 0x0a
}

/** How the line at `at`, which begins with "From", is written; undefined for another line. */
function formAt(bytes: Buffer, at: number): Form | undefined {
  const end = lineEnd(bytes, at)
  if (end - at > lineCharsMax) return undefined
  const line = bytes.toString('latin1', at, end).trimEnd()
  if (/^From(?: +-?)?$/.test(line)) return 'bare'
  if (/^From +\S+$/.test(line)) return 'address'
  return datedLine.test(line) && year.test(line) ? 'dated' : undefined
}

/** Whether a header field follows the line at `at`. */
function beginsHeader(bytes: Buffer, at: number): boolean {
  const end = lineEnd(bytes, at)
  const next = bytes.toString('latin1', end + 1, end + 120)
  return fieldStart.test(next.startsWith('>From ') ? next.slice(next.indexOf('\n') + 1) : next)
}

const headerLinesMax = 200

/**
 * Whether the header of a message follows the line at `at`. Ends at the first line that is no
 * field, so that all calls for one file together read it once.
 */
function beginsMessage(bytes: Buffer, at: number): boolean {
  const fields: { key: string }[] = []
  let start = lineEnd(bytes, at) + 1
  for (let lines = 0; lines < headerLinesMax && start < bytes.length; lines++) {
    const line = bytes.toString('latin1', start, start + 82)
    start = lineEnd(bytes, start) + 1
    if (/^[ \t]+\S/.test(line) || (lines === 0 && line.startsWith('>From '))) continue
    if (!fieldStart.test(line)) break
    fields.push({ key: line.slice(0, line.indexOf(':')).trimEnd().toLowerCase() })
  }
  return looksLikeMessage({ fields })
}

function lineEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0x0a, at)
  return end < 0 ? bytes.length : end
}

/** Removes the blank line before the next message, which belongs to the mailbox file. */
function withoutLastLineEnd(content: Buffer): Buffer {
  if (content.at(-1) !== 0x0a) return content
  return content.subarray(0, content.at(-2) === 0x0d ? -2 : -1)
}

function unquoted(message: Buffer): Buffer {
  if (!message.includes('\n>From ') && !message.includes('\n>>')) return message
  const text = message.toString('latin1').replace(/(?<=\n)>(?=>{0,50}From )/g, '')
  return Buffer.from(text, 'latin1')
}

/**
 * Whether the bytes are a message as Apple Mail stores it (.emlx): its length in bytes, then the
 * message.
 */
export function looksEmlx(bytes: Buffer): boolean {
  return /^\d{1,9} {0,10}\r?\n[\x21-\x39\x3b-\x7e]{1,80}:/.test(bytes.toString('latin1', 0, 200))
}

/**
 * Returns the message of an .emlx file, without the line before it (its length) and the property
 * list after it.
 */
export function readEmlx(bytes: Buffer): Buffer {
  const start = bytes.indexOf(0x0a) + 1
  const length = Number.parseInt(bytes.toString('latin1', 0, 10), 10)
  return bytes.subarray(start, start + length)
}
