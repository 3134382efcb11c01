import { crc32, inflateRawSync } from 'node:zlib'
import type { Entry, getFileNameLowLevel, ZipFile } from 'yauzl'
import { looksCompound } from './compound-file.ts'

/** The messages of a mailbox file. `isCut`: the file has more messages than the limit. */
export type MboxMessages = { messages: Buffer[]; isCut: boolean }

const lineCharsMax = 300
/**
 * Matches `From a@b.example Mon Nov 16 10:00:00 2026` and `From - Mon, 16 Nov 2026 10:00:00 +0000`.
 */
const envelopeLine = /^From \S.*\b\d{1,2}:\d{2}(?::\d{2})?\b.*$/
const year = /\b(?:19|20)\d{2}\b/
const fieldStart = /^[\x21-\x39\x3b-\x7e]{1,80}[ \t]*:/

/**
 * Whether the bytes begin as a mailbox file does. Such a file may hold a single message. Reads two
 * lines.
 */
export function looksMbox(bytes: Buffer): boolean {
  return isEnvelope(bytes, 0)
}

/**
 * Splits a mailbox file (RFC 4155) at each line that begins with `From `, contains a date, follows
 * a blank line and is followed by a header field. A sentence that begins with "From" therefore does
 * not end a message. Ignores Content-Length. Removes one `>` from quoted `From ` lines (mboxrd).
 * Messages are views of the input unless a line in them was quoted. Linear; never throws.
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
function looksEmlx(bytes: Buffer): boolean {
  return /^\d{1,9} {0,10}\r?\n[\x21-\x39\x3b-\x7e]{1,80}:/.test(bytes.toString('latin1', 0, 200))
}

/**
 * Returns the message of an .emlx file, without the line before it (its length) and the property
 * list after it.
 */
function readEmlx(bytes: Buffer): Buffer {
  const start = bytes.indexOf(0x0a) + 1
  const length = Number.parseInt(bytes.toString('latin1', 0, 10), 10)
  return bytes.subarray(start, start + length)
}

/** A file of an archive, or the reason why it cannot be read. */
type ZipEntry = { name: string } & ({ content: Buffer } | { refusal: EntryRefusal })

/** Why a file of an archive cannot be read. */
type EntryRefusal = 'damaged-archive' | 'encrypted-archive' | 'unpacks-too-big'

/** The files of an archive, or the reason why none of them is read. */
type ZipContents =
  | { entries: ZipEntry[] }
  | { refusal: 'damaged-archive' | 'too-many-messages' | 'not-a-message' }

/**
 * Limits on an archive: its number of entries, and the bytes of all of them together when unpacked.
 */
type ZipLimits = { entriesMax: number; unpackedBytesMax: number }

const localHeaderBytes = 30
const nameCharsMax = 500
const stored = 0
const deflated = 8
/** Files that operating systems add to an archive; they are skipped. */
const systemFiles = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)/i
/**
 * Entries that show that a zip archive is an Office document, a Java program, an Android app or an
 * e-book.
 */
const documentParts = /^(?:\[Content_Types\]\.xml|META-INF\/.*|mimetype|AndroidManifest\.xml)$/

/** Whether the bytes begin as a zip archive does; an empty archive counts. */
function looksZip(bytes: Buffer): boolean {
  return ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08PK'].some((mark) =>
    bytes.subarray(0, mark.length).equals(Buffer.from(mark, 'latin1')),
  )
}

/**
 * Reads the files of a zip archive in their order, without folders and files that operating systems
 * add. Safe for hostile archives: entries may not overlap, all files together are unpacked to at
 * most `unpackedBytesMax` bytes, a file that declares more is not unpacked, and a file that is
 * larger than it declares is refused. Names are for display; never use them as paths. Never throws.
 */
async function readZip(bytes: Buffer, limits: ZipLimits, run: RunStep): Promise<ZipContents> {
  // Loaded only for archives, like the library for Outlook files below.
  const { fromBufferPromise, getFileNameLowLevel: readName } = await import('yauzl')
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false })
    if (zip.entryCount > limits.entriesMax) return { refusal: 'too-many-messages' }
    const listed: Listed[] = []
    for await (const entry of zip.eachEntry()) {
      listed.push({ entry, name: entryName(entry, readName) })
    }
    if (overlap(listed, bytes.length)) return { refusal: 'damaged-archive' }
    if (listed.some(({ name }) => documentParts.test(name))) return { refusal: 'not-a-message' }
    return { entries: await readEntries({ zip, bytes }, listed, limits.unpackedBytesMax, run) }
  } catch {
    return { refusal: 'damaged-archive' }
  }
}

type Listed = { entry: Entry; name: string }

/**
 * Decodes the name of an entry from its raw bytes. The library types `fileName` as a string, but
 * with `decodeStrings: false` it contains bytes.
 */
function entryName(entry: Entry, readName: typeof getFileNameLowLevel): string {
  const raw = entry.fileNameRaw
  const name = readName(entry.generalPurposeBitFlag, raw, entry.extraFields, false)
  return name.slice(0, nameCharsMax)
}

/**
 * Whether entries share bytes or lie beyond the end of the archive. If they share bytes, a few
 * megabytes could be unpacked thousands of times.
 */
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

type Archive = { zip: ZipFile; bytes: Buffer }

async function readEntries(
  archive: Archive,
  listed: readonly Listed[],
  unpackedBytesMax: number,
  run: RunStep,
): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  let left = unpackedBytesMax
  for (const { entry, name } of listed) {
    if (name.endsWith('/') || systemFiles.test(name)) continue
    const size = entry.isEncrypted() ? 0 : entry.uncompressedSize
    if (size > left) {
      entries.push({ name, refusal: 'unpacks-too-big' })
      continue
    }
    left -= size
    entries.push({ name, ...(await readEntry(archive, entry, run)) })
  }
  return entries
}

type EntryResult = { content: Buffer } | { refusal: EntryRefusal }

async function readEntry(archive: Archive, entry: Entry, run: RunStep): Promise<EntryResult> {
  if (entry.isEncrypted()) return { refusal: 'encrypted-archive' }
  const isStored = entry.compressionMethod === stored
  if (!isStored && entry.compressionMethod !== deflated) return { refusal: 'damaged-archive' }
  try {
    const { zip, bytes } = archive
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
    const packed = bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize)
    // Throws as soon as there are more bytes than the archive declares.
    const maxOutputLength = Math.max(entry.uncompressedSize, 1)
    const content = isStored ? packed : run(() => inflateRawSync(packed, { maxOutputLength }))
    const isWhole = content.length === entry.uncompressedSize && crc32(content) === entry.crc32
    return isWhole ? { content } : { refusal: 'damaged-archive' }
  } catch {
    return { refusal: 'damaged-archive' }
  }
}

/** The format of the file from which a message was rebuilt because its original bytes are lost. */
export type RebuiltFrom = 'msg'

/** Why a file, or a file inside it, yields no message. */
type UnpackRefusal =
  | EntryRefusal
  | 'no-header'
  | 'not-a-message'
  | 'too-many-messages'
  | 'nested-archive'

/**
 * One message of a file, or the reason why there is none. `name` is the path to it:
 * `spam.zip › 3.eml`.
 */
export type Unpacked = { name: string } & (
  | { raw: Buffer; rebuiltFrom?: RebuiltFrom }
  | { refusal: UnpackRefusal }
)

/** Runs a step and returns its result. */
type RunStep = <T>(step: () => T) => T

/** A submitted file. Its name is for display only. */
export type GivenFile = { name: string; bytes: Buffer }

/** Limits on one file, including everything inside it. */
export type UnpackLimits = { messagesMax: number; entriesMax: number; unpackedBytesMax: number }

type Container = 'zip' | 'msg' | 'mbox' | 'emlx'

/**
 * The container format, detected from the first bytes and never from the name. Undefined for a file
 * that can only be a single message. Cheap for files of any size.
 */
export function containerOf(bytes: Buffer): Container | undefined {
  if (looksZip(bytes)) return 'zip'
  if (looksCompound(bytes)) return 'msg'
  if (looksEmlx(bytes)) return 'emlx'
  return looksMbox(bytes) ? 'mbox' : undefined
}

/**
 * Extracts the messages of a file: a zip archive of mails, a mailbox file, or a message saved by
 * Outlook or Apple Mail. Any other file is returned unchanged as the one message it may be. An
 * archive may contain any of these except another archive. Returns at most `messagesMax` messages,
 * and the refusal `too-many-messages` when there are more. Time and memory are bounded by the
 * limits and the size of the file. Never throws. Calls `run` with each step that must not be
 * interrupted by the end of the thread.
 */
export async function unpackFile(
  file: GivenFile,
  limits: UnpackLimits,
  run: RunStep = (step) => step(),
): Promise<Unpacked[]> {
  if (containerOf(file.bytes) !== 'zip') {
    return capped(await opened(file, limits), file.name, limits)
  }
  const zip = await readZip(file.bytes, limits, run)
  if ('refusal' in zip) return [{ name: file.name, refusal: zip.refusal }]
  if (zip.entries.length === 0) return [{ name: file.name, refusal: 'not-a-message' }]
  const found: Unpacked[] = []
  for (const entry of zip.entries) {
    if (found.length > limits.messagesMax) break
    const name = `${file.name} › ${entry.name}`
    if ('refusal' in entry) found.push({ name, refusal: entry.refusal })
    else found.push(...(await inside({ name, bytes: entry.content }, limits)))
  }
  return capped(found, file.name, limits)
}

async function inside(file: GivenFile, limits: UnpackLimits): Promise<Unpacked[]> {
  const isArchive = containerOf(file.bytes) === 'zip'
  return isArchive ? [{ name: file.name, refusal: 'nested-archive' }] : opened(file, limits)
}

async function opened({ name, bytes }: GivenFile, limits: UnpackLimits): Promise<Unpacked[]> {
  switch (containerOf(bytes)) {
    case 'msg': {
      const { readOutlookMessage } = await import('./outlook-message.ts')
      const read = readOutlookMessage(bytes)
      return [{ name, ...('raw' in read ? { ...read, rebuiltFrom: 'msg' } : read) }]
    }
    case 'emlx':
      return [{ name, raw: readEmlx(bytes) }]
    case 'mbox': {
      const { messages, isCut } = splitMbox(bytes, limits.messagesMax)
      // A single message after a `From ` line, as mail servers store it, is returned unchanged.
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
