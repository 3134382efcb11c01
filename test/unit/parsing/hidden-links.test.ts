import { expect, test } from 'vitest'
import { streamOf } from '../../support/bombs.ts'
import { gzipOf, rarOf, tarOf, zipOf } from '../../support/packed-files.ts'
import { readFiles } from '../../support/read-files.ts'

const seen = 'https://seen.example/'

async function read(content: Buffer) {
  const { links, faults } = await readFiles([{ name: undefined, type: 'x/y', content }], {
    needsLook: false,
  })
  return { found: links.flatMap(({ urls, text }) => [...urls, text]).join('\n'), faults }
}

/** A text, as another program packs it. */
const bzipped =
  'UEsDBC4AAAAMAAAAIQAVRHjEOgAAABUAAAAFAAAAYS50eHRCWmg5MUFZJlNZwigxeQAABRmAAAGAECJH' +
  'TEAgACKZPImNCAaAP+ItU4k5QxAujou5IpwoSGEUGLyAUEsBAi4DLgAAAAwAAAAhABVEeMQ6AAAAFQAA' +
  'AAUAAAAAAAAAAAAAAIABAAAAAGEudHh0UEsFBgAAAAABAAEAMwAAAF0AAAAAAA=='

test('a link in a zip file of another method is found', async () => {
  expect((await read(Buffer.from(bzipped, 'base64'))).found).toContain(seen)
})

test('a link in a zip file after other bytes is found', async () => {
  const file = Buffer.concat([Buffer.from('x'.repeat(5_000)), zipOf({ 'a.txt': seen })])
  expect((await read(file)).found).toContain(seen)
})

const padded = `<a href="${seen}">x</a>${' '.repeat(4_100_000)}`

test.for([
  ['rar', rarOf({ 'a.html': padded })],
  ['tar', tarOf({ 'a.html': padded })],
  ['tgz', gzipOf('a.tar', tarOf({ 'a.html': padded }))],
] as const)('the beginning of a large page in a %s file is read', async ([, file]) => {
  expect((await read(file)).found).toContain(seen)
})

test('of many files in an archive the pages come first, and the others are a fault', async () => {
  const notes = Array.from({ length: 250 }, (_, at) => [`${at}.txt`, 'x'])
  const file = zipOf({ ...Object.fromEntries(notes), 'z.html': `<a href="${seen}">x</a>` })
  const { found, faults } = await read(file)
  expect(found).toContain(seen)
  expect(faults).toEqual(['too-large'])
})

test('the beginning of a long document in RTF is read, and what follows a picture', async () => {
  const digits = 'ab'.repeat(200_000)
  const escapes = "\\'41".repeat(700_000)
  const { found, faults } = await read(
    Buffer.from(`{\\rtf1 {\\pict ${digits}} ${seen} ${escapes}}`),
  )
  expect(found).toContain(seen)
  expect(faults).toEqual([])
})

const link = `<</S/URI/URI(${seen})>>`
const annotation = `<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A${link}>>`

function pdfOf(...objects: (string | Buffer)[]): Buffer {
  const parts = objects.map((object, at) =>
    Buffer.concat([
      Buffer.from(`${at + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ]),
  )
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts, Buffer.from('trailer<</Root 1 0 R>>')])
}

const catalog = '<</Type/Catalog/Pages 2 0 R>>'
const tree = '<</Type/Pages/Kids[3 0 R]/Count 1>>'
const page = (rest: string) => `<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]${rest}>>`
/** A font whose widths are listed for two billion characters. */
const font = '<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]>>'
const widths =
  '<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(A)/Ordering(B)' +
  '/Supplement 0>>/W[0 2000000000 500]/FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4>>>>'
const encoded = `<${Buffer.from(seen).toString('hex')}>`

test.for([
  [
    'beside a text that takes too long',
    pdfOf(
      catalog,
      tree,
      // Its target is not in the source.
      page(
        `/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>/Annots[${annotation.replace(`(${seen})`, encoded)}]`,
      ),
      streamOf('', 'BT /F 9 Tf (a) Tj ET'),
      font,
      widths,
    ),
  ],
  [
    'of a file without pages',
    pdfOf(catalog, '<</Type/Pages/Kids[3 0 R]/Count 0>>', page(`/Annots[${annotation}]`)),
  ],
  [
    'beside too many others',
    pdfOf(catalog, tree, page(`/Annots[${annotation}${'4 0 R '.repeat(100_000)}]`), annotation),
  ],
] as const)('a link in a PDF file is found: %s', async ([, file]) => {
  expect((await read(file)).found).toContain(seen)
})
