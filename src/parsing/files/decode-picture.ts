import jpeg from 'jpeg-js'
import { GifReader } from 'omggif'
import { PNG } from 'pngjs'
import type { Picture } from './picture.ts'

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
