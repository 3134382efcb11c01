import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { afterEach, expect, test, vi } from 'vitest'
import { analyzeForCounting, type PlainAnalysis } from '../../../src/pieces/analyze.ts'
import { seedShingles, shingleSeed } from '../../../src/pieces/shingles/hash.ts'
import { pack, unpack } from '../../../src/db/rows.ts'
import {
  createParserPool,
  type ParserChunk,
  type ParserPool,
} from '../../../src/parsing/parser-pool.ts'
import { codeOf } from '../../support/bombs.ts'
import { contentOf, reportedMessage } from '../../support/feedback-reports.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser as shared } from '../../support/parser.ts'
import { until } from '../../support/process.ts'
import { POISON, STALLING_MESSAGE } from '../../support/stalling-thread.ts'

let pool: ParserPool | undefined
const threadFile = path.join(import.meta.dirname, '../../support/stalling-thread.ts')

const initial = shingleSeed()
afterEach(async () => {
  vi.restoreAllMocks()
  seedShingles(initial)
  await pool?.close()
})

/** Composes a harmless message that is too large for a thread with little memory. */
function hugeMessage(): Buffer {
  const head = 'From: a@b.example\r\nSubject: huge\r\nContent-Type: text/html\r\n\r\n'
  const link = Array.from(
    { length: 260_000 },
    (_, number) => `<a href=http://x.example/${number}>x</a>`,
  )
  return Buffer.from(head + link.join('\r\n'))
}

async function survives(parser: ParserPool) {
  const analysis = await parser.analyze(await pack(spamMessage('after')), { trustedRelays: [] })
  return analysis.origin?.ip
}

test('a message that always stalls fails its own job, and its thread is replaced', async () => {
  const limits = { messageMsMax: 1_000, heapMegabytesMax: 1_024 }
  const parser = createParserPool(1, limits, { threadFile })
  pool = parser
  const result = parser.analyze(await pack(POISON), { trustedRelays: [] })
  await expect(result).rejects.toThrow('could not be parsed within 1 s')
  // On a busy machine, several tries may be needed until the new thread starts in time.
  expect(await until('a sound message', () => survives(parser))).toBe('198.51.100.23')
})

test('a message that takes too long is analyzed from its header and links', async () => {
  const limits = { messageMsMax: 1_500, heapMegabytesMax: 1_024, fastMsMax: 500 }
  const parser = createParserPool(1, limits, { threadFile })
  pool = parser
  const message = await pack(STALLING_MESSAGE)
  const analyze = () => parser.analyze(message, { trustedRelays: [] }).catch(() => undefined)
  // On a busy machine, several tries may be needed until the new thread starts in time.
  const { packed, features } = await until('the header', analyze)
  const analysis = JSON.parse((await unpack(packed)).toString()) as PlainAnalysis
  expect(analysis).toMatchObject({ isReduced: true, headers: { fromAddress: 'a@a.example' } })
  expect(analysis.links.map(({ url }) => url)).toEqual(['https://b.example/offer'])
  expect(features.message.is_reduced).toBe(true)
})

test('a check of a message that takes too long reads its header and links at once', async () => {
  const limits = { messageMsMax: 60_000, heapMegabytesMax: 1_024, fastMsMax: 500 }
  pool = createParserPool(1, limits, { threadFile })
  const start = performance.now()
  const { features } = await pool.check(STALLING_MESSAGE, { trustedRelays: [] })
  expect(features).toMatchObject({ message: { is_reduced: true }, links: { count: 1 } })
  expect(performance.now() - start).toBeLessThan(30_000)
})

test('a message that stalls moves to a separate lane and delays no other', async () => {
  const limits = { messageMsMax: 600_000, heapMegabytesMax: 1_024, fastMsMax: 1_000 }
  const parser = createParserPool(1, limits, { threadFile })
  pool = parser
  let hasEnded = false
  const stalled = parser.analyze(await pack(STALLING_MESSAGE), { trustedRelays: [] })
  const ended = stalled.catch(() => undefined).then(() => (hasEnded = true))
  // If the new thread does not start in time, the message of this try waits behind the stalled one.
  const inTime = () => Promise.race([survives(parser).catch(() => undefined), wait(1_500)])
  expect(await until('a sound message', inTime)).toBe('198.51.100.23')
  expect(hasEnded).toBe(false)
  await parser.close()
  await ended
  pool = undefined
})

test('a message that cannot be composed in time is composed with its header alone', async () => {
  const limits = { messageMsMax: 1_000, heapMegabytesMax: 1_024, fastMsMax: 500 }
  const parser = createParserPool(1, limits, { threadFile })
  pool = parser
  const reported = await reportedMessage({ name: 'stalls', raw: spamMessage('stalls') }, 1)
  const analysis = await pack(Buffer.from(JSON.stringify(reported?.analysis)))
  const packed = await pack(STALLING_MESSAGE)
  const compose = () => parser.compose(packed, analysis, contentOf(1)).catch(() => undefined)
  // On a busy machine, several tries may be needed until the new thread starts in time.
  const composed = await until('the header', async () => (await compose())?.raw.toString())
  expect(composed).toContain('Content-Type: text/rfc822-headers')
  expect(composed).toContain('Subject: stalls-for-good')
})

test('a message that takes too much memory is composed with its header alone', async () => {
  pool = createParserPool(1, { messageMsMax: 600_000, heapMegabytesMax: 24, fastMsMax: 600_000 })
  const reported = await reportedMessage({ name: 'swells', raw: spamMessage('swells') }, 1)
  const analysis = await pack(Buffer.from(JSON.stringify(reported?.analysis)))
  const { raw } = await pool.compose(await pack(hugeMessage()), analysis, contentOf(1))
  expect(raw.toString()).toContain('Content-Type: text/rfc822-headers')
})

test('a malformed packed message is an error of that job alone', async () => {
  const broken = { encoding: 'zstd' as const, content: Buffer.from('not zstd at all') }
  const [bad, good] = await Promise.allSettled([
    shared.analyze(broken, { trustedRelays: [] }),
    survives(shared),
  ])
  expect(bad.status).toBe('rejected')
  expect(good).toEqual({ status: 'fulfilled', value: '198.51.100.23' })
})

test('the pieces of the text are found only while a model reads them', async () => {
  let isRead = false
  pool = createParserPool(1, undefined, { readsText: () => isRead })
  const [raw, options] = [spamMessage('read'), { trustedRelays: [] }]
  const packed = await pack(raw)
  expect((await pool.analyze(packed, options)).text).toBeUndefined()
  expect((await pool.check(raw, options)).text).toBeUndefined()
  isRead = true
  const asked = { ...options, ignoreStamps: false, readsText: true }
  const { text } = await analyzeForCounting(raw, asked)
  expect(text?.length).toBeGreaterThan(5)
  expect((await pool.analyze(packed, options)).text).toEqual(text)
  expect((await pool.check(raw, options)).text).toEqual(text)
})

test('the texts that rules match are returned only while rules match any', async () => {
  let isRead = false
  pool = createParserPool(1, undefined, { readsWritten: () => isRead })
  const html = '<p>Frée&#8203;  spins</p><a href="https://Login.Example:8443/a?b=1">x</a>'
  const picture = '<img src="https://pixel.example/p.gif">'
  const fields = 'From: =?utf-8?q?C=C3=A4sino?= <Ann@Shop.Example>\nReply-To: b@c.example'
  const raw = Buffer.from(
    `${fields}\nSubject: Cаsino\nContent-Type: text/html; charset=utf-8\n\n${html}${picture}\n`,
  )
  const options = { trustedRelays: [] }
  expect((await pool.check(raw, options)).written).toBeUndefined()
  isRead = true
  const { written } = await pool.check(raw, options)
  expect(written).toMatchObject({
    subject: 'Cаsino',
    subject_words: 'casino',
    author_name: 'Cäsino',
    author_name_words: 'casino',
    author_local: 'ann',
    addresses: ['ann@shop.example', 'b@c.example'],
    link_hosts: ['login.example'],
    links: ['login.example:8443/a?b=1'],
    file_names: [],
  })
  expect(written?.text).toMatch(/^Frée\s+spins/)
  expect(written?.text_words).toMatch(/^free spins/)
  expect(await pool.readWritten(await pack(raw))).toEqual(written)
})

test('too much memory costs a message only its body; threads keep the seed', async () => {
  seedShingles(0xfedc_ba98_7654_3210n)
  pool = createParserPool(1, { messageMsMax: 600_000, heapMegabytesMax: 24 })
  const raw = spamMessage('seeded')
  const seeded = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: false })
  const packed = await pack(raw)
  const { shingles } = await pool.analyze(packed, { trustedRelays: [] })
  expect(shingles.equals(seeded.shingles)).toBe(true)
  const [huge, small] = await Promise.allSettled([
    pool.analyze(await pack(hugeMessage()), { trustedRelays: [] }),
    survives(pool),
  ])
  expect(huge.status === 'fulfilled' && huge.value.features.message.is_reduced).toBe(true)
  expect(small).toEqual({ status: 'fulfilled', value: '198.51.100.23' })
  const later = await pool.analyze(packed, { trustedRelays: [] })
  expect(later.shingles.equals(seeded.shingles)).toBe(true)
  seedShingles(initial)
  const plain = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: false })
  expect(plain.shingles.equals(seeded.shingles)).toBe(false)
})

test('large messages are parsed one at a time, small ones together', async () => {
  const run = vi.spyOn(Piscina.prototype, 'run')
  const large = Buffer.concat([spamMessage('large')], 600_000)
  const small = spamMessage('small')
  const messages = [large, large, large, small, small]
  await Promise.all(messages.map((raw) => shared.check(raw, { trustedRelays: [] })))
  const handed = run.mock.calls.map(([chunk]) =>
    (chunk as ParserChunk).tasks.map(({ packed }) => packed.content.length),
  )
  expect(handed).toEqual([[600_000], [600_000], [600_000, small.length, small.length]])
})

test('messages that wait are divided among the threads', async () => {
  const run = vi.spyOn(Piscina.prototype, 'run')
  const parser = createParserPool(2)
  pool = parser
  const messages = Array.from({ length: 6 }, (_, number) => spamMessage(`divided-${number}`))
  await Promise.all(messages.map((raw) => parser.check(raw, { trustedRelays: [] })))
  const [, ...handed] = run.mock.calls.map(([chunk]) => (chunk as ParserChunk).tasks.length)
  expect(handed).toEqual([3, 3])
})

test('a message is sent to a thread once if the thread knows what is in its files', async () => {
  const parser = createParserPool(1)
  pool = parser
  const url = 'https://code.example/'
  const picture = codeOf(url).toString('base64')
  const head = 'From: a@b.example\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n'
  const checked = (number: number) =>
    parser.check(Buffer.from(`X-Number: ${number}\n${head}\n${picture}\n`), { trustedRelays: [] })
  const first = await checked(1)
  const known = await first.complete?.()
  const run = vi.spyOn(Piscina.prototype, 'run')
  const second = await checked(2)
  expect(run).toHaveBeenCalledTimes(1)
  expect(second.subjects).toContainEqual({ kind: 'link-host', name: 'code.example' })
  expect(second.shingles).toEqual((known ?? first).shingles)
})
