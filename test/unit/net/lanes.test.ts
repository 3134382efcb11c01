import { expect, test } from 'vitest'
import { createLanes } from '../../../src/net/mailer.ts'

test('a slow task gives its fast place to the next in line', async () => {
  const lanes = createLanes({ fast: 1, slow: 1 })
  const first = await lanes.enter('fast', 1_000)
  const second = lanes.enter('fast', 60_000)
  expect(first?.slowDown()).toBe(true)
  const place = await second
  expect(place).toBeDefined()
  expect(place?.slowDown()).toBe(false)
})

test('a place is given up once, and then taken by another task', async () => {
  const lanes = createLanes({ fast: 1, slow: 1 })
  const first = await lanes.enter('slow', 1_000)
  first?.leave()
  first?.leave()
  expect(await lanes.enter('slow', 1_000)).toBeDefined()
  expect(await lanes.enter('slow', 1)).toBeUndefined()
})
