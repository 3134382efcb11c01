import { expect, test } from 'vitest'
import {
  addHistograms,
  durationBounds,
  histogramOf,
  levels,
  mergeSlots,
  packSlot,
  quantile,
  SERIES_PER_SLOT_MAX,
  type Slot,
  unpackSlots,
} from '../../../src/activity/slots.ts'
import { createTally } from '../../../src/activity/tally.ts'
import { chanceFrom } from '../../support/chance.ts'

const [RATE, STATE, TIME] = [1, 2, 3]

/** What happened in one tick, kept as plain values. */
type Tick = { events: number; state: number | undefined; durationsMs: number[] }

function slotOf({ events, state, durationsMs }: Tick): Slot {
  const point = (value: number) => ({ count: 1, min: value, mean: value, max: value })
  return {
    ticks: 1,
    rates: new Map(events > 0 ? [[RATE, point(events)]] : []),
    states: new Map(state === undefined ? [] : [[STATE, point(state)]]),
    durations: new Map(durationsMs.length > 0 ? [[TIME, histogramOf(durationsMs)]] : []),
  }
}

const stored = (slot: Slot) => unpackSlots([{ content: packSlot(slot), ticks: slot.ticks }])

test('points that were merged level by level equal those computed from all ticks', () => {
  const random = chanceFrom(20)
  const chance = { below: (count: number) => Math.floor(random() * count) }
  const ticks = Array.from({ length: 720 }, (): Tick => ({
    events: chance.below(3) === 0 ? chance.below(1_000) : 0,
    state: chance.below(4) === 0 ? undefined : chance.below(1e9),
    durationsMs: Array.from({ length: chance.below(30) }, () => chance.below(20_000)),
  }))
  // As stored: ten seconds, a minute, ten minutes, two hours.
  let slots = ticks.map((tick) => stored(slotOf(tick)))
  for (const size of [6, 10, 12]) {
    const groups = Array.from({ length: slots.length / size }, (_, at) =>
      slots.slice(at * size, (at + 1) * size),
    )
    const [first = []] = groups
    const rows = first.map((slot) => ({ content: packSlot(slot), ticks: slot.ticks }))
    expect(unpackSlots(rows)).toEqual(mergeSlots(first))
    slots = groups.map((group) => stored(mergeSlots(group)))
  }
  expect(slots).toHaveLength(1)
  const [slot] = slots
  const events = ticks.map((tick) => tick.events)
  const states = ticks.flatMap(({ state }) => state ?? [])
  expect(slot?.ticks).toBe(720)
  expect(slot?.rates.get(RATE)).toMatchObject({ count: 720, min: 0, max: Math.max(...events) })
  expect((slot?.rates.get(RATE)?.mean ?? 0) / mean(events)).toBeCloseTo(1, 5)
  expect(slot?.states.get(STATE)).toMatchObject({ count: states.length })
  expect((slot?.states.get(STATE)?.min ?? 0) / Math.min(...states)).toBeCloseTo(1, 5)
  expect((slot?.states.get(STATE)?.mean ?? 0) / mean(states)).toBeCloseTo(1, 5)
  const durations = ticks.flatMap(({ durationsMs }) => durationsMs).sort((a, b) => a - b)
  for (const rank of [0.5, 0.99]) {
    const exact = durations[Math.ceil(rank * durations.length) - 1] ?? 0
    const found = quantile(slot?.durations.get(TIME) ?? [], rank) ?? 0
    // They are in the same class, or at its bound.
    const upper = durationBounds.find((bound) => exact <= bound) ?? 0
    const lower = durationBounds.findLast((bound) => bound < exact) ?? 0
    expect(found).toBeGreaterThanOrEqual(lower * 0.99)
    expect(found).toBeLessThanOrEqual(upper * 1.01)
  }
})

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

test('a rate without a point had no events, and a state without one is unknown', () => {
  const busy = slotOf({ events: 6, state: 4, durationsMs: [] })
  const idle = slotOf({ events: 0, state: undefined, durationsMs: [] })
  const { rates, states } = mergeSlots([busy, idle])
  expect(rates.get(RATE)).toEqual({ count: 2, min: 0, mean: 3, max: 6 })
  expect(states.get(STATE)).toEqual({ count: 1, min: 4, mean: 4, max: 4 })
})

test('counts in a histogram are exact when small, and within 4 % when large', () => {
  for (const count of [1, 16, 17, 100, 12_345, 86_400_000]) {
    const histogram = [count, ...durationBounds.map(() => 0)]
    const slot = { ticks: 1, rates: new Map(), states: new Map() }
    const [found = 0] =
      stored({ ...slot, durations: new Map([[TIME, histogram]]) }).durations.get(TIME) ?? []
    expect(Math.abs(found / count - 1)).toBeLessThan(count <= 16 ? 1e-9 : 0.04)
  }
})

test('a duration above all bounds counts as a day', () => {
  expect(quantile(histogramOf([9e9]), 0.5)).toBe(86_400_000)
  expect(quantile(histogramOf([]), 0.5)).toBeUndefined()
})

test('a slot has at most 80 rates, those with the most events', () => {
  const points = Array.from({ length: 200 }, (_, id) => {
    return [id + 1, { count: 1, min: id, mean: id, max: id }] as const
  })
  const slot = { ticks: 1, rates: new Map(points), states: new Map(), durations: new Map() }
  const kept = stored(slot).rates
  expect(kept.size).toBe(SERIES_PER_SLOT_MAX)
  expect([...kept.keys()].every((id) => id > 120)).toBe(true)
})

test('a series needs at most 0.2 MB, and 300 series with their rows less than 100 MB', () => {
  const slots = levels.reduce((sum, { stepMs, keepMs }) => sum + keepMs / stepMs, 0)
  const bytesOf = (slot: Partial<Slot>) =>
    packSlot({ ticks: 1, rates: new Map(), states: new Map(), durations: new Map(), ...slot })
      .length
  const point = { count: 1, min: 1, mean: 1, max: 1 }
  const one = bytesOf({ rates: new Map([[1, point]]) }) - bytesOf({})
  const time = bytesOf({ durations: new Map([[1, histogramOf([1])]]) }) - bytesOf({})
  expect(one * slots).toBeLessThan(200_000)
  expect(time * slots).toBeLessThan(200_000)
  // A row has a header, a key in the index, and what a page leaves free.
  expect((300 * one + 7 * 150) * slots).toBeLessThan(100_000_000)
})

test('a tally gives what was counted once, and takes back what could not be stored', () => {
  const tally = createTally()
  tally.count('a')
  tally.count('a', 2)
  tally.time('t', 3)
  const taken = tally.take()
  expect(taken).toEqual({ counts: { a: 3 }, durations: { t: histogramOf([3]) } })
  expect(tally.take()).toEqual({ counts: {}, durations: {} })
  tally.count('a')
  tally.giveBack(taken)
  expect(tally.take().counts).toEqual({ a: 4 })
  expect(addHistograms([histogramOf([3]), histogramOf([3])])).toEqual(histogramOf([3, 3]))
})
