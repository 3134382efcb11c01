import { expect, test } from 'vitest'
import {
  type AlarmMessage,
  type AlarmState,
  decideAlarms,
  emptyAlarmState,
  isWithin,
  type QuietHours,
} from '../../../src/health/alarms.ts'
import {
  type Condition,
  type ConditionCode,
  judgeCondition,
  type Level,
} from '../../../src/health/conditions.ts'
import { phrase } from '../../../src/phrase.ts'

const START_MS = Date.parse('2026-11-20T12:00:00Z')
const MINUTE = 60
const HOUR = 60 * MINUTE

type Levels = Partial<Record<ConditionCode, Level>>

function conditionsOf(levels: Levels, silenced: readonly string[], now: Date): Condition[] {
  return Object.entries(levels).map(([code, level]) => {
    const silencedUntil = silenced.includes(code) ? new Date(now.getTime() + 1) : null
    const measured = { level, reason: phrase('health-none-waiting') }
    return judgeCondition(code as ConditionCode, measured, { silencedUntil }, now)
  })
}

/** Evaluates every ten seconds, as the program does, and returns the messages with their times. */
function createWatch(quietHours?: QuietHours) {
  let state: AlarmState = emptyAlarmState
  let seconds = 0
  const sent: (AlarmMessage & { seconds: number })[] = []
  return {
    sent,
    kinds: () => sent.map(({ kind }) => kind),
    /** Evaluates for a time with these levels. */
    pass(forSeconds: number, levels: Levels, silenced: readonly string[] = []) {
      for (const end = seconds + forSeconds; seconds < end; seconds += 10) {
        const now = new Date(START_MS + seconds * 1_000)
        const decided = decideAlarms(state, conditionsOf(levels, silenced, now), {
          now,
          quietHours,
        })
        // As stored and read again.
        state = JSON.parse(JSON.stringify(decided.state)) as AlarmState
        if (decided.message) sent.push({ ...decided.message, seconds })
      }
    },
    /** Moves the clock without evaluating. */
    jump(bySeconds: number) {
      seconds += bySeconds
    },
  }
}

test('an alarm is raised after the time of its condition, and is over after a good minute', () => {
  const watch = createWatch()
  watch.pass(10, { 'mail-leaving': 'ok' })
  watch.pass(5 * MINUTE, { 'mail-leaving': 'warning' })
  expect(watch.sent).toMatchObject([
    { kind: 'alarm', seconds: 50, raised: [{ code: 'mail-leaving', level: 'warning' }] },
  ])
  watch.pass(50, { 'mail-leaving': 'ok' })
  expect(watch.sent).toHaveLength(1)
  watch.pass(MINUTE, { 'mail-leaving': 'ok' })
  expect(watch.sent).toHaveLength(2)
  expect(watch.sent[1]).toMatchObject({ kind: 'all-clear', over: ['mail-leaving'], standing: [] })
})

test('what is bad for a moment raises nothing', () => {
  const watch = createWatch()
  for (let times = 0; times < 20; times++) {
    watch.pass(20, { 'mail-leaving': 'critical' })
    watch.pass(10, { 'mail-leaving': 'ok' })
  }
  expect(watch.sent).toEqual([])
})

test('a warning that becomes critical is sent again, and not the way back', () => {
  const watch = createWatch()
  watch.pass(2 * MINUTE, { processes: 'warning' })
  watch.pass(2 * MINUTE, { processes: 'critical' })
  watch.pass(2 * MINUTE, { processes: 'warning' })
  watch.pass(2 * MINUTE, { processes: 'critical' })
  expect(watch.sent.map(({ raised }) => raised[0]?.level)).toEqual(['warning', 'critical'])
  watch.pass(2 * MINUTE, { processes: 'ok' })
  expect(watch.kinds()).toEqual(['alarm', 'alarm', 'all-clear'])
})

test('what begins together is one message', () => {
  const watch = createWatch()
  const levels = { counters: 'critical', processes: 'critical', 'mail-leaving': 'warning' } as const
  watch.pass(10, { ...levels, processes: 'ok' })
  watch.pass(2 * MINUTE, levels)
  expect(watch.sent).toHaveLength(1)
  expect(watch.sent[0]?.raised.map(({ code }) => code)).toEqual([
    'mail-leaving',
    'counters',
    'processes',
  ])
})

test('a standing alarm has what is known of its condition now', () => {
  const watch = createWatch()
  watch.pass(3 * MINUTE, { counters: 'critical', dns: 'warning', processes: 'critical' })
  const later = { counters: 'unknown', dns: 'warning', disk: 'critical' } as const
  watch.pass(40, { ...later, processes: 'critical' })
  watch.pass(50, { ...later, processes: 'ok' })
  expect(watch.sent.at(-1)).toMatchObject({
    raised: [{ code: 'disk' }],
    standing: [
      { code: 'counters', now: 'unclear' },
      { code: 'dns', now: 'bad' },
      { code: 'processes', now: 'good' },
    ],
  })
  // Such as while the database is away.
  watch.pass(12 * MINUTE, { database: 'critical' })
  expect(watch.sent.at(-1)).toMatchObject({
    raised: [{ code: 'database' }],
    standing: ['counters', 'dns', 'disk'].map((code) => ({ code, now: 'unclear' })),
  })
})

test('what ends while others stand is listed with those that stand', () => {
  const watch = createWatch()
  watch.pass(2 * MINUTE, { counters: 'critical', processes: 'warning' })
  watch.pass(3 * MINUTE, { counters: 'critical', processes: 'ok' })
  expect(watch.sent[1]).toMatchObject({
    ...{ kind: 'update', over: ['processes'], standing: [{ code: 'counters' }] },
  })
})

test.for(['feedback-owed', 'letters-owed'] as const)(
  '%s raises nothing while our mail server refuses mail',
  (code) => {
    const watch = createWatch()
    watch.pass(HOUR, { 'mail-leaving': 'critical', [code]: 'critical' })
    expect(watch.sent.flatMap(({ raised }) => raised.map((one) => one.code))).toEqual([
      'mail-leaving',
    ])
    watch.pass(5 * MINUTE, { 'mail-leaving': 'ok', [code]: 'critical' })
    const last = watch.sent.at(-1)
    expect([...(last?.standing ?? []), ...(last?.raised ?? [])]).toMatchObject([{ code }])
  },
)

test('a silenced condition raises nothing, and is raised when the silence ends', () => {
  const watch = createWatch()
  watch.pass(HOUR, { certificate: 'warning' }, ['certificate'])
  expect(watch.sent).toEqual([])
  watch.pass(2 * MINUTE, { certificate: 'warning' })
  expect(watch.kinds()).toEqual(['alarm'])
  watch.pass(2 * MINUTE, { certificate: 'ok' }, ['certificate'])
  expect(watch.kinds()).toEqual(['alarm'])
})

test('unknown neither raises nor ends an alarm', () => {
  const watch = createWatch()
  watch.pass(HOUR, { dns: 'unknown' })
  expect(watch.sent).toEqual([])
  watch.pass(5 * MINUTE, { dns: 'critical' })
  watch.pass(HOUR, { dns: 'unknown' })
  expect(watch.kinds()).toEqual(['alarm'])
  watch.pass(5 * MINUTE, { dns: 'ok' })
  expect(watch.kinds()).toEqual(['alarm', 'all-clear'])
})

test('a standing alarm is listed once a day', () => {
  const watch = createWatch()
  watch.pass(49 * HOUR, { backup: 'warning' })
  expect(watch.kinds()).toEqual(['alarm', 'reminder', 'reminder'])
  const [first, second, third] = watch.sent.map(({ seconds }) => seconds)
  expect([(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)]).toEqual([86_400, 86_400])
  expect(watch.sent[1]).toMatchObject({ raised: [], standing: [{ code: 'backup' }] })
})

test('a condition that flaps ends late, so that few messages are sent', () => {
  const watch = createWatch()
  for (let minutes = 0; minutes < 120; minutes += 4) {
    watch.pass(2 * MINUTE, { counters: 'warning' })
    watch.pass(2 * MINUTE, { counters: 'ok' })
  }
  expect(watch.kinds()).toEqual(['alarm', 'all-clear', 'alarm'])
  watch.pass(20 * MINUTE, { counters: 'ok' })
  expect(watch.sent).toHaveLength(3)
  watch.pass(HOUR, { counters: 'ok' })
  expect(watch.kinds()).toEqual(['alarm', 'all-clear', 'alarm', 'all-clear'])
})

test('however conditions change, at most three messages are sent in ten minutes', () => {
  const watch = createWatch()
  const codes = ['counters', 'processes', 'clocks', 'dns', 'disk', 'rules', 'models'] as const
  const levels: Levels = {}
  for (const code of codes) {
    levels[code] = 'critical'
    watch.pass(2 * MINUTE, levels)
  }
  const early = watch.sent.filter(({ seconds }) => seconds < 10 * MINUTE)
  expect(early).toHaveLength(3)
  watch.pass(20 * MINUTE, levels)
  expect(new Set(watch.sent.flatMap(({ raised }) => raised.map(({ code }) => code)))).toEqual(
    new Set(codes),
  )
})

test('warnings wait for the end of the quiet hours, critical alarms do not', () => {
  const watch = createWatch({ from: 11 * 60, to: 13 * 60, zone: 'UTC' })
  watch.pass(HOUR, { backup: 'warning' })
  expect(watch.sent).toEqual([])
  watch.pass(HOUR, { backup: 'warning' })
  expect(watch.sent).toMatchObject([{ raised: [{ code: 'backup' }], seconds: HOUR + 20 }])
  const other = createWatch({ from: 11 * 60, to: 13 * 60, zone: 'UTC' })
  other.pass(5 * MINUTE, { counters: 'critical', backup: 'warning' })
  expect(other.sent).toMatchObject([{ raised: [{ code: 'counters' }] }])
  other.pass(5 * MINUTE, { counters: 'ok', backup: 'ok' })
  expect(other.kinds()).toEqual(['alarm', 'all-clear'])
})

test.for([
  [{ from: 22 * 60, to: 7 * 60, zone: 'UTC' }, '2026-11-20T22:00:00Z', true],
  [{ from: 22 * 60, to: 7 * 60, zone: 'UTC' }, '2026-11-20T06:59:00Z', true],
  [{ from: 22 * 60, to: 7 * 60, zone: 'UTC' }, '2026-11-20T07:00:00Z', false],
  [{ from: 22 * 60, to: 7 * 60, zone: 'Europe/Paris' }, '2026-11-20T21:00:00Z', true],
  [{ from: 22 * 60, to: 7 * 60, zone: 'Europe/Paris' }, '2026-07-20T20:00:00Z', true],
  [{ from: 60, to: 120, zone: 'UTC' }, '2026-11-20T01:30:00Z', true],
  [{ from: 60, to: 60, zone: 'UTC' }, '2026-11-20T01:00:00Z', false],
] as const)('in %j, %s is quiet: %s', ([hours, at, isQuiet]) => {
  expect(isWithin(hours, new Date(at))).toBe(isQuiet)
})

test.for([
  ['a day ahead', 86_400],
  ['a day back', -86_400],
  ['an hour back', -HOUR],
] as const)(
  'a clock that jumps %s ends no alarm, raises none, and repeats one at most',
  ([, seconds]) => {
    const watch = createWatch()
    watch.pass(5 * MINUTE, { backup: 'warning', counters: 'ok' })
    watch.jump(seconds)
    watch.pass(30, { backup: 'warning', counters: 'critical' })
    watch.pass(10 * MINUTE, { backup: 'warning', counters: 'ok' })
    const later = watch.sent.slice(1)
    expect(later.length).toBeLessThanOrEqual(1)
    expect(later.every(({ kind }) => kind === 'reminder')).toBe(true)
    watch.pass(5 * MINUTE, { backup: 'ok', counters: 'ok' })
    expect(watch.sent.at(-1)).toMatchObject({ kind: 'all-clear', over: ['backup'] })
  },
)

test('an evaluation that stood still for hours lets bounds hold anew', () => {
  const watch = createWatch()
  watch.pass(10, { counters: 'warning' })
  watch.jump(5 * HOUR)
  watch.pass(10, { counters: 'warning' })
  watch.pass(5 * MINUTE, { counters: 'ok' })
  expect(watch.sent).toEqual([])
})
