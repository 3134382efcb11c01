import { expect, test } from 'vitest'
import { createFloodWatch } from '../../../src/activity/floods.ts'

const WINDOW_MS = 600_000

/** A watch, and a function that moves its time by ten minutes. */
function watching() {
  let now = 7 * WINDOW_MS
  const watch = createFloodWatch(() => now)
  const pass = (windows = 1) => void (now += windows * WINDOW_MS)
  const find = (kind: string, who: string) =>
    watch.largest().find((one) => one.kind === kind && one.who === who)
  return { ...watch, pass, find }
}

test('a steady client is as usual, and a flood is compared with what was before it', () => {
  const { note, pass, find } = watching()
  for (let window = 0; window < 20; window++) {
    note('account', 'ann', 50)
    pass()
  }
  expect(find('account', 'ann')).toBeUndefined()
  note('account', 'ann', 900)
  pass()
  expect(find('account', 'ann')?.recent).toBe(900)
  expect(find('account', 'ann')?.usual).toBeCloseTo(50)
})

test('what goes on for hours becomes usual, and what ends is forgotten', () => {
  const { note, pass, find } = watching()
  pass(150)
  for (let window = 0; window < 144; window++) {
    note('network', '192.0.2.0/24', 1_000)
    pass()
    if (window === 0) expect(find('network', '192.0.2.0/24')?.usual).toBe(0)
    if (window === 5) expect(find('network', '192.0.2.0/24')).toBeUndefined()
  }
  expect(find('network', '192.0.2.0/24')).toBeUndefined()
  note('network', '192.0.2.0/24', 9_000)
  expect(find('network', '192.0.2.0/24')?.usual).toBeGreaterThan(500)
  pass(3)
  expect(find('network', '192.0.2.0/24')).toBeUndefined()
})

test('a process that has just started does not know what is usual', () => {
  const { note, pass, find } = watching()
  note('account', 'ann', 500)
  note('limit', 'report-day', 500)
  expect(find('account', 'ann')).toBeUndefined()
  expect(find('limit', 'report-day')?.recent).toBe(500)
  pass(3)
  note('account', 'new', 500)
  expect(find('account', 'new')).toMatchObject({ recent: 500, usual: 0 })
})

test('of each kind, only the five largest are told, and small numbers are not', () => {
  const { note, largest } = watching()
  for (let n = 1; n <= 30; n++) note('campaign', `c${n}`, n)
  note('limit', 'lookup-minute', 9)
  expect(largest().map(({ who, hour }) => [who, hour])).toEqual(
    [30, 29, 28, 27, 26].map((n) => [`c${n}`, n]),
  )
})

test('its memory is bounded, whatever is noted', () => {
  const { note, largest } = watching()
  for (let n = 0; n < 30_000; n++) note('limit', `l${n}`, n === 0 ? 1_000_000 : 10)
  expect(largest()).toHaveLength(5)
  expect(largest()[0]?.recent).toBe(10)
})
