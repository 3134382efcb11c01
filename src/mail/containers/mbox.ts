/** Messages out of a mailbox file, and whether there were more than are taken. */
export type MboxMessages = { messages: Buffer[]; isCut: boolean }

const lineCharsMax = 300
/** `From a@b.example Mon Nov 16 10:00:00 2026`, `From - Mon, 16 Nov 2026 10:00:00 +0000`. */
const envelopeLine = /^From \S.*\b\d{1,2}:\d{2}(?::\d{2})?\b.*$/
const year = /\b(?:19|20)\d{2}\b/
const fieldStart = /^[\x21-\x39\x3b-\x7e]{1,80}[ \t]*:/

/** Whether bytes begin as a mailbox file does, which may hold one message; a look at two lines. */
export function looksMbox(bytes: Buffer): boolean {
  return isEnvelope(bytes, 0)
}

/**
 * Splits a mailbox file (RFC 4155) where a line `From ` stands after a blank line, has a date and
 * is followed by a header field, so that a sentence that begins with "From" ends no message.
 * Content-Length is not believed. Where `From ` was quoted inside, one `>` is taken away (mboxrd).
 * Messages are views of the bytes unless something was quoted in them. Linear; never throws.
 */
export function splitMbox(bytes: Buffer, messagesMax: number): MboxMessages {
  const messages: Buffer[] = []
  let start: number | undefined = isEnvelope(bytes, 0) ? 0 : undefined
  while (start !== undefined) {
    if (messages.length >= messagesMax) return { messages, isCut: true }
    const end: number | undefined = nextEnvelope(bytes, start + 1)
    const content = bytes.subarray(lineEnd(bytes, start) + 1, end ?? bytes.length)
    messages.push(unquoted(end === undefined ? content : withoutLastLineEnd(content)))
    start = end
  }
  return { messages, isCut: false }
}

function nextEnvelope(bytes: Buffer, from: number): number | undefined {
  for (let at = bytes.indexOf('\nFrom ', from); at >= 0; at = bytes.indexOf('\nFrom ', at + 1)) {
    if (isBlankBefore(bytes, at) && isEnvelope(bytes, at + 1)) return at + 1
  }
  return undefined
}

/** Whether the line that ends with the line feed at `at` is blank. */
function isBlankBefore(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1] === 0x0d ? at - 2 : at - 1
  return bytes[before] === 0x0a
}

function isEnvelope(bytes: Buffer, at: number): boolean {
  const end = lineEnd(bytes, at)
  if (end - at > lineCharsMax) return false
  const line = bytes.toString('latin1', at, end).trimEnd()
  if (!envelopeLine.test(line) || !year.test(line)) return false
  const next = bytes.toString('latin1', end + 1, end + 120)
  return fieldStart.test(next.startsWith('>From ') ? next.slice(next.indexOf('\n') + 1) : next)
}

function lineEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0x0a, at)
  return end < 0 ? bytes.length : end
}

/** The blank line before the next message belongs to the file. */
function withoutLastLineEnd(content: Buffer): Buffer {
  if (content.at(-1) !== 0x0a) return content
  return content.subarray(0, content.at(-2) === 0x0d ? -2 : -1)
}

function unquoted(message: Buffer): Buffer {
  if (!message.includes('\n>From ') && !message.includes('\n>>')) return message
  const text = message.toString('latin1').replace(/(?<=\n)>(?=>{0,50}From )/g, '')
  return Buffer.from(text, 'latin1')
}
