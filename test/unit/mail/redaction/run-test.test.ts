import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashesOf } from '../../../../src/mail/redaction/sought-addresses.ts'
import {
  createAddressRedactor,
  redactionKey,
} from '../../../../src/mail/redaction/address-redactor.ts'
import { foldedBase64 } from '../../../../src/mail/transfer-encoding.ts'
import {
  base64Digits,
  createRunTest,
  HEX_MIN,
  hexDigits,
} from '../../../../src/mail/redaction/prefilter.ts'
import { runsOf } from '../../../../src/mail/text.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const address = 'jane.doe@mailbox.example'
const isHash = (digits: string) => digits === sha256(address)
const hashes = hashesOf([address])
const runMin = 10
const domainsSought = [
  ['mailbox.example'],
  ['pot'],
  ['b\xfccher.example', 'four'],
  ['five5', 'pot'],
]

const decoded = (digits: string) => Buffer.from(digits, 'base64').toString('latin1')
const shifted = (run: string) => [0, 1, 2, 3].map((first) => decoded(run.slice(first)))

/**
 * Returns the parts of a run that are as long as a hash, between the characters that separate the
 * parts of a link.
 */
function piecesOf(run: string): string[] {
  return [22, 27, 43, 86].flatMap((length) =>
    [...run.matchAll(new RegExp(`(?<=^|[+/_-])(?=(.{${length}})(?:[+/_-]|$))`, 'g'))].map(
      ([, piece = '']) => piece,
    ),
  )
}

/** Whether a text contains any of the values, according to an exhaustive search. */
function holds(text: string, domains: readonly string[]): boolean {
  const says = (read: string) => domains.some((domain) => read.toLowerCase().includes(domain))
  const saysInside = (read: string) =>
    says(read) || runsOf(read, base64Digits, runMin).flatMap(shifted).some(says)
  const runs = runsOf(text, base64Digits, runMin)
  const filled = runs.map((run) => `${run}${'A'.repeat((4 - (run.length % 4)) % 4)}AAAA`)
  if ([...runs, filled.join('')].flatMap(shifted).some(saysInside)) return true
  return runs.some((run) => {
    if (piecesOf(run).some((piece) => isHash(Buffer.from(piece, 'base64').toString('hex')))) {
      return true
    }
    if ((run.match(/[0-9a-f]{32,128}/gi) ?? []).some((digits) => isHash(digits.toLowerCase()))) {
      return true
    }
    return runsOf(run, hexDigits, HEX_MIN)
      .flatMap((digits) => [digits, digits.slice(1)])
      .some((digits) => saysInside(Buffer.from(digits, 'hex').toString('latin1')))
  })
}

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
const ways = [
  base64,
  (text: string) => Buffer.from(text, 'latin1').toString('base64url'),
  (text: string) => base64(text).replace(/=+$/, ''),
  (text: string) => base64(base64(text)),
  (text: string) => base64(`x${base64(`yz${text}`)}`).replace(/=+$/, ''),
  (text: string) => Buffer.from(text, 'latin1').toString('hex'),
  (text: string) => Buffer.from(base64(text)).toString('hex').toUpperCase(),
  (text: string) => base64(Buffer.from(text, 'latin1').toString('hex')),
  (text: string) => base64(text.toUpperCase()),
  (text: string) => text,
] as const

const word = fc.oneof(
  fc.constantFrom('mailbox.example', 'jane.doe@mailbox.example', 'a@pot', 'pot', 'four', 'five5'),
  fc.constantFrom(
    'b\xfccher.example',
    'B\xdcCHER.EXAMPLE',
    'Mailbox.Example',
    '',
    '\0\0',
    '\u0142',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'abYZ09+/-_=. <'), maxLength: 24 }),
)
const written = fc
  .array(fc.record({ words: fc.array(word, { maxLength: 3 }), way: fc.constantFrom(...ways) }), {
    maxLength: 4,
  })
  .map((pieces) => pieces.map(({ words, way }) => way(words.join(''))))
const text = fc
  .tuple(written, fc.constantFrom('', ' ', '/', '.', '\u0142', '\r\n'))
  .map(([pieces, between]) => pieces.join(between))

describe('a text rejected by the test of runs contains none of the names', () => {
  test.for(domainsSought)('%s', (...[domains]) => {
    const mayHold = createRunTest({ domains, runMin, hashes })
    fc.assert(
      fc.property(text, (one) => {
        if (!mayHold(one)) expect(holds(one, domains)).toBe(false)
      }),
      { numRuns: 4_000 },
    )
  })

  test('with bytes cut off at both ends, so that some digits remain', () => {
    const mayHold = createRunTest({ domains: ['pot'], runMin, hashes })
    const cut = fc.tuple(text, fc.nat({ max: 5 }), fc.nat({ max: 5 }))
    fc.assert(
      fc.property(cut, ([one, first, last]) => {
        const rest = one.slice(first, one.length - last)
        if (!mayHold(rest)) expect(holds(rest, ['pot'])).toBe(false)
      }),
      { numRuns: 4_000 },
    )
  })
})

describe('the test detects what a run contains', () => {
  const bytesOfHash = Buffer.from(sha256(address), 'hex').toString('latin1')
  const mayHold = createRunTest({ domains: ['mailbox.example'], runMin, hashes })
  test.for([
    ['an address in base64', base64(address), true],
    ['another one', base64('jane.doe@another.example'), false],
    ['in base64 twice', base64(`u=${base64(address)}`), true],
    ['another one twice', base64(`u=${base64('jane.doe@another.example')}`), false],
    ['in hexadecimal', Buffer.from(address).toString('hex'), true],
    ['its hash', sha256(address), true],
    ['its hash in base64', Buffer.from(sha256(address), 'hex').toString('base64url'), true],
    ['its hash in base64 as a step of a path', `u/${base64(bytesOfHash)}/x`, true],
    ['its hash in base64 after a word', `id-${base64(bytesOfHash).replace('=', '')}`, true],
    ['its hash in base64 that goes on', `u/${base64(bytesOfHash).replace('=', 'x')}`, false],
    ['the hash of another', sha256('jane.doe@another.example'), false],
    ['a run that is too short', base64(address).slice(0, runMin - 1), false],
  ] as const)('%s: %s', ([, run, expected]) => {
    expect(mayHold(`see https://x.test/?h=${run}&b`)).toBe(expected)
  })

  test('a text longer than the limit for cached texts', () => {
    expect(mayHold(`${'x '.repeat(700_000)}${base64(address)}`)).toBe(true)
    expect(mayHold('x '.repeat(700_000))).toBe(false)
  })
})

test('an address is found at any position in base64, however short its domain is', () => {
  const key = redactionKey('a secret of the tests', 'abuse@example.net')
  for (const reporter of ['jane@pot', 'jane.doe@b.co', address]) {
    const redactor = createAddressRedactor([reporter], key)
    for (let before = 0; before < 6; before++) {
      const run = base64(`${'\xff'.repeat(before)}${reporter}\xff\xff\xff`).replace(/=+$/, '')
      expect(redactor.finds(`x ${run} y`), `${reporter} ${String(before)}`).toBe(true)
    }
  }
})

test('lines of base64 are found where the regular expression finds them', () => {
  const shape = /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]+={0,2}/g
  const line = fc.tuple(
    fc.constantFrom('', ' ', '='),
    fc.integer({ min: 36, max: 44 }),
    fc.constantFrom('\n', '\r\n', '=\r\n', '\r\r\n', ''),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
      const one = lines
        .map(([start, length, end]) => `${start}${'a'.repeat(length)}${end}`)
        .join('')
      expect(foldedBase64(one).map(({ start }) => start)).toEqual(
        [...one.matchAll(shape)].map(({ index }) => index),
      )
    }),
    { numRuns: 2_000 },
  )
})
