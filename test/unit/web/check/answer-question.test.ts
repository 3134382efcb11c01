import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { createAsk } from '../../../../src/web/check/answer-question.ts'

const log = pino({ level: 'silent' })
const statistics = { answered: () => undefined, failed: () => undefined }
const noVerdict = { action: 'no action', is_skipped: true, symbols: { NO_VERDICT: { score: 0 } } }
const scores = { reject: 15, greylist: undefined }
const message = Buffer.from('Subject: hello\r\n\r\nYou know.\r\n')

test('a client that no longer waits keeps its place until its check is done', async () => {
  vi.useFakeTimers()
  try {
    let release: (() => void)[] = []
    const check = () => {
      return new Promise<'unread'>((resolve) => release.push(() => resolve('unread')))
    }
    const ask = createAsk({ check }, scores, statistics, log)
    const many = Array.from({ length: 500 }, () => ask(message, {}))
    await vi.advanceTimersByTimeAsync(5_000)
    for (const one of many) expect(await one).toMatchObject(noVerdict)
    expect(await ask(message, {})).toMatchObject(noVerdict)
    expect(release).toHaveLength(500)
    for (const done of release) done()
    release = []
    await vi.advanceTimersByTimeAsync(0)
    const next = ask(message, {})
    release.forEach((done) => done())
    expect(await next).toMatchObject({ is_skipped: true })
  } finally {
    vi.useRealTimers()
  }
})

test('a few large messages take as many places as many small ones', async () => {
  const done: (() => void)[] = []
  const check = (raw?: Buffer) =>
    new Promise<'unread'>((resolve) => {
      const end = () => resolve('unread')
      if (raw && raw.length > 1_000) done.push(end)
      else end()
    })
  const ask = createAsk({ check }, scores, statistics, log)
  const large = Buffer.alloc(50_000_000)
  const many = [large, large, large].map((one) => ask(one, {}))
  const unavailable = await ask(message, {})
  expect(unavailable.symbols['NO_VERDICT']?.description).toContain('temporarily unavailable')
  done.forEach((end) => end())
  await Promise.all(many)
  expect(await ask(message, {})).toMatchObject({ is_skipped: true })
})

test('a failed check, or one without room, lets the mail pass', async () => {
  const failed = vi.fn()
  const check = () => Promise.reject(new Error('connection terminated'))
  const ask = createAsk({ check }, scores, { ...statistics, failed }, log)
  expect(await ask(message, {})).toMatchObject(noVerdict)
  expect(await ask('no-room', {})).toMatchObject(noVerdict)
  expect(failed).toHaveBeenCalledTimes(2)
})
