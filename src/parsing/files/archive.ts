import { constants, createGunzip, createInflateRaw } from 'node:zlib'
import { looksCompound } from '../../mail/containers/compound-file.ts'
import { listZip, looksZip, type ZipEntry } from '../../mail/containers/zip-entries.ts'
import { ENTRIES_MAX, looksGzip } from '../../pieces/file-contents.ts'
import { weightOf } from '../../pieces/file-kinds.ts'
import { isRtf } from '../../pieces/file-text.ts'

/** Marks at the start of RAR, 7z, xz, bzip2 and cabinet files, which a library unpacks. */
const otherMarks = ['Rar!\x1a\x07', "7z\xbc\xaf'\x1c", '\xfd7zXZ\0', 'BZh', 'MSCF\0\0\0\0']
const SHORTCUT = 'L\0\0\0\x01\x14\x02\0'
const TAR_MARK_AT = 257

function isOther(content: Buffer): boolean {
  const start = content.toString('latin1', 0, 8)
  return isTar(content) || otherMarks.some((mark) => start.startsWith(mark))
}

function isTar(content: Buffer): boolean {
  return content.toString('latin1', TAR_MARK_AT, TAR_MARK_AT + 5) === 'ustar'
}

/** Whether a file is a document or an archive that is read in the process for files. */
export function isUnpacked(content: Buffer): boolean {
  const isArchive = looksZip(content) || looksGzip(content) || isOther(content)
  return isArchive || isRtf(content) || hasWideText(content)
}

/** Whether a file is an older Office document or a shortcut of Windows. */
export function hasWideText(content: Buffer): boolean {
  return looksCompound(content) || content.toString('latin1', 0, 8) === SHORTCUT
}

/** A file of an archive, and how to unpack its first bytes. */
export type PackedFile = {
  name: string
  isEncrypted: boolean
  read: () => Promise<Buffer> | Buffer
}

/** An archive: all its files, and those that may contain links, in the order to read them. */
type Archive = {
  listed: PackedFile[]
  files: PackedFile[]
  isDocument: boolean
  /** Whether there are more files than are read. */
  isCut: boolean
}

/** Bytes that a file of an archive is unpacked to at most, and all files together. */
const UNPACKED = { ofFile: 4_000_000, ofAll: 24_000_000 }
const FILES_MAX = 200

/** Opens an archive; undefined for other files. */
export async function openArchive(content: Buffer): Promise<Archive | undefined> {
  const listed = await filesOf(content)
  if (!listed) return undefined
  const isDocument = listed.some(({ name }) => officeMark.test(name))
  const rank = ({ name }: PackedFile) => rankOf(name, isDocument)
  const files = listed
    .filter((one) => !one.isEncrypted && rank(one) < UNREAD)
    .toSorted((a, b) => rank(a) - rank(b))
  const isCut = files.length > FILES_MAX
  return { listed, files: bounded(files.slice(0, FILES_MAX)), isDocument, isCut }
}

async function filesOf(content: Buffer): Promise<PackedFile[] | undefined> {
  if (looksZip(content)) {
    const entries = listZip(content, ENTRIES_MAX)
    const isReadable = ({ method, isEncrypted }: ZipEntry) =>
      isEncrypted || method === STORED || method === DEFLATED
    const others = entries.every(isReadable) ? [] : await otherFiles(content)
    return [...entries.map(zipFile), ...others]
  }
  const isGzip = looksGzip(content)
  if (!isGzip && !isOther(content)) return undefined
  const start = isGzip ? await startOf(createGunzip(syncFlush), content) : content
  return isGzip && !isTar(start)
    ? [{ name: '', isEncrypted: false, read: () => start }]
    : otherFiles(content)
}

async function otherFiles(content: Buffer): Promise<PackedFile[]> {
  // Loaded only for these files.
  const { listArchive } = await import('./other-archive.ts')
  return listArchive(content, { isRead: (name) => rankOf(name, false) < UNREAD, ...UNPACKED })
}

const officeMark = /^(?:\[Content_Types\]\.xml|mimetype)$/

/** Lets all files together give no more than the limit. */
function bounded(files: readonly PackedFile[]): PackedFile[] {
  let left = UNPACKED.ofAll
  return files.map((file) => ({
    ...file,
    async read() {
      if (left <= 0) return Buffer.alloc(0)
      const content = await file.read()
      left -= content.length
      return content
    },
  }))
}

const UNREAD = 9
/** The parts of an Office document that people see. */
const shownParts = new RegExp(
  `^(?:${[
    'word/(?:document|header|footer|footnotes|endnotes|comments)\\d*',
    'xl/(?:sharedStrings|worksheets/sheet\\d+)|ppt/slides/slide\\d+|content',
  ].join('|')})\\.xml$`,
  'i',
)
const relations = /\.rels$/i

/** Whether a file of an Office document contains its text or its relationships. */
export function isOfficePart(name: string): boolean {
  return relations.test(name) || shownParts.test(name)
}

/** In which order files are read: first those whose links people see. */
function rankOf(name: string, isDocument: boolean): number {
  if (/[\\/]$/.test(name)) return UNREAD
  if (isDocument && isOfficePart(name)) return relations.test(name) ? 0 : 1
  if (/\.(?:png|jpe?g|gif)\s*$/i.test(name)) return 3
  if (isDocument) return /\.(?:[sx]?html?|rtf|mht|docx|bin)$/i.test(name) ? 4 : UNREAD
  if (weightOf(name) > 1 && !/\.(?:url|lnk|website)\s*$/i.test(name)) return UNREAD
  return weightOf(name) === 1 ? 1 : 2
}

/** The methods that we unpack; programs for archives know others. */
const STORED = 0
const DEFLATED = 8

function zipFile({ name, isEncrypted, method, packed }: ZipEntry): PackedFile {
  return {
    name,
    isEncrypted,
    read() {
      if (method === STORED) return packed.subarray(0, UNPACKED.ofFile)
      return method === DEFLATED ? startOf(createInflateRaw(syncFlush), packed) : Buffer.alloc(0)
    },
  }
}

/** Gives what can be unpacked of a file whose end is missing. */
const syncFlush = { finishFlush: constants.Z_SYNC_FLUSH }

/** Unpacks the beginning of a file; of a damaged one, what is before the damage. */
async function startOf(
  inflate: ReturnType<typeof createInflateRaw | typeof createGunzip>,
  packed: Buffer,
): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  inflate.end(packed)
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes >= UNPACKED.ofFile) break
    }
  } catch {
    // What was unpacked before the damage counts.
  }
  return Buffer.concat(pieces).subarray(0, UNPACKED.ofFile)
}
