import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { looksCompound } from './compound-file.ts'
import { readOutlookMessage } from './outlook-message.ts'

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

/** Whether bytes are a message as Apple Mail keeps it: how long it is, then the message. */
function looksEmlx(bytes: Buffer): boolean {
  return /^\d{1,9} {0,10}\r?\n[\x21-\x39\x3b-\x7e]{1,80}:/.test(bytes.toString('latin1', 0, 200))
}

/** The message of such a file, without its first line and the list of Apple's behind it. */
function readEmlx(bytes: Buffer): Buffer {
  const start = bytes.indexOf(0x0a) + 1
  const length = Number.parseInt(bytes.toString('latin1', 0, 10), 10)
  return bytes.subarray(start, start + length)
}

/** A file of an archive, or why it could not be had. */
type ZipEntry = { name: string } & ({ content: Buffer } | { refusal: EntryRefusal })

/** Why a file of an archive is not given. */
type EntryRefusal = 'damaged-archive' | 'encrypted-archive' | 'unpacks-too-big'

/** The files of an archive, or why none of it is read. */
type ZipContents =
  { entries: ZipEntry[] } | { refusal: 'damaged-archive' | 'too-many-messages' | 'not-a-message' }

/** What an archive may come to. */
type ZipLimits = { entriesMax: number; unpackedBytesMax: number }

const localHeaderBytes = 30
const nameCharsMax = 500
const stored = 0
const deflated = 8
/** What systems put beside the files that people meant. */
const chaff = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)/i
/** Office documents, Java programs, e-books: zip archives that nobody takes for one. */
const documentParts = /^(?:\[Content_Types\]\.xml|META-INF\/.*|mimetype|AndroidManifest\.xml)$/

/** Whether bytes begin as a zip archive does, be it an empty one. */
function looksZip(bytes: Buffer): boolean {
  return ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08PK'].some((mark) =>
    bytes.subarray(0, mark.length).equals(Buffer.from(mark, 'latin1')),
  )
}

/**
 * The files of a zip archive in their order, without folders and what systems add. Made for
 * hostile archives: files may not overlap, all of them together are unpacked to at most
 * `unpackedBytesMax` bytes, one that says it is bigger is not begun, and one that is bigger than
 * it says is left. Names are shown and never used as paths. Never throws.
 */
async function readZip(bytes: Buffer, limits: ZipLimits): Promise<ZipContents> {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false })
    if (zip.entryCount > limits.entriesMax) return { refusal: 'too-many-messages' }
    const listed: Listed[] = []
    for await (const entry of zip.eachEntry()) listed.push({ entry, name: nameOf(entry) })
    if (overlap(listed, bytes.length)) return { refusal: 'damaged-archive' }
    if (listed.some(({ name }) => documentParts.test(name))) return { refusal: 'not-a-message' }
    return { entries: await readEntries(zip, listed, limits.unpackedBytesMax) }
  } catch {
    return { refusal: 'damaged-archive' }
  }
}

type Listed = { entry: Entry; name: string }

/** The type says a text; without decoding, the library gives bytes. */
function nameOf(entry: Entry): string {
  const raw = entry.fileNameRaw
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, false)
  return name.slice(0, nameCharsMax)
}

/** Files that share bytes: a few megabytes could be unpacked thousands of times. */
function overlap(listed: readonly Listed[], archiveBytes: number): boolean {
  const spans = listed
    .map(({ entry }) => ({
      start: entry.relativeOffsetOfLocalHeader,
      end: entry.relativeOffsetOfLocalHeader + localHeaderBytes + entry.compressedSize,
    }))
    .sort((one, other) => one.start - other.start)
  return spans.some(({ start, end }, at) => {
    const before = spans[at - 1]
    return end > archiveBytes || (before !== undefined && start < before.end)
  })
}

async function readEntries(
  zip: ZipFile,
  listed: readonly Listed[],
  unpackedBytesMax: number,
): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  let left = unpackedBytesMax
  for (const { entry, name } of listed) {
    if (name.endsWith('/') || chaff.test(name)) continue
    const read = await readEntry(zip, entry, left)
    left -= read.spent
    entries.push({ name, ...read.result })
  }
  return entries
}

type Read = { spent: number; result: { content: Buffer } | { refusal: EntryRefusal } }

async function readEntry(zip: ZipFile, entry: Entry, left: number): Promise<Read> {
  if (entry.isEncrypted()) return { spent: 0, result: { refusal: 'encrypted-archive' } }
  const isKnown = entry.compressionMethod === stored || entry.compressionMethod === deflated
  if (!isKnown) return { spent: 0, result: { refusal: 'damaged-archive' } }
  if (entry.uncompressedSize > left) return { spent: 0, result: { refusal: 'unpacks-too-big' } }
  const content = Buffer.allocUnsafe(entry.uncompressedSize)
  let spent = 0
  try {
    // Ends with an error as soon as there is more than the archive says.
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      spent += (chunk as Buffer).copy(content, spent)
    }
  } catch {
    return { spent, result: { refusal: 'damaged-archive' } }
  }
  const isWhole = spent === content.length && crc32(content) === entry.crc32
  return { spent, result: isWhole ? { content } : { refusal: 'damaged-archive' } }
}

/** Of what a message was put together anew, where nobody has its own bytes. */
export type RebuiltFrom = 'msg'

/** Why a file, or a file inside it, gives no message. */
type UnpackRefusal =
  EntryRefusal | 'no-header' | 'not-a-message' | 'too-many-messages' | 'nested-archive'

/** One message of a file, or why there is none; `name` leads to it: `spam.zip › 3.eml`. */
export type Unpacked = { name: string } & (
  { raw: Buffer; rebuiltFrom?: RebuiltFrom } | { refusal: UnpackRefusal }
)

/** A file as somebody gave it. The name is shown, and nothing else. */
export type GivenFile = { name: string; bytes: Buffer }

/** What one file may come to, with all that is inside it. */
export type UnpackLimits = { messagesMax: number; entriesMax: number; unpackedBytesMax: number }

type Container = 'zip' | 'msg' | 'mbox' | 'emlx'

/**
 * What holds messages, told by its first bytes and never by its name; undefined for what can only
 * be a message itself. Cheap, however large the file.
 */
export function containerOf(bytes: Buffer): Container | undefined {
  if (looksZip(bytes)) return 'zip'
  if (looksCompound(bytes)) return 'msg'
  if (looksEmlx(bytes)) return 'emlx'
  return looksMbox(bytes) ? 'mbox' : undefined
}

/**
 * The messages of a file: of a zip archive of mails, of a mailbox file, of what Outlook or Apple
 * Mail saved; any other file is given back as the one message it may be. What is inside an archive
 * may be any of these but another archive. At most `messagesMax` are given; who gave more is told.
 * Bounded in time and memory by the limits and the bytes given, and never throws.
 */
export async function unpackFile(file: GivenFile, limits: UnpackLimits): Promise<Unpacked[]> {
  if (containerOf(file.bytes) !== 'zip') return capped(opened(file, limits), file.name, limits)
  const zip = await readZip(file.bytes, limits)
  if ('refusal' in zip) return [{ name: file.name, refusal: zip.refusal }]
  if (zip.entries.length === 0) return [{ name: file.name, refusal: 'not-a-message' }]
  const found: Unpacked[] = []
  for (const entry of zip.entries) {
    if (found.length > limits.messagesMax) break
    const name = `${file.name} › ${entry.name}`
    if ('refusal' in entry) found.push({ name, refusal: entry.refusal })
    else found.push(...inside({ name, bytes: entry.content }, limits))
  }
  return capped(found, file.name, limits)
}

function inside(file: GivenFile, limits: UnpackLimits): Unpacked[] {
  const isArchive = containerOf(file.bytes) === 'zip'
  return isArchive ? [{ name: file.name, refusal: 'nested-archive' }] : opened(file, limits)
}

function opened({ name, bytes }: GivenFile, limits: UnpackLimits): Unpacked[] {
  switch (containerOf(bytes)) {
    case 'msg': {
      const read = readOutlookMessage(bytes)
      return [{ name, ...('raw' in read ? { ...read, rebuiltFrom: 'msg' } : read) }]
    }
    case 'emlx':
      return [{ name, raw: readEmlx(bytes) }]
    case 'mbox': {
      const { messages, isCut } = splitMbox(bytes, limits.messagesMax)
      // One message with the line `From ` before it, as mail servers keep it.
      if (messages.length === 1 && !isCut) return [{ name, raw: bytes }]
      const found = messages.map((raw, at): Unpacked => ({ name: `${name} › ${at + 1}`, raw }))
      return isCut ? [...found, { name, refusal: 'too-many-messages' }] : found
    }
    default:
      return [{ name, raw: bytes }]
  }
}

function capped(found: Unpacked[], name: string, { messagesMax }: UnpackLimits): Unpacked[] {
  if (found.length <= messagesMax) return found
  return [...found.slice(0, messagesMax), { name, refusal: 'too-many-messages' }]
}
