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
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4
      const [red, green, blue] = colorAt(x, y)
      data[at] = red
      data[at + 1] = green
      data[at + 2] = blue
      data[at + 3] = 255
    }
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

/** Copies a part of a picture, in another size (bilinear). */
function resized(
  picture: Picture,
  [width, height]: readonly [number, number],
  [left, top, right, bottom]: readonly [number, number, number, number] = [0, 0, 1, 1],
): Picture {
  const { width: from, height: down, data } = picture
  const at = (x: number, y: number, color: number) => {
    const [column, row] = [Math.min(from - 1, Math.max(0, x)), Math.min(down - 1, Math.max(0, y))]
    return data[(row * from + column) * 4 + color] ?? 0
  }
  return drawPicture(width, height, (x, y) => {
    const column = (left + ((x + 0.5) / width) * (right - left)) * from - 0.5
    const row = (top + ((y + 0.5) / height) * (bottom - top)) * down - 0.5
    const [x0, y0] = [Math.floor(column), Math.floor(row)]
    const mixed = (color: number) => {
      const upper = at(x0, y0, color) * (x0 + 1 - column) + at(x0 + 1, y0, color) * (column - x0)
      const lower =
        at(x0, y0 + 1, color) * (x0 + 1 - column) + at(x0 + 1, y0 + 1, color) * (column - x0)
      return upper * (y0 + 1 - row) + lower * (row - y0)
    }
    return [mixed(0), mixed(1), mixed(2)]
  })
}

function recolored(picture: Picture, change: (value: number, index: number) => number): Picture {
  const data = picture.data.map((value, at) => (at % 4 === 3 ? value : change(value, at)))
  return { ...picture, data }
}

const scaled = (by: number, { width, height }: Picture) =>
  [Math.round(width * by), Math.round(height * by)] as const

/** Ten ways in which copies of one picture differ, as files. */
export const reencodings: Readonly<Record<string, (picture: Picture) => Buffer>> = {
  'JPEG, quality 90': (picture) => jpegFile(picture, 90),
  'JPEG, quality 50': (picture) => jpegFile(picture, 50),
  'JPEG, quality 20': (picture) => jpegFile(picture, 20),
  'GIF, 216 colors': gifFile,
  'half the size': (picture) => pngFile(resized(picture, scaled(0.5, picture))),
  'larger by a half': (picture) => pngFile(resized(picture, scaled(1.5, picture))),
  '2 % cropped at each side': (picture) =>
    pngFile(resized(picture, scaled(0.96, picture), [0.02, 0.02, 0.98, 0.98])),
  '5 % cropped at the right': ({ width, height, ...picture }) =>
    pngFile(
      resized({ width, height, ...picture }, [Math.round(width * 0.95), height], [0, 0, 0.95, 1]),
    ),
  'brighter by a tenth': (picture) => pngFile(recolored(picture, (value) => value * 1.1 + 5)),
  noise: (picture) => pngFile(recolored(picture, (value, at) => value + ((at * 7919) % 17) - 8)),
}
