import { expect, test } from 'vitest'
import { parseMailDate } from '../../../src/mail/date.ts'

test.for([
  ['Tue, 3 Nov 2026 08:15:00 +0000', '2026-11-03T08:15:00.000Z'],
  ['Tue,  3 Nov 2026 08:15:00 +0100 (CET)', '2026-11-03T07:15:00.000Z'],
  ['3 Nov 2026 08:15 -0330', '2026-11-03T11:45:00.000Z'],
  ['Tue, 3 Nov 2026 08:15:00 EST', '2026-11-03T13:15:00.000Z'],
  ['Tue, 3 Nov 2026 08:15:00 GMT', '2026-11-03T08:15:00.000Z'],
  ['Tue, 3 Nov 2026 08:15:00', '2026-11-03T08:15:00.000Z'],
  ['Tue, 03 Nov 26 08:15:00 +0000', '2026-11-03T08:15:00.000Z'],
  ['03 Nov 99 08:15:00 +0000', '1999-11-03T08:15:00.000Z'],
  ['Tue Nov  3 08:15:00 2026', '2026-11-03T08:15:00.000Z'],
  ['3-Nov-2026 08:15:00 +0000', '2026-11-03T08:15:00.000Z'],
  ['2026-11-03T08:15:00.250Z', '2026-11-03T08:15:00.250Z'],
  ['2026-11-03 08:15:00.123456789 +0100 CET m=+12.6', '2026-11-03T07:15:00.000Z'],
  ['Tue, 3 November 2026 08:15:00 +0000', '2026-11-03T08:15:00.000Z'],
] as const)('%s is parsed as a date', ([text, expected]) => {
  expect(parseMailDate(text)?.toISOString()).toBe(expected)
})

test.for([
  '',
  'yesterday',
  'Tue, 3 Nov 2026',
  'Tue, 3 Foo 2026 08:15:00 +0000',
  '3 Nov 2026 25:15:00 +0000',
  '32 Nov 2026 08:15:00 +0000',
  '2026-13-03 08:15:00 +0000',
  'Tue, 3 Nov 1901 08:15:00 +0000',
  '1'.repeat(100_000),
])('%j is not a date', (text) => {
  expect(parseMailDate(text)).toBeUndefined()
})

test('an ISO date without a zone is UTC, whatever the time zone of the machine', () => {
  const before = process.env['TZ']
  process.env['TZ'] = 'Asia/Tokyo'
  try {
    expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(-540)
    expect(parseMailDate('2026-01-01T10:00:00')?.toISOString()).toBe('2026-01-01T10:00:00.000Z')
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
})
