import { expect, test } from 'vitest'
import type { Slot } from '../../../src/activity/slots.ts'
import { activityGroups, drawGroup } from '../../../src/web/admin/activity-charts.ts'

const STEP_MS = 600_000
const from = new Date('2026-11-29T00:00:00Z')

function slotOf(ticks: number, events: number): Slot {
  const mean = events / ticks
  const rates = new Map([[1, { count: ticks, min: 0, mean, max: events }]])
  return { ticks, rates, states: new Map(), durations: new Map() }
}

test('with few events no figure is larger than their number', () => {
  // Two reports ten seconds after the start of the first step, which has one tick, and one later.
  const slots = [slotOf(1, 2), slotOf(60, 1), slotOf(60, 0)]
  const to = new Date(from.getTime() + slots.length * STEP_MS)
  const [reports] = activityGroups
  const [chart] = drawGroup(reports as NonNullable<typeof reports>, {
    span: { from, to, level: 2, stepMs: STEP_MS, listedMs: 2 * STEP_MS },
    activity: { from, stepMs: STEP_MS, slots, ids: new Map([['reports/channel/form', 1]]) },
    ...{ marks: [], names: new Map(), language: 'en' },
  })
  expect(chart?.unit).toBe('in each 10\u00a0min')
  expect(chart?.legend.heads[2]).toBe('Maximum in each 10\u00a0min')
  expect(chart?.legend.rows.map(({ figures }) => figures)).toEqual([['3', '1', '2']])
  expect(chart?.lines.map(({ text }) => text)).toEqual(['0', '1', '2'])
  // The table has the number of each longer range.
  expect(chart?.rows.map(({ values }) => values)).toEqual([['3'], ['0']])
})
