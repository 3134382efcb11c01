import { expect, test, vi } from 'vitest'
import { pack } from '../../../src/db/rows.ts'
import { type ChosenFiles, chooseFiles } from '../../../src/parsing/files/choose-files.ts'
import { createFileReader } from '../../../src/parsing/files/file-reader.ts'
import { createParserPool } from '../../../src/parsing/parser-pool.ts'
import { systemClock } from '../../../src/world.ts'
import { codeOf, slowPdf } from '../../support/bombs.ts'
import { composeParts } from '../../support/link-kinds.ts'
import { pdfFile } from '../../support/pdf.ts'
import { drawPicture, pngFile } from '../../support/pictures.ts'
import { fileReader } from '../../support/read-files.ts'

const attached = (...files: Buffer[]) =>
  files.map((content) => ({ name: undefined, type: 'x/y', content }))
const read = async (files: readonly Buffer[], waitMs = 60_000) => {
  const chosen = chooseFiles(attached(...files), { needsLook: true })
  return (await fileReader.read(chosen, { owner: 'a', waitMs })).findings
}

test('a message keeps its text and its QR code beside a PDF file that takes too long', async () => {
  const limits = { messageMsMax: 120_000, heapMegabytesMax: 128, filesMsMax: 90_000 }
  const pool = createParserPool(1, limits)
  const raw = composeParts('From: a@a.example\nSubject: x', [
    { type: 'application/pdf', content: slowPdf(1) },
    { type: 'text/html', content: '<a href="https://c.example/">' },
    { type: 'image/png', content: codeOf('https://d.example/') },
  ])
  const { features } = await pool.analyze(await pack(raw), { trustedRelays: [] })
  await pool.close()
  expect(features.links.places).toEqual(['html', 'qr'])
  const { pdfs, too_slow: slow, too_large: large, unread } = features.attachments
  expect([pdfs, slow + large, unread]).toEqual([1, 1, 0])
})

test('a file that was read is not read again, nor is one that took too long', async () => {
  const file = slowPdf(2)
  const { faults } = await read([file])
  expect(faults).toEqual([expect.not.stringMatching(/^unread$/)])
  // Without the time to read it, the fault that was found is known.
  for (let times = 0; times < 100; times++) expect((await read([file], 0)).faults).toEqual(faults)
})

test('the caller waits no longer than it says, and the file is read afterwards', async () => {
  const url = 'https://later.example/'
  const chosen = chooseFiles(attached(codeOf(url)), { needsLook: false })
  const { findings, later } = await fileReader.read(chosen, { owner: 'a', waitMs: 0 })
  expect(findings).toEqual({ links: [], contents: [], look: undefined, faults: ['unread'] })
  const links = [{ where: 'qr', urls: [], text: url }]
  const made = { links, contents: [], look: undefined, faults: [] }
  expect((await later)?.findings).toEqual(made)
  const again = await fileReader.read(chosen, { owner: 'a', waitMs: 0 })
  expect(again).toMatchObject({ findings: made, later: undefined })
})

test('an owner whose files fill the line does not keep out others', async () => {
  const fair = createFileReader()
  const many = Array.from({ length: 300 }, (_, salt) => slowPdf(1_000 + salt))
  const read = (file: Buffer, owner: string) => {
    const order = { owner, waitMs: 60_000 }
    return fair.read(chooseFiles(attached(file), { needsLook: false }), order)
  }
  const all = many.map((file) => read(file, 'many'))
  const own = pdfFile({ url: 'https://other.example/', text: 'room' })
  const { findings } = await read(own, 'other')
  expect(findings.links.flatMap(({ urls }) => urls)).toEqual(['https://other.example/'])
  fair.close()
  await Promise.all(all)
}, 120_000)

test('the files of others go before those of an owner whose files take long', async () => {
  const fair = createFileReader()
  const slow = Array.from({ length: 10 }, (_, salt) => slowPdf(100 + salt))
  const order = { owner: 'slow', waitMs: 60_000 }
  let done = 0
  const all = slow.map(async (file) => {
    await fair.read(chooseFiles(attached(file), { needsLook: false }), order)
    done++
  })
  await Promise.race(all)
  const own = pdfFile({ url: 'https://other.example/', text: 'fair' })
  const given = chooseFiles(attached(own), { needsLook: false })
  const { findings } = await fair.read(given, { owner: 'other', waitMs: 60_000 })
  expect(findings.links.flatMap(({ urls }) => urls)).toEqual(['https://other.example/'])
  expect(done).toBeLessThan(5)
  fair.close()
  await Promise.all(all)
}, 120_000)

test('a crash of the process costs only the file that it reads', async () => {
  const order = { owner: 'a', waitMs: 60_000 }
  await fileReader.read(
    chooseFiles(attached(codeOf('https://crash.example/')), { needsLook: false }),
    order,
  )
  const lost = fileReader.read(chooseFiles(attached(slowPdf(3)), { needsLook: false }), order)
  const next = fileReader.read(
    chooseFiles(attached(pdfFile({ url: 'https://next.example/' })), { needsLook: false }),
    order,
  )
  process.kill(fileReader.pid() ?? Number.NaN, 'SIGKILL')
  expect((await lost).findings.faults).toHaveLength(1)
  const { findings } = await next
  expect(findings.links.flatMap(({ urls }) => urls)).toEqual(['https://next.example/'])
  expect(findings.faults).toEqual([])
})

test('the log says once that no process starts, and files are read when one does', async () => {
  const warnings: unknown[][] = []
  const broken = createFileReader({
    clock: systemClock,
    log: { warn: (...said: unknown[]) => void warnings.push(said) },
  })
  const order = { owner: 'a', waitMs: 60_000 }
  const url = 'https://started.example/'
  const [chosen, other] = [url, 'https://other.example/'].map((of) =>
    chooseFiles(attached(codeOf(of)), { needsLook: false }),
  ) as [ChosenFiles, ChosenFiles]
  vi.spyOn(process, 'execPath', 'get').mockReturnValue('/nowhere/node')
  for (const one of [chosen, other]) {
    expect((await broken.read(one, order)).findings.faults).toEqual(['unread'])
  }
  expect(warnings).toEqual([
    [{ reason: 'It ended with 127.' }, 'Attached files cannot be read. Will retry.'],
  ])
  vi.restoreAllMocks()
  expect((await broken.read(chosen, order)).findings.links.map(({ text }) => text)).toEqual([url])
  broken.close()
})

test('a PDF file that is too large, or one too many, is not dropped silently', () => {
  const large = Buffer.concat([pdfFile({}), Buffer.alloc(10_000_000)])
  const pdfs = Array.from({ length: 5 }, (_, index) => pdfFile({ text: `${index}` }))
  const { files, faults } = chooseFiles(attached(large, ...pdfs), { needsLook: false })
  expect(files).toHaveLength(3)
  expect(faults).toEqual(['too-large', 'unread', 'unread'])
})

const riff = (...parts: (string | Buffer)[]) =>
  Buffer.concat([
    Buffer.from('RIFF\xff\xff\xff\x7fWEBP', 'latin1'),
    ...parts.map((part) => Buffer.from(part)),
  ])

test.for([
  ['WebP without losses', riff('VP8L', Buffer.from('ffffff7f2fffffffff', 'hex'))],
  ['WebP with frames', riff('VP8X', Buffer.alloc(18, 0xff), 'ANMF'.repeat(10_000))],
  ['BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(24), Buffer.alloc(200, 0x7f)])],
  ['TIFF', Buffer.concat([Buffer.from('II*\0\b\0\0\0'), Buffer.alloc(200, 8)])],
  ['HEIC', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'.padEnd(300, '\xff'), 'latin1')],
  ['AVIF', Buffer.from('\0\0\0\x18ftypavif\0\0\0\0mif1avif'.padEnd(300, '\xff'), 'latin1')],
  ['SVG', Buffer.from('<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>')],
  ['nothing', Buffer.alloc(0)],
] as const)('a file that has no decoder costs nothing: %s', async ([, file]) => {
  const chosen = chooseFiles(attached(file, file), { needsLook: true })
  expect(chosen).toEqual({ files: [], faults: [] })
  const fresh = createFileReader()
  await fresh.read(chosen, { owner: 'a', waitMs: 60_000 })
  expect(fresh.pid()).toBeUndefined()
  fresh.close()
})

test('of hundreds of files, the smallest pictures are read, and copies once', async () => {
  const url = 'https://small.example/'
  const large = Array.from({ length: 20 }, (_, salt) =>
    pngFile(drawPicture(400, 300, () => [salt, 0, 0])),
  )
  const copies = Array.from({ length: 15 }, () => [...large, slowPdf(4)]).flat()
  const files = [...copies, codeOf(url)]
  const chosen = chooseFiles(attached(...files), { needsLook: false })
  expect(chosen.files.map(({ kind }) => kind)).toEqual(['pdf', ...Array(10).fill('picture')])
  // Eleven of the large pictures are left.
  expect(chosen.faults).toEqual(Array(11).fill('unread'))
  const { links, faults } = await read(files)
  expect(links.map(({ text }) => text)).toContain(url)
  expect(faults.filter((fault) => fault !== 'unread')).toHaveLength(1)
})
