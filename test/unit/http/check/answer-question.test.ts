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

test('few large messages are as many as many small ones', async () => {
  const done: (() => void)[] = []
  const check = ({ length }: Buffer) =>
    new Promise<'unread'>((resolve) => {
      const end = () => resolve('unread')
      if (length > 1_000) done.push(end)
      else end()
    })
  const ask = createAsk({ check }, scores, { answered: () => undefined })
  const large = Buffer.alloc(50_000_000)
  const many = [large, large, large].map((one) => ask(one, {}))
  await expect(ask(message, {})).rejects.toThrow('Too many questions at once.')
  done.forEach((end) => end())
  await Promise.all(many)
  expect(await ask(message, {})).toMatchObject({ is_skipped: true })
})
