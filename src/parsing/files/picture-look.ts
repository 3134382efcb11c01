import { LOOK_BITS } from '../../pieces/looks.ts'
import type { Picture } from './picture.ts'
import jpeg from 'jpeg-js'
import { GifReader } from 'omggif'
import { PNG } from 'pngjs'

const cells = 16
/** Minimum difference of brightness, of 255, that counts: less is noise of the compression. */
const stepMin = 1

/**
 * Computes the look of a picture: 98 bits in hexadecimal, of which similar pictures share most, and
 * before them the ratio of width to height. Each bit tells whether the picture becomes brighter
 * toward the right or toward the bottom at one of 49 places (a difference hash), of a smoothed and
 * reduced copy, so that recompression, other sizes and small crops change few bits.
 */
export function pictureLook(picture: Picture): string {
  const brightness = smoothed(reduced(picture))
  const at = (x: number, y: number) => brightness[y * cells + x] ?? 0
  let bits = ''
  for (let y = 1; y < cells - 1; y += 2) {
    for (let x = 1; x < cells - 1; x += 2) {
      bits += at(x + 1, y) > at(x - 1, y) + stepMin ? '1' : '0'
      bits += at(x, y + 1) > at(x, y - 1) + stepMin ? '1' : '0'
    }
  }
  const ratio = Math.round(32 * Math.log2(picture.width / picture.height)) + 128
  const shape = Math.min(255, Math.max(0, ratio)).toString(16).padStart(2, '0')
  const number = BigInt(`0b${bits}`).toString(16)
  return shape + number.padStart(Math.ceil(LOOK_BITS / 4), '0')
}

/** Reduces a picture to the mean brightness of 16 × 16 cells; transparent pixels are white. */
function reduced({ width, height, data }: Picture): Float64Array {
  const sums = new Float64Array(cells * cells)
  const counts = new Float64Array(cells * cells)
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y * cells) / height) * cells
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4
      const cell = row + Math.floor((x * cells) / width)
      const light =
        (data[from] ?? 0) * 0.299 + (data[from + 1] ?? 0) * 0.587 + (data[from + 2] ?? 0) * 0.114
      const alpha = data[from + 3] ?? 0
      sums[cell] = (sums[cell] ?? 0) + 255 + ((light - 255) * alpha) / 255
      counts[cell] = (counts[cell] ?? 0) + 1
    }
  }
  return sums.map((sum, cell) => sum / (counts[cell] ?? 1))
}

/** Replaces each cell by the mean of itself and its neighbors. */
function smoothed(brightness: Float64Array): Float64Array {
  return brightness.map((_, cell) => {
    const [x, y] = [cell % cells, Math.floor(cell / cells)]
    let sum = 0
    let count = 0
    for (let near = Math.max(0, y - 1); near <= Math.min(cells - 1, y + 1); near++) {
      for (let next = Math.max(0, x - 1); next <= Math.min(cells - 1, x + 1); next++) {
        sum += brightness[near * cells + next] ?? 0
        count++
      }
    }
    return sum / count
  })
}

/** Decoding a JPEG file takes about ten times the memory of its pixels. */
const JPEG_MEGABYTES_MAX = 512

/** Decodes a picture that `examinePicture` has checked. Undefined when it is damaged. */
export function decodePicture(file: Buffer): Picture | undefined {
  try {
    if (file[0] === 0xff) {
      const options = { maxMemoryUsageInMB: JPEG_MEGABYTES_MAX, tolerantDecoding: true }
      const { width, height, data } = jpeg.decode(file, { ...options, useTArray: true })
      return { width, height, data: new Uint8ClampedArray(data.buffer) }
    }
    if (file[0] === 0x89) {
      const { width, height, data } = PNG.sync.read(file)
      return { width, height, data: Uint8ClampedArray.from(data) }
    }
    const gif = new GifReader(file)
    const { width, height } = gif
    const data = new Uint8ClampedArray(width * height * 4)
    gif.decodeAndBlitFrameRGBA(0, data)
    return { width, height, data }
  } catch {
    return undefined
  }
}
