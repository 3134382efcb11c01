import { PIXELS_MAX, type Size } from './picture.ts'

/**
 * A picture file that decoders may read: only the parts that they need, with every number checked.
 * `work` is the number of pixels that they compute, which is higher for a file of several scans.
 */
export type PictureFile = Size & { content: Buffer; work: number }

/** Maximum number of chunks, segments or scans; files of cameras and programs have fewer. */
const PARTS_MAX = 2_000
const SCANS_MAX = 100
/** Maximum work of decoders, in pixels: a photo of 12 megapixels in ten scans. */
const WORK_MAX = 10 * PIXELS_MAX

const broken = { fault: 'unreadable' } as const
const oversized = { fault: 'too-large' } as const

type Examined = PictureFile | typeof broken | typeof oversized

/**
 * Examines a PNG, JPEG, GIF or PGM file without decoding it: every header, frame, scan and segment
 * that a decoder would use. Undefined for anything else. Linear time.
 */
export function examinePicture(file: Buffer): Examined | undefined {
  if (file.length < 24) return undefined
  const start = file.readUInt32BE(0)
  try {
    if (start === 0x89504e47) return examinePng(file)
    if (start === 0x47494638) return examineGif(file)
    if (start >>> 8 === 0x50350a) return examinePgm(file)
    return start >>> 8 === 0xffd8ff ? examineJpeg(file) : undefined
  } catch (error) {
    // A number points beyond the end of the file.
    if (error instanceof RangeError) return broken
    throw error
  }
}

function checked({ width, height }: Size, parts: readonly Buffer[], scans = 1): Examined {
  const pixels = width * height
  if (pixels === 0) return broken
  const work = pixels * scans
  if (pixels > PIXELS_MAX || work > WORK_MAX) return oversized
  return { width, height, work, content: Buffer.concat(parts) }
}

/** The chunks that decoders get; profiles and texts are not among them. */
const pngChunks = new Set(['PLTE', 'tRNS', 'IDAT'])
const SIGNATURE_BYTES = 8
const PNG_HEADER_BYTES = 13

/** PNG (ISO/IEC 15948, 5): one header, which is first, and at most one palette. */
function examinePng(file: Buffer): Examined {
  const parts = [file.subarray(0, SIGNATURE_BYTES)]
  const counts = { IHDR: 0, PLTE: 0, tRNS: 0 }
  let at = SIGNATURE_BYTES
  for (let number = 0; at + 8 <= file.length; number++) {
    const [length, name] = [file.readUInt32BE(at), file.toString('latin1', at + 4, at + 8)]
    const end = at + length + 12
    if ((number === 0) !== (name === 'IHDR')) return broken
    if (number > PARTS_MAX) return oversized
    if (name in counts && ++counts[name as keyof typeof counts] > 1) return broken
    // Mail programs show a file that ends early, too.
    if (name === 'IEND' || end > file.length) break
    if (number === 0 || pngChunks.has(name)) parts.push(file.subarray(at, end))
    at = end
  }
  if (file.readUInt32BE(SIGNATURE_BYTES) !== PNG_HEADER_BYTES) return broken
  return checked({ width: file.readUInt32BE(16), height: file.readUInt32BE(20) }, [
    ...parts,
    pngEnd,
  ])
}

/** PGM, as `cellPictures` draws it. */
function examinePgm(file: Buffer): Examined | undefined {
  const [head = '', width, height] =
    /^P5\n(\d{1,5}) (\d{1,5})\n255\n/.exec(file.toString('latin1', 0, 20)) ?? []
  if (head === '') return undefined
  const size = { width: Number(width), height: Number(height) }
  const end = head.length + size.width * size.height
  return end > file.length ? broken : checked(size, [file.subarray(0, end)])
}

const pngEnd = Buffer.from('0000000049454e44ae426082', 'hex')

/** GIF (GIF89a, 17 to 27): the first frame, which must lie within the screen. */
function examineGif(file: Buffer): Examined {
  const screen = { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
  let at = 13 + colorTableBytes(file.readUInt8(10))
  const parts = [file.subarray(0, at)]
  const afterBlocks = (from: number) => {
    let end = from
    for (let size = file[end++] ?? 0; size > 0; size = file[end++] ?? 0) end += size
    return end
  }
  while (file.readUInt8(at) === 0x21) {
    const end = afterBlocks(at + 2)
    // Of the extensions, decoders get only the control block, with the transparent color.
    if (file.readUInt8(at + 1) === 0xf9) parts[1] = file.subarray(at, end)
    at = end
  }
  if (file.readUInt8(at) !== 0x2c) return broken
  const [left, top] = [file.readUInt16LE(at + 1), file.readUInt16LE(at + 3)]
  const [width, height] = [file.readUInt16LE(at + 5), file.readUInt16LE(at + 7)]
  if (width * height > PIXELS_MAX) return oversized
  if (left + width > screen.width || top + height > screen.height) return broken
  const data = at + 10 + colorTableBytes(file.readUInt8(at + 9))
  const codeBits = file.readUInt8(data)
  if (width * height === 0 || codeBits < 2 || codeBits > 8) return broken
  const end = afterBlocks(data + 1)
  const missing = end > file.length ? [0] : []
  return checked(screen, [...parts, file.subarray(at, end), Buffer.of(...missing, 0x3b)])
}

function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

const SOF_BASELINE = 0xc0
const SOF_PROGRESSIVE = 0xc2
const DHT = 0xc4
const EOI = 0xd9
const SOS = 0xda
/** Segments that decoders get: tables, intervals, and the two that tell the color space. */
const jpegSegments = new Set([DHT, 0xdb, 0xdd, 0xe0, 0xee])

/** JPEG (ITU-T T.81, B): one frame of Huffman codes, whose scans are counted. */
function examineJpeg(file: Buffer): Examined {
  const parts = [file.subarray(0, 2)]
  let [at, scans, number] = [2, 0, 0]
  let size: Size | undefined
  while (at + 4 <= file.length) {
    const marker = file.readUInt8(at + 1)
    if (file.readUInt8(at) !== 0xff || marker === 0xff) {
      at++
      continue
    }
    if (marker === EOI) break
    const start = at
    at += 2 + Math.max(2, file.readUInt16BE(at + 2))
    if (++number > PARTS_MAX) return oversized
    if (at > file.length) break
    const isFrame = marker >= SOF_BASELINE && marker <= 0xcf && ![DHT, 0xc8].includes(marker)
    if (isFrame) {
      if (size !== undefined || marker > SOF_PROGRESSIVE) return broken
      size = jpegFrame(file.subarray(start, at))
      if (!size) return broken
    }
    if (marker === SOS) {
      if (!size || ++scans > SCANS_MAX) return size ? oversized : broken
      at = endOfScan(file, at)
    }
    if (isFrame || marker === SOS || jpegSegments.has(marker)) parts.push(file.subarray(start, at))
  }
  if (!size || scans === 0) return broken
  return checked(size, [...parts, Buffer.of(0xff, EOI)], scans)
}

const COMPONENTS_MAX = 4
const SAMPLING_MAX = 4

/** Reads a frame header of 8 bits per sample; undefined if a number is out of its range. */
function jpegFrame(segment: Buffer): Size | undefined {
  const components = segment.readUInt8(9)
  const isSound = components >= 1 && components <= COMPONENTS_MAX && segment.readUInt8(4) === 8
  if (!isSound || segment.length < 10 + components * 3) return undefined
  for (let number = 0; number < components; number++) {
    const sampling = segment.readUInt8(11 + number * 3)
    const sides = [sampling >> 4, sampling & 15]
    if (sides.some((side) => side < 1 || side > SAMPLING_MAX)) return undefined
  }
  return { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) }
}

/** Returns the offset of the first marker after the data of a scan. */
function endOfScan(file: Buffer, from: number): number {
  let at = file.indexOf(0xff, from)
  for (; at >= 0 && at + 1 < file.length; at = file.indexOf(0xff, at + 2)) {
    const next = file[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
    if (next === 0xff) at--
  }
  return file.length
}
