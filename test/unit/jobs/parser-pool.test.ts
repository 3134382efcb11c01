import { afterEach, expect, test } from 'vitest'
import { pack } from '../../../src/db/packed.ts'
import { createParserPool, type ParserPool } from '../../../src/jobs/parser-pool.ts'
import { spamMessage } from '../../support/messages.ts'
import { until } from '../../support/process.ts'

let pool: ParserPool | undefined

afterEach(() => pool?.close())

/** Harmless, and too much for a thread with little memory or time. */
function hugeMessage(): Buffer {
  const head = 'From: a@b.example\r\nSubject: huge\r\nContent-Type: text/html\r\n\r\n'
  const link = Array.from(
    { length: 400_000 },
    (_, number) => `<a href=http://x.example/${number}>x</a>`,
  )
  return Buffer.from(head + link.join('\r\n'))
}

async function survives(parser: ParserPool) {
  const analysis = await parser.analyze(await pack(spamMessage('after')), { trustedRelays: [] })
  return analysis.origin?.ip
}

test('a message that takes too long costs its own job, and its thread is replaced', async () => {
  const parser = createParserPool(1, { messageMsMax: 60, heapMegabytesMax: 1_024 })
  pool = parser
  const result = parser.analyze(await pack(hugeMessage()), { trustedRelays: [] })
  await expect(result).rejects.toThrow('could not be read within 0.06 s')
  // The new thread's own start may take longer than that, once.
  expect(await until('a sound message', () => survives(parser))).toBe('198.51.100.23')
})

test('a message that takes too much memory costs its own job, not the process', async () => {
  pool = createParserPool(1, { messageMsMax: 20_000, heapMegabytesMax: 24 })
  const [huge, small] = await Promise.allSettled([
    pool.analyze(await pack(hugeMessage()), { trustedRelays: [] }),
    survives(pool),
  ])
  expect(huge.status === 'rejected' && String(huge.reason)).toMatch(/memory|terminated/i)
  expect(small).toEqual({ status: 'fulfilled', value: '198.51.100.23' })
})

test('what is no packed message is an error of that job alone', async () => {
  pool = createParserPool(1)
  const broken = { encoding: 'zstd' as const, content: Buffer.from('not zstd at all') }
  const [bad, good] = await Promise.allSettled([
    pool.analyze(broken, { trustedRelays: [] }),
    survives(pool),
  ])
  expect(bad.status).toBe('rejected')
  expect(good).toEqual({ status: 'fulfilled', value: '198.51.100.23' })
})
