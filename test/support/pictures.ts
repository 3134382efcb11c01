import jpeg from 'jpeg-js'
import { GifWriter } from 'omggif'
import { PNG } from 'pngjs'
import { encode } from 'uqr'
import type { Picture } from '../../src/parsing/files/picture.ts'

/** Draws a picture: `colorAt` returns red, green and blue. */
export function drawPicture(
  width: number,
  height: number,
  colorAt: (x: number, y: number) => readonly [number, number, number],
): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set([...colorAt(x, y), 255], (y * width + x) * 4)
  }
  return { width, height, data }
}

/** Draws a QR code, with `scale` pixels for each module. */
export function drawQrCode(text: string, scale = 4): Picture {
  const { data, size } = encode(text, { border: 4 })
  return drawPicture(size * scale, size * scale, (x, y) => {
    const isDark = data[Math.floor(y / scale)]?.[Math.floor(x / scale)] === true
    return isDark ? [0, 0, 0] : [255, 255, 255]
  })
}

export function pngFile({ width, height, data }: Picture): Buffer {
  const png = new PNG({ width, height })
  png.data = Buffer.from(data)
  return PNG.sync.write(png)
}

export function jpegFile({ width, height, data }: Picture, quality = 80): Buffer {
  return jpeg.encode({ width, height, data: Buffer.from(data) }, quality).data
}

/** Encodes a picture as GIF, in 216 colors. */
export function gifFile({ width, height, data }: Picture): Buffer {
  const palette = Array.from({ length: 256 }, (_, index) => {
    const [red, green, blue] = [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6]
    return red > 5 ? 0 : ((red * 51) << 16) | ((green * 51) << 8) | (blue * 51)
  })
  const step = (at: number) => Math.round((data[at] ?? 0) / 51)
  const indexes = Array.from({ length: width * height }, (_, pixel) => {
    return step(pixel * 4) * 36 + step(pixel * 4 + 1) * 6 + step(pixel * 4 + 2)
  })
  const bytes = Buffer.alloc(width * height * 2 + 2000)
  const gif = new GifWriter(bytes, width, height, { palette })
  gif.addFrame(0, 0, width, height, indexes)
  return bytes.subarray(0, gif.end())
}
