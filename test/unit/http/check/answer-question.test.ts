import { expect, test, vi } from 'vitest'
import { createAsk } from '../../../../src/http/check/answer-question.ts'

const scores = { reject: 15, greylist: undefined }
const message = Buffer.from('Subject: hello\r\n\r\nYou know.\r\n')

test('who waits no longer still takes a place, until what he asked is done', async () => {
  vi.useFakeTimers()
  try {
    let release: (() => void)[] = []
    const check = () => {
      return new Promise<'unread'>((resolve) => release.push(() => resolve('unread')))
    }
    const ask = createAsk({ check }, scores, { answered: () => undefined })
    const many = Array.from({ length: 500 }, () => ask(message, {}))
    const outcomes = Promise.allSettled(many)
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true)
    await expect(ask(message, {})).rejects.toThrow('Too many questions at once.')
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
