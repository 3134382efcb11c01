import { crc32, deflateSync } from 'node:zlib'
import { pdfFile } from './pdf.ts'
import { drawPicture, drawQrCode, gifFile, jpegFile, pngFile } from './pictures.ts'

/** Small files that are expensive to decode, each kind made anew, in sizes of its own. */
export type Bomb = { name: string; file: Buffer; fault: RegExp }

const noise = drawPicture(320, 240, (x, y) => [(x * y) % 251, (x * 7) % 239, (x ^ y) & 255])
const refused = /^(?:unreadable|too-large)$/
const bounded = /^(?:unreadable|too-large|too-slow)$/

/** Returns all kinds of bombs; `salt` makes their bytes different. */
export function bombs(salt = 0): Bomb[] {
  return [...gifBombs(salt), ...pngBombs(salt), ...jpegBombs(salt), ...pdfBombs(salt)]
}

function gifBombs(salt: number): Bomb[] {
  const screen = (width: number, height: number) => {
    const head = Buffer.alloc(13)
    head.write('GIF89a', 'latin1')
    head.writeUInt16LE(width, 6)
    head.writeUInt16LE(height, 8)
    return Buffer.concat([head.fill(0x80, 10, 11), Buffer.of(0, 0, 0, salt & 255, 255, 255)])
  }
  const frame = (left: number, width: number, height: number) => {
    const head = Buffer.alloc(10)
    head[0] = 0x2c
    head.writeUInt16LE(left, 1)
    head.writeUInt16LE(width, 5)
    head.writeUInt16LE(height, 7)
    return Buffer.concat([head, Buffer.of(8, 3, 0, 1, 2, 0)])
  }
  const gif = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.of(0x3b)])
  const still = gifFile(noise).subarray(0, -1)
  return [
    {
      name: 'GIF: a frame beyond the screen',
      file: gif(screen(300, 300), frame(0, 5e4, 4e4)),
      fault: refused,
    },
    {
      name: 'GIF: a frame beside the screen',
      file: gif(screen(300, 300), frame(299, 200, 200)),
      fault: refused,
    },
    {
      name: 'GIF: a large screen',
      file: gif(screen(65_000, 65_000), frame(0, 65_000, 65_000)),
      fault: refused,
    },
    {
      name: 'GIF: a frame after 9,000 small ones',
      file: gif(
        screen(40, 40),
        ...Array.from({ length: 9_000 }, () => frame(0, 1, 1)),
        frame(0, 6e4, 6e4),
      ),
      fault: /^none$/,
    },
    {
      name: 'GIF: 3,000 frames',
      file: gif(still, ...Array.from({ length: 3_000 }, () => frame(0, 320, 240))),
      fault: /^none$/,
    },
  ]
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(content.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}

function pngHeader(width: number, height: number, [depth, color, interlace] = [8, 6, 0]): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  return chunk(
    'IHDR',
    Buffer.concat([head.subarray(0, 8), Buffer.of(depth ?? 8, color ?? 6, 0, 0, interlace ?? 0)]),
  )
}

function pngBombs(salt: number): Bomb[] {
  const png = (...parts: Buffer[]) =>
    Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      ...parts,
      chunk('tEXt', Buffer.from(`a\0${salt}`)),
      chunk('IEND', Buffer.alloc(0)),
    ])
  const zeros = (bytes: number) => chunk('IDAT', deflateSync(Buffer.alloc(bytes)))
  const whole = [pngHeader(300, 200), zeros(300 * 200 * 4 + 200)]
  return [
    {
      name: 'PNG: two headers',
      file: png(pngHeader(300, 300), pngHeader(25_000, 25_000), zeros(9_000)),
      fault: refused,
    },
    {
      name: 'PNG: a second header at the end',
      file: png(...whole, pngHeader(25_000, 25_000)),
      fault: refused,
    },
    { name: 'PNG: the header late', file: png(zeros(900), pngHeader(300, 300)), fault: refused },
    { name: 'PNG: large', file: png(pngHeader(30_000, 30_000), zeros(9_000)), fault: refused },
    {
      name: 'PNG: more data than pixels',
      file: png(pngHeader(300, 200), zeros(90_000_000)),
      fault: refused,
    },
    {
      name: 'PNG: interlaced, more data than pixels',
      file: png(pngHeader(300, 200, [8, 6, 1]), zeros(90_000_000)),
      fault: refused,
    },
    {
      name: 'PNG: a profile that inflates',
      file: png(
        chunk('iCCP', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(90_000_000))])),
        ...whole,
      ),
      fault: refused,
    },
    {
      name: 'PNG: a text that inflates',
      file: png(
        ...whole,
        chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(90_000_000))])),
      ),
      fault: /^none$/,
    },
    {
      name: 'PNG: a large frame of an animation',
      file: png(
        ...whole,
        chunk('fcTL', Buffer.alloc(26, 255)),
        chunk('fdAT', deflateSync(Buffer.alloc(50_000_000))),
      ),
      fault: /^none$/,
    },
    {
      name: 'PNG: 10,000 chunks',
      file: png(...whole, ...Array.from({ length: 10_000 }, () => chunk('IDAT', Buffer.alloc(0)))),
      fault: refused,
    },
    {
      name: 'PNG: two palettes',
      file: png(
        pngHeader(300, 300, [8, 3, 0]),
        chunk('PLTE', Buffer.alloc(768)),
        chunk('PLTE', Buffer.alloc(768)),
        zeros(90_300),
      ),
      fault: refused,
    },
  ]
}

function jpegBombs(salt: number): Bomb[] {
  const still = jpegFile(noise, 30)
  const frameAt = still.indexOf(Buffer.from('ffc0', 'hex'))
  const scanAt = still.indexOf(Buffer.from('ffda', 'hex'))
  const frame = still.subarray(frameAt, frameAt + 2 + still.readUInt16BE(frameAt + 2))
  const mark = Buffer.from([0xff, 0xfe, 0, 4, salt >> 8, salt & 255])
  const [head, tail] = [still.subarray(0, scanAt), still.subarray(scanAt)]
  const changed = (change: (file: Buffer) => void, parts = [head, mark, tail]) => {
    const file = Buffer.concat(parts)
    change(file)
    return file
  }
  const sized = (width: number, height: number) =>
    changed((file) => {
      file.writeUInt16BE(height, frameAt + 5)
      file.writeUInt16BE(width, frameAt + 7)
    })
  const scan = Buffer.concat([tail.subarray(0, 2 + tail.readUInt16BE(2)), Buffer.of(0)])
  const scans = (count: number, side: number, marker: number) => {
    const file = Buffer.concat([
      head,
      mark,
      ...Array.from({ length: count }, () => scan),
      Buffer.of(255, 0xd9),
    ])
    file[frameAt + 1] = marker
    file.writeUInt16BE(side, frameAt + 5)
    file.writeUInt16BE(side, frameAt + 7)
    return file
  }
  const tables = (marker: number, content: Buffer, count: number) => {
    const one = Buffer.concat([
      Buffer.of(255, marker, (content.length + 2) >> 8, (content.length + 2) & 255),
      content,
    ])
    return Buffer.concat([
      still.subarray(0, 2),
      mark,
      ...Array.from({ length: count }, () => one),
      still.subarray(2),
    ])
  }
  return [
    { name: 'JPEG: 2,500 scans', file: scans(2_500, 2_000, 0xc0), fault: refused },
    { name: 'JPEG: 2,500 progressive scans', file: scans(2_500, 1_900, 0xc2), fault: refused },
    {
      name: 'JPEG: 90 progressive scans of a large frame',
      file: scans(90, 3_400, 0xc2),
      fault: refused,
    },
    { name: 'JPEG: large', file: sized(65_500, 65_500), fault: refused },
    { name: 'JPEG: two frames', file: Buffer.concat([head, frame, mark, tail]), fault: refused },
    {
      name: 'JPEG: a frame after the scan',
      file: Buffer.concat([still.subarray(0, -2), mark, frame, tail]),
      fault: refused,
    },
    {
      name: 'JPEG: arithmetic codes',
      file: changed((file) => (file[frameAt + 1] = 0xc9)),
      fault: refused,
    },
    { name: 'JPEG: lossless', file: changed((file) => (file[frameAt + 1] = 0xc3)), fault: refused },
    {
      name: 'JPEG: sampling of 15',
      file: changed((file) => (file[frameAt + 11] = 0xff)),
      fault: refused,
    },
    {
      name: 'JPEG: 5,000 quantization tables',
      file: tables(0xdb, Buffer.alloc(65), 5_000),
      fault: refused,
    },
    {
      name: 'JPEG: 5,000 Huffman tables',
      file: tables(0xc4, Buffer.alloc(17), 5_000),
      fault: refused,
    },
  ]
}

/** Composes a PDF file of these objects, the first of which is the catalog. */
function pdfOf(salt: number, objects: readonly (string | Buffer)[]): Buffer {
  const parts = objects.flatMap((object, index) => [
    Buffer.from(`${index + 1} 0 obj\n`),
    Buffer.from(object),
    Buffer.from('\nendobj\n'),
  ])
  return Buffer.concat([
    Buffer.from(`%PDF-1.7\n%${salt}\n`),
    ...parts,
    Buffer.from('trailer<</Root 1 0 R>>\n%%EOF'),
  ])
}

export function streamOf(dictionary: string, content: Buffer | string): Buffer {
  return Buffer.concat([
    Buffer.from(`<<${dictionary}/Length ${content.length}>>stream\n`),
    Buffer.from(content),
    Buffer.from('\nendstream'),
  ])
}

function page(rest: string): string[] {
  return [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]${rest}>>`,
  ]
}

/** Composes a PDF file of 3 KB whose forms draw one another, a billion times in all. */
export function slowPdf(salt: number): Buffer {
  const laughs = Array.from({ length: 9 }, (_, depth) => {
    const next = `/Resources<</XObject<</F ${depth + 6} 0 R>>>>`
    return streamOf(`/Type/XObject/Subtype/Form/BBox[0 0 9 9]${next}`, '/F Do '.repeat(12))
  })
  return pdfOf(salt, [
    ...page('/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>'),
    streamOf('', '/F Do '.repeat(12)),
    ...laughs,
    streamOf('/Type/XObject/Subtype/Form/BBox[0 0 9 9]', 'BT (a) Tj ET'),
  ])
}

const drawing = Buffer.from(' q 1 0 0 1 0 0 cm BT (a) Tj ET Q '.repeat(600_000))
const nestedOnce = deflateSync(drawing)
const nestedTwice = deflateSync(nestedOnce)

function nestedPdf(salt: number): Buffer {
  const content = streamOf('/Filter[/FlateDecode/FlateDecode]', nestedTwice)
  return pdfOf(salt, [...page('/Contents 4 0 R'), content])
}

function pdfBombs(salt: number): Bomb[] {
  const many = Array.from({ length: 3_000 }, (_, number) => `/F${number} 5 0 R`).join('')
  const image = (side: number) =>
    streamOf(
      `/Type/XObject/Subtype/Image/Width ${side}/Height ${side}/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode`,
      deflateSync(Buffer.alloc(side * side * 3)),
    )
  return [
    {
      name: 'PDF: nested filters',
      file: nestedPdf(salt),
      fault: bounded,
    },
    {
      name: 'PDF: forms that draw forms',
      file: slowPdf(salt),
      fault: bounded,
    },
    {
      name: 'PDF: a form that draws itself',
      file: pdfOf(salt, [
        ...page('/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>'),
        streamOf('', '/F Do '.repeat(50)),
        streamOf(
          '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>',
          '/F Do '.repeat(50),
        ),
      ]),
      fault: /./,
    },
    {
      name: 'PDF: a long drawing',
      file: pdfFile({ text: `${salt}`, drawing: nestedOnce }),
      fault: bounded,
    },
    {
      name: 'PDF: pages that contain each other',
      file: pdfOf(salt, [
        '<</Type/Catalog/Pages 2 0 R>>',
        '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>',
      ]),
      fault: /./,
    },
    {
      name: 'PDF: nested arrays',
      file: pdfOf(salt, [
        ...page(`/Contents 4 0 R/A${'['.repeat(200_000)}${']'.repeat(200_000)}`),
        streamOf('', 'q Q'),
      ]),
      fault: /./,
    },
    {
      name: 'PDF: large pictures',
      file: pdfOf(salt, [
        ...page(
          `/Contents 4 0 R/Resources<</XObject<<${Array.from({ length: 8 }, (_, at) => `/I${at} ${at + 5} 0 R`).join('')}>>>>`,
        ),
        streamOf('', Array.from({ length: 8 }, (_, at) => `/I${at} Do`).join(' ')),
        ...Array.from({ length: 8 }, (_, at) => image(3_000 + at)),
      ]),
      fault: /./,
    },
    {
      name: 'PDF: thousands of fonts',
      file: pdfOf(salt, [
        ...page(`/Contents 4 0 R/Resources<</Font<<${many}>>>>`),
        streamOf(
          '',
          Array.from({ length: 3_000 }, (_, at) => `BT /F${at} 9 Tf (a) Tj ET`).join('\n'),
        ),
        '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      ]),
      fault: /./,
    },
    {
      name: 'PDF: an object stream that inflates',
      file: pdfOf(salt, [
        ...page('/Contents 4 0 R'),
        streamOf(
          '/Type/ObjStm/N 1000000/First 9000000/Filter/FlateDecode',
          deflateSync(Buffer.alloc(300_000_000, 32)),
        ),
      ]),
      fault: /./,
    },
  ]
}

/** A PNG file with a QR code of this address. */
export function codeOf(url: string): Buffer {
  return pngFile(drawQrCode(url))
}

/** The kinds that take the most time or memory, made quickly. */
export const bombKinds: readonly ((salt: number) => Buffer)[] = [
  slowPdf,
  (salt) => nestedPdf(salt),
  (salt) => pdfFile({ text: `${salt}`, drawing: nestedOnce }),
  (salt) => jpegBombs(salt)[0]?.file ?? slowPdf(salt),
  (salt) => slowPdf(salt + 1_000_000),
]
