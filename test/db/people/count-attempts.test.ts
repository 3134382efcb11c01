import { expect, test } from 'vitest'
import { countAttempts } from '../../../src/db/limits.ts'
import { storedKey } from '../../../src/people/limits.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'

const MINUTE_MS = 60_000
const start = Math.ceil((Date.now() + MINUTE_MS) / 1_000) * 1_000
const at = (ms: number) => new Date(start + ms)
const keyOf = (name: string) => storedKey(Buffer.from('a secret'), [name])

const database = await closeAfterTests(freshDatabase())

async function count(name: string, ms: number, amount = 1) {
  const counting = { key: keyOf(name), windowMs: MINUTE_MS, amount }
  const [counted] = await countAttempts(database.pool, [counting], at(ms))
  return counted
}

test('attempts of one sub-window are summed in one number', async () => {
  await count('a', 0)
  expect(await count('a', 999, 4)).toMatchObject({ total: 5, counts: [5], overMs: 999 })
})

test('sub-windows without attempts are zeros between the others', async () => {
  await count('b', 0)
  expect(await count('b', 3_000)).toMatchObject({ total: 2, counts: [1, 0, 0, 1] })
})

test('a sub-window cut by the edge counts whole, the one before it not', async () => {
  await count('c', 999, 7)
  expect(await count('c', 60_000)).toMatchObject({ total: 8 })
  expect(await count('c', 61_000)).toMatchObject({ total: 2 })
})

test('old numbers are dropped, with the zeros that would then come first', async () => {
  await count('d', 0)
  await count('d', 30_000, 2)
  const counted = await count('d', 61_000)
  expect(counted).toMatchObject({ total: 3, counts: [2, ...Array<number>(30).fill(0), 1] })
})

test('after a long pause one number remains', async () => {
  await count('e', 0)
  expect(await count('e', 10_000_000)).toMatchObject({ total: 1, counts: [1] })
})

test('after a clock went back, attempts count in the newest sub-window', async () => {
  await count('f', 10_000)
  expect(await count('f', 0)).toMatchObject({ total: 2, counts: [2] })
})
