import path from 'node:path'
import { Piscina } from 'piscina'
import { afterEach, expect, test, vi } from 'vitest'
import { createEndLock, runInTime, type TimeLimits } from '../../../src/parsing/run-in-time.ts'
import type { CompressingTask } from '../../support/compressing-thread.ts'

const filename = path.join(import.meta.dirname, '../../support/compressing-thread.ts')
const threads = new Piscina({ filename, minThreads: 1, maxThreads: 1, idleTimeout: 60_000 })
threads.on('error', () => undefined)

afterEach(() => vi.restoreAllMocks())

const run = (task: Omit<CompressingTask, 'lock'>, limits: TimeLimits) =>
  runInTime(threads, { lock: createEndLock(), ...task } as CompressingTask, limits)

test('a thread that compresses is ended without ending the process', async () => {
  for (let round = 0; round < 20; round++) {
    // Waits until the new thread has started.
    await run({ waitMs: 0 }, { ms: 60_000, wallMs: 60_000 })
    await expect(run({}, { ms: Math.random() * 2, wallMs: 20 })).rejects.toThrow(
      'could not be parsed within',
    )
  }
}, 60_000)

test('a thread is not ended while the machine leaves the process no time to compute', async () => {
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 1_000, system: 1_000 })
  expect(await run({ waitMs: 400 }, { ms: 100, wallMs: 60_000 })).toBe('waited')
  await expect(run({ waitMs: 60_000 }, { ms: 100, wallMs: 300 })).rejects.toThrow('within 0.1 s')
})

test('a thread is ended in time while the process computes', async () => {
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 60_000_000, system: 0 })
  await expect(run({ waitMs: 60_000 }, { ms: 300, wallMs: 60_000 })).rejects.toThrow('within 0.3 s')
})

test('the wait for other tasks counts toward the time limit', { retry: 2 }, async () => {
  vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 60_000_000, system: 0 })
  const start = performance.now()
  const limits = { ms: 1_000, wallMs: 60_000 }
  const stalled = Array.from({ length: 5 }, () => run({ waitMs: 60_000 }, limits))
  const ended = await Promise.allSettled(stalled)
  expect(ended.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  // One after the other would take five times the limit.
  expect(performance.now() - start).toBeLessThan(4_000)
})
