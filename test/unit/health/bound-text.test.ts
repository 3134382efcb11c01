import { expect, test } from 'vitest'
import { shownBounds } from '../../../src/health/bound-text.ts'
import type { Condition } from '../../../src/health/conditions.ts'
import { textsIn } from '../../../src/texts/messages.ts'

function inEnglish(code: Condition['code'], unit: Condition['unit'], bounds: Condition['bounds']) {
  const condition = { code, unit, bounds } as Condition
  return shownBounds(condition, { texts: textsIn('en'), language: 'en' })
}

test('bounds are shown in their largest units, and on their side', () => {
  expect(inEnglish('feedback-owed', 'seconds', { warning: 900, critical: 3_600 })).toEqual({
    warning: 'from 15 min',
    critical: 'from 1 h',
  })
  expect(inEnglish('mail-coming-in', 'days', { warning: 7, critical: null })).toEqual({
    warning: 'from 7 d',
    critical: 'never',
  })
  expect(inEnglish('bounces', 'percent', { warning: 20, critical: 50 })).toEqual({
    warning: 'from 20%',
    critical: 'from 50%',
  })
  expect(inEnglish('disk', 'gigabytes', { warning: 5, critical: 1 })).toEqual({
    warning: 'at or below 5 GB',
    critical: 'at or below 1 GB',
  })
})
