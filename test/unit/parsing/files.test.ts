import { expect, test } from 'vitest'
import { isReadable } from '../../../src/parsing/files/picture.ts'
import { examinePicture } from '../../../src/parsing/files/picture-file.ts'
import { readFiles } from '../../support/read-files.ts'
import { pdfFile } from '../../support/pdf.ts'
import { drawPicture, drawQrCode, gifFile, jpegFile, pngFile } from '../../support/pictures.ts'

const attached = (content: Buffer) => [{ name: undefined, type: 'x/y', content }]
const linksIn = async (files: Parameters<typeof readFiles>[0]) =>
  (await readFiles(files, { needsLook: false })).links
const read = (content: Buffer) => linksIn(attached(content))
const noise = drawPicture(300, 200, (x, y) => [(x * y) % 251, (x * 7 + y * 3) % 239, (x ^ y) & 255])

test.for([
  ['PNG', pngFile(noise)],
  ['JPEG', jpegFile(noise)],
  ['GIF', gifFile(noise)],
] as const)('the size of a %s file is known without decoding it', ([, file]) => {
  expect(examinePicture(file)).toMatchObject({ width: 300, height: 200 })
  for (let length = 0; length < file.length; length += 7) {
    const cut = examinePicture(file.subarray(0, length)) ?? { fault: 'unreadable' }
    if (!('fault' in cut)) expect(cut).toMatchObject({ width: 300, height: 200 })
  }
})

test.for([
  ['100 megapixels', { width: 10_000, height: 10_000 }],
  ['a line', { width: 600, height: 1 }],
  ['nothing', { width: 0, height: 0 }],
] as const)('a picture of %s is not decoded', async ([, size]) => {
  expect(isReadable(size)).toBe(false)
  const file = pngFile(drawQrCode('https://a.example/'))
  file.writeUInt32BE(size.width, 16)
  file.writeUInt32BE(size.height, 20)
  expect(await read(file)).toEqual([])
})

test('a PDF file gives its links, its text and its QR codes', async () => {
  const url = 'https://link.example/a?b=c'
  const picture = drawQrCode('https://code.example/')
  expect(await read(pdfFile({ url, text: 'See text.example.com', picture }))).toEqual([
    { where: 'pdf', urls: [url], text: expect.stringContaining('See text.example.com') as string },
    { where: 'qr', urls: [], text: 'https://code.example/' },
  ])
})

test('a link of a PDF file is cut at the length that is stored', async () => {
  const url = `https://link.example/${'a'.repeat(20_000)}`
  const [found] = await read(pdfFile({ url }))
  expect(found?.urls).toEqual([url.slice(0, 2_000)])
})

test('a PNG file whose data only some decoders accept is not decoded', async () => {
  const file = pngFile(drawQrCode('https://a.example/'))
  const data = file.indexOf('IDAT') + 4
  // A window of 8 MB, which zlib does not know.
  file[data] = 0xf8
  file[data + 1] = 31 - ((0xf8 * 256) % 31)
  const { faults } = await readFiles(attached(file), { needsLook: false })
  expect(faults).toEqual(['unreadable'])
})

test('a large picture does not hide the code in a small one', async () => {
  const large = pngFile(noise)
  large.writeUInt32BE(3_400, 16)
  large.writeUInt32BE(3_500, 20)
  const small = pngFile(drawQrCode('https://a.example/'))
  const found = await linksIn([large, large, small].flatMap(attached))
  expect(found).toEqual([{ where: 'qr', urls: [], text: 'https://a.example/' }])
})

test.for([
  ['a PDF file without content', Buffer.from('%PDF-1.7\n')],
  ['a PDF file that ends early', pdfFile({ url: 'https://a.example/' }).subarray(0, 300)],
  [
    'a PDF file whose pages contain each other',
    Buffer.from(
      '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n' +
        '2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000000>>endobj\ntrailer<</Root 1 0 R>>',
    ),
  ],
  ['a damaged picture', Buffer.concat([pngFile(noise).subarray(0, 200), Buffer.alloc(500, 7)])],
  ['an empty JPEG', jpegFile(noise).subarray(0, 400)],
] as const)('%s gives nothing', async ([, file]) => {
  const found = await read(file)
  expect(found.flatMap(({ urls }) => urls)).toEqual([])
})

test('damaged files never fail', async () => {
  const files = [
    pdfFile({ url: 'https://a.example/', form: 'packed', picture: drawQrCode('x') }),
    pngFile(drawQrCode('https://a.example/')),
    jpegFile(drawQrCode('https://a.example/')),
    gifFile(drawQrCode('https://a.example/')),
  ]
  for (const file of files) {
    for (let round = 0; round < 15; round++) {
      const damaged = Buffer.from(file)
      for (let at = round + 30; at < damaged.length; at += 97 + round) damaged[at] = round * 17
      expect(await read(damaged)).toBeInstanceOf(Array)
    }
  }
})
