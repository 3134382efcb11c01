import { expect, test } from 'vitest'
import { paceOf } from '../../../src/feedback/pace-feedback.ts'

const now = new Date('2026-11-22T05:19:30Z')
const found = { state: 'found', pace: 'at-once', pausedUntil: null } as const
const paused = { ...found, state: 'paused' } as const
const at = (iso: string) => new Date(iso)

test.for([
  ['at once', found, now, undefined],
  ['of a campaign waits for the end of the hour', { ...found, pace: 'campaign' }, now, '06:00'],
  [
    'of a campaign at the full hour waits for the next',
    { ...found, pace: 'campaign' },
    at('2026-11-22T05:00:00Z'),
    '06:00',
  ],
  ['of a digest waits for six in the morning', { ...found, pace: 'digest' }, now, '06:00'],
  [
    'of a digest at six waits for the next day',
    { ...found, pace: 'digest' },
    at('2026-11-21T06:00:00Z'),
    '06:00',
  ],
] as const)('a report %s', ([, consumer, when, due]) => {
  const expected = due && { state: 'waiting', dueAt: at(`2026-11-22T${due}:00Z`) }
  expect(paceOf(consumer, when)).toEqual(expected ?? { state: 'queued' })
})

test('a report to a paused consumer is sent after the pause, or later if its pace says so', () => {
  const pausedUntil = at('2026-11-22T05:40:00Z')
  expect(paceOf({ ...paused, pausedUntil }, now)).toEqual({ state: 'waiting', dueAt: pausedUntil })
  expect(paceOf({ ...paused, pausedUntil, pace: 'campaign' }, now)).toEqual({
    state: 'waiting',
    dueAt: at('2026-11-22T06:00:00Z'),
  })
})

test('a pause that is over delays nothing; a pause without an end is checked daily', () => {
  expect(paceOf({ ...paused, pausedUntil: now }, now)).toEqual({ state: 'queued' })
  expect(paceOf(paused, now)).toEqual({ state: 'waiting', dueAt: at('2026-11-23T05:19:30Z') })
})
