import { expect, test } from 'vitest'
import {
  conditionCodes,
  definitionOf,
  judgeCondition,
  type Measurement,
  worstLevel,
} from '../../../src/health/conditions.ts'
import { phrase } from '../../../src/phrase.ts'
import { readDocument } from '../../support/documents.ts'

const now = new Date('2026-11-20T12:00:00Z')
const reason = phrase('health-none-waiting')

test.for([
  ['reports-analyzed', { value: 119 }, 'ok'],
  ['reports-analyzed', { value: 120 }, 'warning'],
  ['reports-analyzed', { value: 600 }, 'critical'],
  ['mail-leaving', { value: 10 }, 'warning'],
  ['mail-leaving', { level: 'warning' }, 'warning'],
  ['disk', { value: 15.1 }, 'ok'],
  ['disk', { value: 15 }, 'warning'],
  ['disk', { value: 5 }, 'critical'],
  ['dkim-key', { value: 0 }, 'ok'],
  ['dkim-key', { value: 1 }, 'critical'],
  ['mail-coming-in', { value: 1_000 }, 'warning'],
  ['backup', {}, 'unknown'],
  ['backup', { value: Number.NaN }, 'unknown'],
] as const)('%s with %j is %s', ([code, measured, level]) => {
  const its: Measurement = { ...measured, reason }
  expect(judgeCondition(code, its, {}, now).level).toBe(level)
})

test.for([
  // Requests of nine days ago are late since seven days.
  ['delistings-decided', { value: 9 * 86_400 }, {}, '2026-11-13T12:00:00.000Z'],
  ['delistings-decided', { value: 9 * 86_400 }, { warning: 86_400 }, '2026-11-12T12:00:00.000Z'],
  ['delistings-decided', { value: 3_600 }, {}, undefined],
  ['mail-coming-in', { value: 8 }, {}, '2026-11-19T12:00:00.000Z'],
  // A certificate that is valid for 19 more days.
  ['certificate', { value: 19 }, {}, '2026-11-18T12:00:00.000Z'],
  ['certificate', { value: 0 }, {}, undefined],
  // How far a clock is wrong, and how many there are, say nothing about the time.
  ['clocks', { value: 3_600 }, {}, undefined],
  ['disk', { value: 1 }, {}, undefined],
  ['dead-letters', { value: 2 }, {}, undefined],
  ['mail-leaving', { level: 'warning' }, {}, undefined],
  ['alarm-channels', { value: 1, since: new Date(0) }, {}, '1970-01-01T00:00:00.000Z'],
] as const)('%s with %j is bad since its bound was crossed', ([code, measured, bounds, since]) => {
  expect(judgeCondition(code, { ...measured, reason }, bounds, now).since?.toISOString()).toBe(
    since,
  )
})

test('the bounds of an operator replace those of the program, one by one', () => {
  const judge = (value: number, settings: object) =>
    judgeCondition('dead-letters', { value, reason }, settings, now).level
  expect(judge(50, {})).toBe('warning')
  expect(judge(50, { warning: 60 })).toBe('ok')
  expect(judge(50, { critical: 40 })).toBe('critical')
  expect(judge(0, { warning: 0 })).toBe('warning')
})

test('a silence ends by itself, and does not change the level', () => {
  const silence = (until: string) =>
    judgeCondition(
      'dead-letters',
      { value: 1, reason },
      { silencedUntil: new Date(until), silenceReason: 'known' },
      now,
    )
  expect(silence('2026-11-20T12:00:01Z')).toMatchObject({
    level: 'warning',
    silenceReason: 'known',
  })
  expect(silence('2026-11-20T12:00:00Z')).toMatchObject({
    silencedUntil: null,
    silenceReason: null,
  })
})

test.for([
  [['ok', 'off'], 'ok'],
  [['ok', 'unknown', 'off'], 'unknown'],
  [['unknown', 'warning', 'ok'], 'warning'],
  [['warning', 'critical', 'unknown'], 'critical'],
  [[], 'ok'],
] as const)('%j together are %s', ([levels, worst]) => {
  expect(worstLevel(levels)).toBe(worst)
})

test('the shipped bounds are in order, and hidden conditions exist', () => {
  for (const code of conditionCodes) {
    const { bounds, isLowBad = false, hiddenBy = [] } = definitionOf(code)
    const { warning, critical } = bounds
    if (warning !== null && critical !== null) expect(critical > warning).toBe(!isLowBad)
    expect(conditionCodes).toEqual(expect.arrayContaining([...hiddenBy]))
  }
})

test('the page for operators has every condition with its shipped bounds', () => {
  const shipped = conditionCodes.map((code) => {
    const { bounds, unit } = definitionOf(code)
    const shown = (bound: number | null) => (bound === null ? '–' : `${bound} ${unit}`)
    return `| \`${code}\` | ${shown(bounds.warning)} | ${shown(bounds.critical)} |`
  })
  const { text } = readDocument('docs/operators/health.md')
  const lines = [...text.matchAll(/^\| `[^`]+` \| [^|]+ \| [^|]+ \|(?= [^|]+ \|$)/gm)]
  expect(lines.map(([line]) => line)).toEqual(shipped)
})
