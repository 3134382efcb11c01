import fc from 'fast-check'
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

const two = (max: number) => fc.nat(max).map((number) => String(number).padStart(2, '0'))
const usual = fc
  .record({
    weekday: fc.constantFrom('', 'Tue, ', 'xyz,  '),
    day: fc.oneof(fc.nat(40).map(String), two(40)),
    month: fc.constantFrom('Jan', 'feb', 'MAR', 'Apr', 'jun', 'Nov', 'Dec', 'Mon', 'utc', 'xyz'),
    year: fc.oneof(fc.integer({ min: 1900, max: 2300 }), fc.integer({ min: 1000, max: 9999 })),
    time: fc.tuple(two(23), two(59), two(59)).map((numbers) => numbers.join(':')),
    zone: fc.tuple(fc.constantFrom('+', '-'), two(99), two(99)).map((parts) => parts.join('')),
  })
  .map(
    ({ weekday, day, month, year, time, zone }) =>
      `${weekday}${day} ${month} ${year} ${time} ${zone}`,
  )

test('dates of the usual form are those of Date.parse', () => {
  fc.assert(
    fc.property(usual, (text) => {
      const instant = Date.parse(text)
      const isKnown = instant >= 0 && instant < Date.UTC(2200, 0, 1)
      // A text that Date.parse refuses may still be readable.
      if (isKnown) expect(parseMailDate(text)?.getTime()).toBe(instant)
      else if (!Number.isNaN(instant)) expect(parseMailDate(text)).toBeUndefined()
    }),
    { numRuns: 5_000 },
  )
})
