import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeTransfer, encodeTransfer } from '../../../src/mail/transfer-encoding.ts'
import { expectEffort } from '../../support/effort.ts'

const encode = (bytes: string) => encodeTransfer(bytes, 'quoted-printable')

/** Runs of plain letters long enough to fill lines, between characters that must be quoted. */
const runs = fc.tuple(
  fc.integer({ min: 0, max: 160 }),
  fc.constantFrom('=', '\xe9', ' ', '\t', '\0', '.', '\r', '\r\n', ' \r\n', ''),
)
const texts = fc
  .array(runs, { maxLength: 12 })
  .map((pieces) => pieces.map(([length, last]) => 'x'.repeat(length) + last).join(''))

describe('quoted-printable (RFC 2045 §6.7)', () => {
  test.for([
    ['a line of 76 plain characters stands as it is', 'x'.repeat(76), 'x'.repeat(76)],
    ['one more makes a soft line break', 'x'.repeat(77), `${'x'.repeat(75)}=\r\nxx`],
    ['the sign itself and 8-bit bytes are quoted', 'a=\xe9', 'a=3D=E9'],
    ['a blank inside a line stands, at its end it is quoted', 'a b \r\nc\t', 'a b=20\r\nc=09'],
    ['a quoted character is never cut', `${'x'.repeat(74)}=y`, `${'x'.repeat(74)}=\r\n=3Dy`],
    ['a quoted character may end a full row', `${'x'.repeat(73)}=`, `${'x'.repeat(73)}=3D`],
    ['empty lines stay', '\r\n\r\na', '\r\n\r\na'],
  ] as const)('%s', ([, bytes, expected]) => {
    expect(encode(bytes)).toBe(expected)
  })

  test('encoded text is printable, in lines of at most 76 characters, and can be decoded', () => {
    fc.assert(
      fc.property(texts, (bytes) => {
        const encoded = encode(bytes)
        expect(encoded).toMatch(/^(?:[\t\x20-\x7e]{0,76}(?:\r\n|$))*$/)
        expect(encoded).not.toMatch(/[ \t](?:\r\n|$)/)
        expect(decodeTransfer(Buffer.from(encoded, 'latin1'), 'quoted-printable')).toEqual(
          Buffer.from(bytes, 'latin1'),
        )
      }),
      { numRuns: 500 },
    )
  })
})

test('base64 with many blanks before another character takes linear time', async () => {
  const bomb = Buffer.from(`QUJD${' '.repeat(1_000_000)}!QUJD`)
  const decoded = await expectEffort(() => decodeTransfer(bomb, 'base64'), 500)
  expect(decoded.toString()).toBe('ABCABC')
})
