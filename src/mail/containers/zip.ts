import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'

/** A file of an archive, or why it could not be had. */
export type ZipEntry = { name: string } & ({ content: Buffer } | { refusal: EntryRefusal })

/** Why a file of an archive is not given. */
export type EntryRefusal = 'damaged-archive' | 'encrypted-archive' | 'unpacks-too-big'

/** The files of an archive, or why none of it is read. */
export type ZipContents =
  { entries: ZipEntry[] } | { refusal: 'damaged-archive' | 'too-many-messages' | 'not-a-message' }

/** What an archive may come to. */
export type ZipLimits = { entriesMax: number; unpackedBytesMax: number }

const localHeaderBytes = 30
const nameCharsMax = 500
const stored = 0
const deflated = 8
/** What systems put beside the files that people meant. */
const chaff = /(?:^|\/)(?:__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._)/i
/** Office documents, Java programs, e-books: zip archives that nobody takes for one. */
const documentParts = /^(?:\[Content_Types\]\.xml|META-INF\/.*|mimetype|AndroidManifest\.xml)$/

/** Whether bytes begin as a zip archive does, be it an empty one. */
export function looksZip(bytes: Buffer): boolean {
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
export async function readZip(bytes: Buffer, limits: ZipLimits): Promise<ZipContents> {
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
