import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import type { Picture } from '../../src/parsing/files/picture.ts'

/** What to write into a PDF file. */
export type PdfParts = {
  /** The target of a link. */
  url?: string
  text?: string
  picture?: Picture
  /** The drawing of the page, compressed; instead of `text`. */
  drawing?: Buffer
  /** `packed`: the objects are in a compressed stream; `encrypted`: with an empty password. */
  form?: 'plain' | 'packed' | 'encrypted'
}

/** Composes a PDF file of one page. */
export function pdfFile({ url, text = '', picture, drawing, form = 'plain' }: PdfParts): Buffer {
  const lock = form === 'encrypted' ? lockOf() : undefined
  const quoted = (number: number, value: string) => {
    const bytes = Buffer.from(value)
    return `<${(lock ? rc4(lock.keyOf(number), bytes) : bytes).toString('hex')}>`
  }
  const stream = (number: number, dictionary: string, content: Buffer) => {
    const bytes = lock ? rc4(lock.keyOf(number), content) : content
    return Buffer.concat([
      Buffer.from(`<<${dictionary}/Length ${bytes.length}>>stream\n`),
      bytes,
      Buffer.from('\nendstream'),
    ])
  }
  const shown = `BT /F 12 Tf 9 99 Td (${text}) Tj ET${picture ? ' q 90 0 0 90 0 0 cm /I Do Q' : ''}`
  const rgb = picture ? Buffer.from(picture.data.filter((_, at) => at % 4 < 3)) : Buffer.of(0)
  const { width, height } = picture ?? { width: 1, height: 1 }
  const size = `/Width ${width}/Height ${height}/BitsPerComponent 8/ColorSpace/DeviceRGB`
  const link = url === undefined ? '' : `/A<</S/URI/URI ${quoted(5, url)}>>`
  const objects: (string | Buffer)[] = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 6 0 R/Annots[5 0 R]' +
      '/Resources<</Font<</F 4 0 R>>/XObject<</I 7 0 R>>>>>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    `<</Type/Annot/Subtype/Link/Rect[0 0 9 9]${link}>>`,
    drawing ? stream(6, '/Filter/FlateDecode', drawing) : stream(6, '', Buffer.from(shown)),
    stream(7, `/Type/XObject/Subtype/Image${size}/Filter/FlateDecode`, deflateSync(rgb)),
  ]
  return form === 'packed' ? packed(objects) : composed(objects, lock?.entries ?? '')
}

/** A link of a square area, whose side is given in points. */
export type PdfLink = { url: string; side: number }

/** Composes a PDF file whose pages have only links. */
export function pdfOfPages(pages: readonly (readonly PdfLink[])[]): Buffer {
  const kids = pages.map((_, at) => `${at + 3} 0 R`).join(' ')
  const drawn = pages.map((links) => {
    const annotations = links.map(({ url, side }) => {
      return `<</Type/Annot/Subtype/Link/Rect[0 0 ${side} ${side}]/A<</S/URI/URI(${url})>>>>`
    })
    return `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[${annotations.join('')}]>>`
  })
  const tree = `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`
  return composed(['<</Type/Catalog/Pages 2 0 R>>', tree, ...drawn], '')
}

function composed(objects: readonly (string | Buffer)[], trailer: string): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  for (const [index, object] of objects.entries()) {
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'))
  }
  // Without a cross-reference table, readers search for the objects.
  return Buffer.concat([...parts, Buffer.from(`trailer<</Root 1 0 R${trailer}>>\n%%EOF`)])
}

/** Puts all objects that are no streams into an object stream (ISO 32000-1, 7.5.7 and 7.5.8). */
function packed(objects: readonly (string | Buffer)[]): Buffer {
  const inner = objects.flatMap((object, index) =>
    typeof object === 'string' ? [{ number: index + 1, object }] : [],
  )
  let offset = 0
  const index = inner.map(({ number, object }) => {
    const entry = `${number} ${offset}`
    offset += object.length + 1
    return entry
  })
  const first = `${index.join(' ')} `
  const content = deflateSync(first + inner.map(({ object }) => object).join(' '))
  const streamNumber = objects.length + 1
  let file = Buffer.from('%PDF-1.5\n')
  const entries = Array.from({ length: streamNumber + 2 }, () => [0, 0, 0])
  const add = (number: number, body: Buffer) => {
    entries[number] = [1, file.length, 0]
    file = Buffer.concat([file, Buffer.from(`${number} 0 obj\n`), body, Buffer.from('\nendobj\n')])
  }
  for (const [at, { number }] of inner.entries()) entries[number] = [2, streamNumber, at]
  for (const [at, object] of objects.entries()) {
    if (typeof object !== 'string') add(at + 1, object)
  }
  const head = `/Type/ObjStm/N ${inner.length}/First ${first.length}/Filter/FlateDecode`
  add(streamNumber, streamOf(head, content))
  const start = file.length
  entries[streamNumber + 1] = [1, start, 0]
  const table = Buffer.from(
    entries.flatMap(([kind = 0, a = 0, b = 0]) => [kind, a >> 16, (a >> 8) & 255, a & 255, b]),
  )
  add(streamNumber + 1, streamOf(`/Type/XRef/Size ${entries.length}/W[1 3 1]/Root 1 0 R`, table))
  return Buffer.concat([file, Buffer.from(`startxref\n${start}\n%%EOF`)])
}

function streamOf(dictionary: string, content: Buffer): Buffer {
  const start = `<<${dictionary}/Length ${content.length}>>stream\n`
  return Buffer.concat([Buffer.from(start), content, Buffer.from('\nendstream')])
}

const padding = Buffer.from(
  '28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a',
  'hex',
)
const md5 = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest()

/** The standard security handler, revision 2, with empty passwords (ISO 32000-1, 7.6.3). */
function lockOf() {
  const owner = rc4(md5(padding).subarray(0, 5), padding)
  const id = Buffer.alloc(16, 7)
  const key = md5(padding, owner, Buffer.from([0xfc, 0xff, 0xff, 0xff]), id).subarray(0, 5)
  const user = rc4(key, padding)
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`
  const entries =
    `/ID[${hex(id)}${hex(id)}]` +
    `/Encrypt<</Filter/Standard/V 1/R 2/P -4/O${hex(owner)}/U${hex(user)}>>`
  return {
    entries,
    keyOf: (number: number) => md5(key, Buffer.of(number, 0, 0, 0, 0)).subarray(0, 10),
  }
}

function rc4(key: Buffer, content: Buffer): Buffer {
  const state = Array.from({ length: 256 }, (_, index) => index)
  const swap = (a: number, b: number) => ([state[a], state[b]] = [state[b] ?? 0, state[a] ?? 0])
  let other = 0
  for (let at = 0; at < 256; at++) {
    other = (other + (state[at] ?? 0) + (key[at % key.length] ?? 0)) & 255
    swap(at, other)
  }
  other = 0
  return Buffer.from(
    content.map((byte, index) => {
      const at = (index + 1) & 255
      other = (other + (state[at] ?? 0)) & 255
      swap(at, other)
      return byte ^ (state[((state[at] ?? 0) + (state[other] ?? 0)) & 255] ?? 0)
    }),
  )
}
