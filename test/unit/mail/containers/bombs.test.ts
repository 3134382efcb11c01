import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCompoundFile } from '../../../../src/mail/containers/compound-file.ts'
import { htmlOfRtf, readCompressedRtf } from '../../../../src/mail/containers/outlook-message.ts'
import { unpackFile } from '../../../../src/mail/containers/unpack-file.ts'
import {
  keptRtf,
  outlookFile,
  outlookStorage,
  traveledHeader,
} from '../../../support/containers/outlook-file.ts'
import { type ZippedFile, zipFile } from '../../../support/containers/zip-file.ts'
import { expectEffort } from '../../../support/effort.ts'

const limits = { messagesMax: 500, entriesMax: 2_000, unpackedBytesMax: 50_000_000 }

const refusals = async (bytes: Buffer) =>
  (await unpackFile({ name: 'it', bytes }, limits)).map((one) =>
    'refusal' in one ? one.refusal : one.raw.length,
  )

const megabyte = Buffer.alloc(1_000_000)

test('a file with too large a declared size is not unpacked, a false size is found', async () => {
  const packed = deflateRawSync(Buffer.alloc(60_000_000))
  const gigabytes: ZippedFile[] = Array.from({ length: 200 }, (_, at) => {
    return { name: `${at}`, content: Buffer.alloc(0), packed, size: 60_000_000 }
  })
  const honest = zipFile(gigabytes)
  const refused = await expectEffort(() => refusals(honest), 1_000)
  expect(new Set(refused)).toEqual(new Set(['unpacks-too-big']))
  const lying = zipFile(gigabytes.map((file) => ({ ...file, size: 100 })))
  const lied = await expectEffort(() => refusals(lying), 5_000)
  expect(new Set(lied)).toEqual(new Set(['damaged-archive']))
})

test('many files that are large together are unpacked up to the limit', async () => {
  const packed = deflateRawSync(megabyte)
  const files = Array.from({ length: 500 }, (_, at) => ({
    name: `${at}`,
    content: megabyte,
    packed,
  }))
  const made = await refusals(zipFile(files))
  expect(made.filter((one) => one === 1_000_000)).toHaveLength(50)
  expect(made.filter((one) => one === 'unpacks-too-big')).toHaveLength(450)
})

test('an archive with overlapping files counts as damaged', async () => {
  const kernel = { name: 'a', content: megabyte }
  const shared = Array.from({ length: 300 }, () => ({
    ...kernel,
    packed: Buffer.alloc(0),
    offset: 0,
  }))
  const packed = deflateRawSync(megabyte)
  const all = [{ ...kernel, packed }, ...shared.map((one) => ({ ...one, packed }))]
  expect(await refusals(zipFile(all))).toEqual(['damaged-archive'])
  expect(await refusals(zipFile([{ ...kernel, packed }]))).toEqual([1_000_000])
})

test('archives in archives are not opened at any depth', async () => {
  let bomb = zipFile([{ name: 'zeros', content: megabyte }])
  for (let depth = 0; depth < 6; depth++) {
    bomb = zipFile(Array.from({ length: 16 }, (_, at) => ({ name: `${at}.zip`, content: bomb })))
  }
  expect(new Set(await refusals(bomb))).toEqual(new Set(['nested-archive']))
})

test('an archive of 50,000 files is refused because of their number', async () => {
  const empty = { content: Buffer.alloc(0), packed: Buffer.alloc(0), method: 0 }
  const files = Array.from({ length: 50_000 }, (_, at) => ({ name: `${at}`, ...empty }))
  const bytes = zipFile(files)
  expect(await expectEffort(() => refusals(bytes), 1_000)).toEqual(['too-many-messages'])
})

const outlook = outlookFile({
  header: traveledHeader,
  text: 'Text',
  html: `<p>${'x'.repeat(6_000)}</p>`,
  rtf: keptRtf('{\\rtf1\\fromhtml1 x}'),
  files: [
    { name: 'a', content: Buffer.alloc(5_000, 1) },
    { name: 'b', content: outlookStorage({ header: traveledHeader }) },
  ],
})

/** Returns the offset of the allocation table, which is in the last sectors of a test file. */
function tableStart(bytes: Buffer): number {
  return (bytes.readUInt32LE(76) + 1) * 512
}

test.for([
  [
    'a chain that leads back to itself',
    (bytes: Buffer) =>
      bytes.writeUInt32LE(bytes.readUInt32LE(48), tableStart(bytes) + bytes.readUInt32LE(48) * 4),
  ],
  [
    'all chains in one loop',
    (bytes: Buffer) => {
      for (let at = tableStart(bytes); at + 4 <= bytes.length; at += 4) bytes.writeUInt32LE(0, at)
    },
  ],
  [
    'an endless list of tables',
    (bytes: Buffer) => {
      bytes.writeUInt32LE(0xffffff, 44)
      bytes.writeUInt32LE(0, 68)
      bytes.writeUInt32LE(0xffffff, 72)
    },
  ],
  [
    'a directory whose tree loops',
    (bytes: Buffer) => {
      const at = (bytes.readUInt32LE(48) + 1) * 512
      for (let entry = 0; entry < 4; entry++) {
        bytes.writeUInt32LE(0, at + entry * 128 + 68)
        bytes.writeUInt32LE(1, at + entry * 128 + 72)
      }
    },
  ],
  [
    'streams of two gigabytes',
    (bytes: Buffer) => {
      const at = (bytes.readUInt32LE(48) + 1) * 512
      for (let entry = 1; entry < 20; entry++)
        if (at + entry * 128 + 124 <= bytes.length)
          bytes.writeUInt32LE(0x7fffffff, at + entry * 128 + 120)
    },
  ],
] as const)('parsing an Outlook file with %s ends at once', async ([, spoil]) => {
  const bytes = Buffer.from(outlook)
  spoil(bytes)
  expect(await expectEffort(() => refusals(bytes), 500)).toHaveLength(1)
})

test('streams that share sectors give at most twice the size of the file', () => {
  const bytes = Buffer.from(outlook)
  const streams = [...(readCompoundFile(bytes)?.streams.values() ?? [])]
  const big = streams.find(({ bytes: size }) => size > 4096)
  const reads = Array.from({ length: 50 }, () => big?.read()?.length ?? 0)
  expect(reads.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(bytes.length * 2)
  expect(reads[0]).toBe(big?.bytes)
})

test('decompressed RTF is at most as large as requested', () => {
  const head = Buffer.alloc(16)
  head.writeUInt32LE(0xffffffff, 4)
  head.write('LZFu', 8, 'latin1')
  const references = Buffer.concat(
    Array.from({ length: 20_000 }, () => Buffer.from([0xff, ...Array<number>(16).fill(0x0f)])),
  )
  expect(readCompressedRtf(Buffer.concat([head, references]), 10_000)?.length).toBeLessThanOrEqual(
    10_000,
  )
})

test('RTF with endlessly nested braces is refused', () => {
  const nested = keptRtf(`{\\rtf1\\fromhtml1 ${'{'.repeat(500_000)}`)
  expect(htmlOfRtf(nested)).toBeUndefined()
})

const archive = zipFile([
  { name: 'a.eml', content: Buffer.from('From: a@b.example\nSubject: a\n\nText\n') },
  { name: 'b.msg', content: outlook },
])
const box = Buffer.from(
  'From a Mon Nov 16 10:00:00 2026\nSubject: 1\n\n>From\n\nFrom a Mon Nov 16 10:00:00 2026\nA: b\n\n',
)

test.for([
  ['zip', archive],
  ['msg', outlook],
  ['mbox', box],
  ['emlx', Buffer.from('40\nSubject: a\n\nText and more of it\n<plist/>')],
] as const)('a %s with any bytes changed is read or refused', async ([, sample]) => {
  const change = fc.tuple(fc.nat(sample.length - 1), fc.integer({ min: 0, max: 255 }))
  const length = fc.integer({ min: 0, max: sample.length })
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 40 }),
      fc.option(length),
      async (changes, cut) => {
        const bytes = Buffer.from(sample.subarray(0, cut ?? sample.length))
        for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte
        const made = await expectEffort(() => unpackFile({ name: 'it', bytes }, limits), 2_000)
        expect(made.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: 400 },
  )
})
