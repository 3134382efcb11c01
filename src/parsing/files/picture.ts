/** A decoded picture: four bytes a pixel (red, green, blue, alpha), row by row. */
export type Picture = { width: number; height: number; data: Uint8ClampedArray }

/** Width and height in pixels. */
export type Size = { width: number; height: number }

/** Larger pictures are not decoded: 12 megapixels, a photo of a telephone, take 48 MB. */
const PIXELS_MAX = 12_000_000
/** Smaller pictures cannot show a QR code (21 modules) or anything else to read. */
const SIDE_MIN = 24

/** Whether a picture is worth decoding, and small enough. */
export function isReadable({ width, height }: Size): boolean {
  return width >= SIDE_MIN && height >= SIDE_MIN && width * height <= PIXELS_MAX
}

const CONTENT_SIDE_MIN = 100
const CONTENT_PIXELS_MIN = 20_000
const CONTENT_PIXELS_MAX = 4_000_000

/** Whether a picture may be the content of a message, and is not too large to decode. */
export function mayBeContent({ width, height }: Size): boolean {
  const pixels = width * height
  return (
    Math.min(width, height) >= CONTENT_SIDE_MIN &&
    pixels >= CONTENT_PIXELS_MIN &&
    pixels <= CONTENT_PIXELS_MAX
  )
}

/**
 * Returns the size that the header of a PNG, JPEG or GIF file states, without decoding it.
 * Undefined for anything else. Linear time.
 */
export function pictureSize(file: Buffer): Size | undefined {
  if (file.length < 24) return undefined
  if (file.readUInt32BE(0) === 0x89504e47) {
    return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
  }
  if (file.toString('latin1', 0, 4) === 'GIF8') {
    return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
  }
  return file.readUInt16BE(0) === 0xffd8 ? jpegSize(file) : undefined
}

/** Finds the frame header of a JPEG file (ITU-T T.81, B.2.2). */
function jpegSize(file: Buffer): Size | undefined {
  let at = 2
  while (at + 9 < file.length) {
    if (file[at] !== 0xff) {
      at++
      continue
    }
    const marker = file[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) }
    const isBare = marker === 0xff || marker === 0 || marker === 1 || (marker & 0xf8) === 0xd0
    at += isBare ? (marker === 0xff ? 1 : 2) : 2 + file.readUInt16BE(at + 2)
  }
  return undefined
}
