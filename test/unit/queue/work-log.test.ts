import { expect, test } from 'vitest'
import { z } from 'zod'
import { forLog } from '../../../src/errors.ts'
import { defineQueue } from '../../../src/queue/define-queue.ts'
import { workQueue } from '../../../src/queue/work.ts'
import { expectEffort } from '../../support/effort.ts'

test('a failed job is logged without the addresses that a mail server quoted', async () => {
  const lines: unknown[] = []
  const job = { id: '1', data: {}, retryCount: 0 }
  const failed = Promise.withResolvers<undefined>()
  const boss = {
    workers: new Map(),
    ...{ polling: 'running', controls: new Map(), isPaused: () => false },
    fetch: () => Promise.resolve([job]),
    fail: () => Promise.resolve(failed.resolve(undefined)),
  }
  const connection = {
    query: () => Promise.resolve(),
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
  }
  const pool = { connect: () => Promise.resolve(connection) }
  const clock = () => new Date()
  const app = { boss, pool, clock, log: { warn: (line: object) => lines.push(line) } }
  const queue = defineQueue({
    name: 'q',
    payload: z.object({}),
    attempts: { retryLimit: 0, retryDelay: 1, retryDelayMax: 1, expireInSeconds: 1 },
    batchSize: 2,
  })
  const reason = '450 4.2.1 <ann@reporters.example>: try report-abc234@bounces.test.example later'
  const worker = await workQueue(app as never, queue, () => Promise.resolve([{ retry: reason }]))
  await failed.promise
  await worker.close()
  expect(lines).toEqual([{ queue: 'q', jobId: '1', reason: '450 4.2.1 <…@…>: try …@… later' }])
})

test('the log gets no link that a mail server quoted', () => {
  const reason = '550 refused: https://a.example/account/reset/Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OTAx'
  expect(forLog(reason)).toBe('550 refused: https://a.example/…')
})

test('an overlong reason is cut, in little time', async () => {
  for (const piece of ['a', 'a@', '@', 'a.b ']) {
    const endless = piece.repeat(2_000_000)
    const cut = await expectEffort(() => forLog(endless), 250)
    expect(cut.length).toBeLessThanOrEqual(300)
  }
})
