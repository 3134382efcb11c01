/** A decoded picture: four bytes a pixel (red, green, blue, alpha), row by row. */
export type Picture = { width: number; height: number; data: Uint8ClampedArray }

export type Size = { width: number; height: number }

/** Larger pictures are not decoded: 12 megapixels, a photo of a telephone, take 48 MB. */
export const PIXELS_MAX = 12_000_000
/** Smaller pictures cannot show a QR code (21 modules) or anything else to read. */
const SIDE_MIN = 24

/** Whether a picture is large enough to show something to read. */
export function isWorthReading({ width, height }: Size): boolean {
  return width >= SIDE_MIN && height >= SIDE_MIN
}

/** Whether a picture is worth decoding, and small enough. */
export function isReadable(size: Size): boolean {
  return isWorthReading(size) && size.width * size.height <= PIXELS_MAX
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
