import { expect, test } from 'vitest'
import { withShortBlankRuns } from '../../../src/mail/seven-bit.ts'

const blanks = (count: number) => ' \t'.repeat(count).slice(0, count)

test.for([
  ['nothing', '', ''],
  ['a run of 256', `a${blanks(256)}b`, `a${blanks(256)}b`],
  ['a run of 257', `a${blanks(257)}b`, `a${blanks(256)}b`],
  ['a run at the beginning', `${blanks(5_000)}b`, `${blanks(256)}b`],
  ['a run at the end', `a${blanks(5_000)}`, `a${blanks(256)}`],
  [
    'several runs, wherever they stand',
    `${blanks(300)}a${blanks(900)}\n${blanks(70)}b${blanks(257)}c`,
    `${blanks(256)}a${blanks(256)}\n${blanks(70)}b${blanks(256)}c`,
  ],
] as const)('%s', ([, body, expected]) => {
  expect(withShortBlankRuns(Buffer.from(body)).toString()).toBe(expected)
})

test('a body without long runs is returned as the same buffer', () => {
  const body = Buffer.from(`${'word '.repeat(1_000)}${blanks(200)}`)
  expect(withShortBlankRuns(body)).toBe(body)
})
