import { crc32, inflateRawSync } from 'node:zlib'
import type { Entry, getFileNameLowLevel, ZipFile } from 'yauzl'
import { looksLikeMessage, parseHeader } from '../header.ts'
import { looksCompound } from './compound-file.ts'
import { looksTnef } from './tnef.ts'
import { looksEmlx, looksMbox, readEmlx, splitMbox } from './mailbox-file.ts'

/** A file of an archive, or the reason why it cannot be read. */
type ZipEntry = { name: string } & ({ content: Buffer } | { refusal: EntryRefusal })

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
/** Files in which mail servers and mail programs describe a folder; skipped if they are no mail. */
const folderFiles = new RegExp(
  String.raw`(?:^|/)(?:dovecot[-.][^/]*|maildir(?:size|folder)|subscriptions|courierimap[^/]*|` +
    String.raw`Info\.plist|table_of_contents|content_index|[^/]+\.(?:msf|lock))$|` +
    String.raw`\.mbox/(?:.*/)?Attachments/`,
)
const maildirMessage = /(?:^|\/)(?:cur|new)\/[^/]+$/
/** Messages that a mail server has not yet stored completely. */
const maildirUnfinished = /(?:^|\/)tmp\/[^/]+$/
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
  const isMaildir = listed.some(({ name }) => maildirMessage.test(name))
  let left = unpackedBytesMax
  for (const { entry, name } of listed) {
    if (name.endsWith('/') || systemFiles.test(name)) continue
    if (isMaildir && maildirUnfinished.test(name)) continue
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
  | 'outlook-data-file'
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

type RunStep = <T>(step: () => T) => T

/** A submitted file. Its name is for display only. */
export type GivenFile = { name: string; bytes: Buffer }

/** Limits on one file, including everything inside it. */
export type UnpackLimits = { messagesMax: number; entriesMax: number; unpackedBytesMax: number }

type Container = 'zip' | 'msg' | 'tnef' | 'pst' | 'mbox' | 'emlx'

/** The first bytes of a data file of Outlook (MS-PST §2.2.2.6). */
const dataFileMark = Buffer.from('!BDN')

/**
 * The container format, detected from the first bytes and never from the name. Undefined for a file
 * that can only be a single message. Cheap for files of any size.
 */
export function containerOf(bytes: Buffer): Container | undefined {
  if (looksZip(bytes)) return 'zip'
  if (looksCompound(bytes)) return 'msg'
  if (looksTnef(bytes)) return 'tnef'
  if (bytes.subarray(0, dataFileMark.length).equals(dataFileMark)) return 'pst'
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
  const found: Unpacked[] = []
  for (const entry of zip.entries) {
    if (found.length > limits.messagesMax) break
    const name = `${file.name} › ${entry.name}`
    if ('refusal' in entry) found.push({ name, refusal: entry.refusal })
    else if (!isAboutFolder(entry.name, entry.content)) {
      found.push(...(await inside({ name, bytes: entry.content }, limits)))
    }
  }
  if (found.length === 0) return [{ name: file.name, refusal: 'not-a-message' }]
  return capped(found, file.name, limits)
}

function isAboutFolder(name: string, content: Buffer): boolean {
  return folderFiles.test(name) && !looksLikeMessage(parseHeader(content))
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
    case 'tnef': {
      const { messagesInTnef } = await import('./outlook-message.ts')
      const found = messagesInTnef(bytes).map(({ name: inner, raw, isRebuilt }): Unpacked => {
        const path = `${name} › ${inner}`
        if (!raw) return { name: path, refusal: 'no-header' }
        return { name: path, raw, ...(isRebuilt && { rebuiltFrom: 'msg' as const }) }
      })
      return found.length > 0 ? found : [{ name, refusal: 'not-a-message' }]
    }
    case 'pst':
      return [{ name, refusal: 'outlook-data-file' }]
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
