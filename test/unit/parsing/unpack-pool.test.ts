import { afterEach, expect, test } from 'vitest'
import { createUnpackUpload } from '../../../src/reports/accept-report.ts'
import { createUnpackPool, type UnpackPool } from '../../../src/parsing/unpack-pool.ts'
import { keptRtf, outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'
import { zipFile } from '../../support/containers/zip-file.ts'
import { until } from '../../support/process.ts'

let pool: UnpackPool | undefined
afterEach(() => pool?.close())

const limits = { messagesMax: 500, entriesMax: 2_000, unpackedBytesMax: 50_000_000 }
const mail = (mark: string) => Buffer.from(`From: a@b.example\r\nSubject: ${mark}\r\n\r\nText\r\n`)

test('messages come back from the thread byte for byte, in order', async () => {
  pool = createUnpackPool()
  const marks = Array.from({ length: 50 }, (_, at) => `${at}`)
  const bytes = zipFile(marks.map((name) => ({ name, content: mail(name) })))
  const all = await Promise.all([
    pool.unpack({ name: 'a', bytes }, limits),
    pool.unpack({ name: 'b', bytes }, limits),
  ])
  expect(all.map((found) => found.map((one) => ('raw' in one ? one.raw.toString() : '')))).toEqual(
    [marks, marks].map((some) => some.map((mark) => mail(mark).toString())),
  )
})

/** Composes a file with many pages of RTF, which takes more than a second to read. */
function tedious(): Buffer {
  const rtf = keptRtf(`{\\rtf1\\fromhtml1 ${"\\'e9".repeat(200_000)}}`)
  const file = outlookFile({ header: traveledHeader, rtf })
  return zipFile(Array.from({ length: 8 }, (_, at) => ({ name: `${at}`, content: file })))
}

test('a file that takes too long is refused, and the next is read', async () => {
  pool = createUnpackPool(400)
  const upload = createUnpackUpload(pool.unpack, limits)
  expect(await upload(tedious(), 'slow')).toEqual([{ name: 'slow', refusal: 'damaged-archive' }])
  const next = zipFile([{ name: 'a', content: mail('a') }])
  // The first start of the new thread may take longer than the time limit.
  await until('a sound archive', async () => 'raw' in ((await upload(next, 'b'))[0] ?? {}))
})

test('a bare message is not sent to a thread', async () => {
  const upload = createUnpackUpload(() => Promise.reject(new Error('not asked')), limits)
  const raw = mail('bare')
  expect(await upload(raw, 'x')).toEqual([{ name: 'x', raw }])
})
