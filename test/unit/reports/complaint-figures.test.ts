import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ToldComplaints } from '../../../src/db/feedback-reports.ts'
import { parseIp } from '../../../src/mail/ip.ts'
import { block24Or48 } from '../../../src/mail/ip-blocks.ts'
import { hiddenFigures } from '../../../src/reports/complaint-figures.ts'

const day = '2026-11-16'
const row = (ip: string, reporter: number, complaints: number): ToldComplaints => {
  return { day, ip, reporterId: `reporter-${reporter}`, complaints }
}
const from = (ip: string, ...complaints: number[]) =>
  complaints.map((count, reporter) => row(ip, reporter, count))

test('ten complaints by three people are shown, by day, range and address', () => {
  expect(hiddenFigures(from('192.0.2.1', 4, 3, 3))).toEqual({
    totals: new Map([[day, 10]]),
    ranges: [{ day, name: '192.0.2.0/24', complaints: 10 }],
    addresses: [{ day, name: '192.0.2.1', complaints: 10 }],
  })
  const none = { totals: new Map(), ranges: [], addresses: [] }
  expect(hiddenFigures(from('192.0.2.1', 3, 3, 3))).toEqual(none)
  expect(hiddenFigures(from('192.0.2.1', 50, 50))).toEqual(none)
})

test('a part that could be computed from the others is hidden with one of them', () => {
  const rows = [
    ...from('192.0.2.1', 20, 20, 20),
    ...from('192.0.2.2', 10, 10, 10),
    ...from('192.0.2.3', 1),
  ]
  const { totals, addresses } = hiddenFigures(rows)
  expect(totals.get(day)).toBe(91)
  expect(addresses).toEqual([{ day, name: '192.0.2.1', complaints: 60 }])
})

test('a single reporter who fills the rest is hidden too', () => {
  const rows = [...from('192.0.2.1', 20, 20, 20), row('192.0.2.2', 9, 30), row('192.0.2.3', 9, 30)]
  expect(hiddenFigures(rows).addresses).toEqual([])
})

test('nothing that is shown, and no difference of shown numbers, is of few people', () => {
  const rows = fc.array(
    fc.record({
      day: fc.constantFrom('2026-11-15', day),
      ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '198.51.100.1', '198.51.100.2', '2001:db8::1'),
      reporterId: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      complaints: fc.integer({ min: 1, max: 20 }),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(rows, (given) => {
      const { totals, ranges, addresses } = hiddenFigures(given)
      const isSafe = (its: readonly ToldComplaints[]) =>
        its.length === 0 ||
        (its.reduce((sum, { complaints }) => sum + complaints, 0) >= 10 &&
          new Set(its.map(({ reporterId }) => reporterId)).size >= 3)
      const isIn = (name: string, ip: string) => {
        const address = parseIp(ip)
        return address !== undefined && block24Or48(address) === name
      }
      for (const one of totals.keys()) {
        const its = given.filter((row) => row.day === one)
        const shown = ranges.filter((range) => range.day === one).map(({ name }) => name)
        expect(isSafe(its)).toBe(true)
        expect(isSafe(its.filter(({ ip }) => !shown.some((name) => isIn(name, ip))))).toBe(true)
        for (const range of shown) {
          const inside = its.filter(({ ip }) => isIn(range, ip))
          const named = addresses.filter((address) => address.day === one).map(({ name }) => name)
          expect(isSafe(inside)).toBe(true)
          expect(isSafe(inside.filter(({ ip }) => !named.includes(ip)))).toBe(true)
        }
      }
    }),
  )
})
