import { hash } from 'node:crypto'
import type { BodyAttachment } from '../../mail/message-body.ts'
import type { FileWishes } from '../../pieces/analyze.ts'
import type { FileFault } from '../../pieces/attachment.ts'
import { isUnpacked } from './archive.ts'
import { isWorthReading, mayBeContent, PIXELS_MAX } from './picture.ts'
import { examinePicture, type PictureFile } from './picture-file.ts'

/** The kinds of files that are read; `packed`: archives and documents of office programs. */
export type FileKind = 'pdf' | 'picture' | 'packed'

/**
 * A file to read. `msMax` is the CPU time in milliseconds that it may take, `memory` the number of
 * bytes that reading it usually takes at most.
 */
export type FileToRead = {
  kind: FileKind
  content: Buffer
  needsLook: boolean
  msMax: number
  memory: number
}

/** `key` is equal for files in which the same is found. */
export type ChosenFile = FileToRead & { key: string }

/** The files of a message that are worth reading, and why others are not read. */
export type ChosenFiles = { files: ChosenFile[]; faults: FileFault[] }

const PDFS_MAX = 3
const PDF_BYTES_MAX = 10_000_000
/** PDF files may begin with other bytes. */
const PDF_START_BYTES = 1_024
const PACKED_MAX = 6
const PACKED_BYTES_MAX = 30_000_000
const PICTURES_MAX = 10
/**
 * The CPU time of a file in milliseconds: at least, and at most. A PDF file takes 5 to 120 ms, and
 * several times as long in a thread that has just started.
 */
const FILE_MS = { min: 400, max: 2_000 }
const BYTES_PER_MS = 1_000
const PIXELS_PER_MS = 5_000
/** Memory in bytes: of a PDF file besides the file, of a byte of it, and of a pixel. */
const PDF_MEMORY = { base: 35_000_000, ofByte: 6 }
const PIXEL_MEMORY = 10
/** Memory of an archive besides the file, and of a byte of it. */
const PACKED_MEMORY = { base: 40_000_000, ofByte: 3 }
/** Our decoder needs so much memory for a JPEG file that a larger one exceeds that of a thread. */
const JPEG_LOOK_PIXELS_MAX = 2_500_000

const limitOf = (ms: number) => Math.min(FILE_MS.max, FILE_MS.min + Math.round(ms))

/**
 * Chooses the attached files to read: at most three PDF files, six archives or documents, the
 * smallest first, and ten pictures, the smallest first, because a large one must not hide a code;
 * of the pictures that a message shows instead of a text, the largest gives its look. Copies of a
 * file count once, and files beyond the limits are `unread`. Pictures consist only of what decoders
 * need. Linear time.
 */
export function chooseFiles(
  attachments: readonly BodyAttachment[],
  { needsLook, pictures: written = [] }: FileWishes,
): ChosenFiles {
  const attached = distinct(attachments.map(({ content }) => content))
  const packed = attached.filter(isUnpacked).toSorted((a, b) => a.length - b.length)
  const unpacked = packed.filter(({ length }) => length <= PACKED_BYTES_MAX)
  const pdfs = attached.filter((content) => isPdf(content) && !packed.includes(content))
  const readable = pdfs.filter(({ length }) => length <= PDF_BYTES_MAX)
  const { pictures, faults } = examineAll(distinct([...attached, ...written]))
  const [shown] = needsLook
    ? pictures.filter(mayGiveLook).toSorted((a, b) => b.width * b.height - a.width * a.height)
    : []
  const ordered = pictures.toSorted((a, b) => a.width * a.height - b.width * b.height)
  let pixels = 0
  const small = ordered.slice(0, PICTURES_MAX).filter(({ width, height }) => {
    pixels += width * height
    return pixels <= PIXELS_MAX
  })
  const read = shown && !small.includes(shown) ? [...small, shown] : small
  const files = [
    ...readable.slice(0, PDFS_MAX).map((content) => {
      const msMax = limitOf(content.length / BYTES_PER_MS)
      const memory = PDF_MEMORY.base + PDF_MEMORY.ofByte * content.length
      return chosen({ kind: 'pdf', content, needsLook: false, msMax, memory })
    }),
    ...unpacked.slice(0, PACKED_MAX).map((content) => {
      const memory = PACKED_MEMORY.base + PACKED_MEMORY.ofByte * content.length
      return chosen({ kind: 'packed', content, needsLook: false, msMax: FILE_MS.max, memory })
    }),
    ...read.map((picture) => {
      const { content, width, height, work } = picture
      const msMax = limitOf(work / PIXELS_PER_MS)
      const memory = content.length + PIXEL_MEMORY * width * height
      return chosen({ kind: 'picture', content, needsLook: picture === shown, msMax, memory })
    }),
  ]
  const tooLarge = pdfs.length - readable.length + packed.length - unpacked.length
  const others = readable.length + unpacked.length + pictures.length - files.length
  return {
    files,
    faults: [
      ...faults,
      ...Array<FileFault>(tooLarge).fill('too-large'),
      ...Array<FileFault>(others).fill('unread'),
    ],
  }
}

function chosen(file: FileToRead): ChosenFile {
  const { kind, needsLook, content } = file
  return { ...file, key: `${kind} ${needsLook} ${hash('sha256', content)}` }
}

function mayGiveLook(picture: PictureFile): boolean {
  // The drawings of tables, which messages with a text have too, give none.
  if (picture.content[0] === PGM) return false
  const isJpeg = picture.content[0] === 0xff
  const pixels = picture.width * picture.height
  return mayBeContent(picture) && (!isJpeg || pixels <= JPEG_LOOK_PIXELS_MAX)
}

function distinct(contents: readonly Buffer[]): Buffer[] {
  if (contents.length < 2) return [...contents]
  return [...new Map(contents.map((content) => [hash('sha256', content), content])).values()]
}

const PGM = 0x50

/** Whether a file is a PDF file, which may begin with other bytes. */
export function isPdf(content: Buffer): boolean {
  return content.subarray(0, PDF_START_BYTES).includes('%PDF-')
}

function examineAll(contents: readonly Buffer[]) {
  const pictures: PictureFile[] = []
  const faults: FileFault[] = []
  for (const content of contents) {
    const examined = examinePicture(content)
    if (!examined) continue
    if ('fault' in examined) faults.push(examined.fault)
    else if (isWorthReading(examined)) pictures.push(examined)
  }
  return { pictures, faults }
}
