import { afterEach, expect, test, vi } from 'vitest'
import {
  createUploads,
  type Upload,
  type UploadedFile,
} from '../../../src/web/reporting/take-upload.ts'
import type { Submit } from '../../../src/web/submit.ts'
import type { Unpacker } from '../../../src/reports/accept-report.ts'

afterEach(() => vi.restoreAllMocks())

const zips = (count: number): UploadedFile[] =>
  Array.from({ length: count }, (_, at) => {
    return { name: `${at}.zip`, bytes: Buffer.from('PK\x03\x04 damaged', 'latin1'), isCut: false }
  })

const [admitted, shadowed] = ['admitted', 'shadowed'] as const
const reporter = { id: 'ann', email: 'ann@reporters.example', role: null }
const upload = (more: Partial<Upload> = {}): Upload => ({
  reporter,
  channel: 'form',
  remarks: { kind: 'spam', comment: null, receivedVia: [] },
  entry: 'admitted',
  admitMore: () => Promise.resolve(admitted),
  gone: new AbortController().signal,
  ...more,
})

const submit: Submit = () => Promise.resolve({ taken: true, id: 'report', is: 'new' })

/**
 * Creates an upload handler that cannot unpack any file; each attempt advances the clock by `msOf`.
 */
function station(msOf: (msMax: number) => number) {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const given: number[] = []
  const unpack: Unpacker = (_file, _limits, msMax = Infinity) => {
    given.push(msMax)
    now += msOf(msMax)
    return Promise.reject(new Error('took too long'))
  }
  return { given, ...createUploads({ submit, unpack, messageBytesMax: 1_000 }) }
}

test('one upload has fifteen seconds for all its files; the rest is not opened', async () => {
  const { given, takeUpload } = station((msMax) => Math.min(msMax, 10_000))
  const lines = await takeUpload(zips(10), upload())
  expect(given).toEqual([15_000, 5_000])
  expect(lines.map(({ outcome }) => !outcome.taken && outcome.refusal.problem)).toEqual(
    Array.from({ length: 10 }, () => 'damaged-archive'),
  )
})

test('the limits are asked for all messages but the first, which was counted before', async () => {
  const { takeUpload } = station(() => 1)
  const asked: number[] = []
  const admitMore: Upload['admitMore'] = (messages) => {
    asked.push(messages)
    return Promise.resolve(shadowed)
  }
  await takeUpload(zips(1), upload({ admitMore }))
  expect(asked).toEqual([])
  await takeUpload(zips(4), upload({ admitMore }))
  expect(asked).toEqual([3])
})

test('nothing more is opened after the client disconnected', async () => {
  const gone = new AbortController()
  const { given, takeUpload } = station(() => {
    gone.abort()
    return 1
  })
  const taken = takeUpload(zips(4), upload({ gone: gone.signal }))
  await expect(taken).rejects.toMatchObject({ name: 'AbortedError' })
  expect(given).toHaveLength(1)
})
