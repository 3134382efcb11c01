import { setImmediate as settled } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from '../../../src/web/bodies/body-pool.ts'

const OWN_BYTES_MAX = 100

/** Creates uploads by name; each is in progress until it is ended. */
function station() {
  const inTurn = createTurns(2, OWN_BYTES_MAX)
  const served: string[] = []
  const ends = new Map<string, () => void>()
  return {
    served,
    bring(reporterId: string, name: string, bytes = 10, gone = new AbortController().signal) {
      const work = () => {
        served.push(name)
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
      }
      return inTurn({ reporterId, bytes, gone }, work)
    },
    async end(name: string) {
      ends.get(name)?.()
      await settled()
    },
  }
}

test('one reporter has one turn at a time, and does not delay another', async () => {
  const { served, bring, end } = station()
  const first = bring('ann', 'ann-1')
  void bring('ann', 'ann-2')
  void bring('ann', 'ann-3')
  void bring('bob', 'bob-1')
  void bring('cat', 'cat-1')
  await settled()
  expect(served).toEqual(['ann-1', 'bob-1'])
  await end('bob-1')
  expect(served).toEqual(['ann-1', 'bob-1', 'cat-1'])
  await end('ann-1')
  expect(await first).toBe('ann-1')
  expect(served.at(-1)).toBe('ann-2')
})

test('the waiting bytes of one reporter are bounded; one upload of any size may wait', async () => {
  const { served, bring, end } = station()
  void bring('ann', 'served')
  const big = bring('ann', 'big', OWN_BYTES_MAX + 1)
  await expect(bring('ann', 'more', 1)).rejects.toMatchObject({ problem: 'unavailable' })
  void bring('bob', 'others are not meant')
  await end('served')
  await end('big')
  expect(await big).toBe('big')
  void bring('ann', 'again')
  void bring('ann', 'small', OWN_BYTES_MAX / 2)
  void bring('ann', 'small too', OWN_BYTES_MAX / 2)
  await expect(bring('ann', 'more', 1)).rejects.toMatchObject({ problem: 'unavailable' })
  expect(served).toContain('again')
})

test('a client that disconnects gives up its place, and its work does not begin', async () => {
  const { served, bring, end } = station()
  const gone = new AbortController()
  void bring('ann', 'ann-1')
  const left = bring('ann', 'ann-2', OWN_BYTES_MAX, gone.signal)
  gone.abort()
  await expect(left).rejects.toMatchObject({ name: 'AbortedError' })
  await expect(bring('bob', 'late', 1, gone.signal)).rejects.toMatchObject({ name: 'AbortedError' })
  void bring('ann', 'ann-3', OWN_BYTES_MAX)
  await end('ann-1')
  expect(served).toEqual(['ann-1', 'ann-3'])
})

test('failed work passes its turn on', async () => {
  const inTurn = createTurns(1, OWN_BYTES_MAX)
  const { signal: gone } = new AbortController()
  const fails = inTurn({ reporterId: 'ann', bytes: 1, gone }, () => Promise.reject(new Error('x')))
  await expect(fails).rejects.toThrow('x')
  const next = inTurn({ reporterId: 'ann', bytes: 1, gone }, () => Promise.resolve(1))
  expect(await next).toBe(1)
})
