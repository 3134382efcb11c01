import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { analyzeMessage } from '../../../../src/pieces/analyze.ts'
import { shinglesMax } from '../../../../src/pieces/shingles/shingle-list.ts'
import { type Findings, takeApart } from '../../../../src/pieces/shingles/take-apart.ts'
import { findLinks } from '../../../../src/pieces/links.ts'
import { parseHeader } from '../../../../src/mail/header.ts'
import { analysisOf, messageOf } from '../../../support/shingles.ts'
import { expectEffort } from '../../../support/effort.ts'

const options = { trustedRelays: [], ignoreStamps: true }

function findings({ text = '', html = '' }): Findings {
  const body = { text, html, attachments: [] }
  const none = { fields: [], hops: [], origin: null, submitter: null, attachments: [], signers: [] }
  return { ...none, body, links: findLinks(body).links }
}

describe('the shingles of a message', () => {
  test('are the same each time, each once, with 64-bit hashes', async () => {
    const { shingles } = await analysisOf({ text: 'Buy, buy, buy at https://shop.example/1' })
    expect(
      (await analysisOf({ text: 'Buy, buy, buy at https://shop.example/1' })).shingles,
    ).toEqual(shingles)
    expect(new Set(shingles.map(({ hash }) => hash)).size).toBe(shingles.length)
    for (const { hash } of shingles) expect(hash).toMatch(/^[0-9a-f]{16}$/)
  })

  test('are at most 480, and include the informative ones', async () => {
    const lines = Array.from({ length: 500 }, (_, at) => {
      const word = String.fromCharCode(97 + (at % 26)).repeat(1 + (at % 17))
      return `${word} ${at} is sentence number of its own ${word}x. https://h${at}.example/${word}`
    })
    const text = lines.join('\r\n\r\n')
    const { shingles } = await analysisOf({ text })
    expect(shingles.length).toBeLessThanOrEqual(shinglesMax)
    const names = new Set(shingles.map(({ name }) => name))
    for (const name of ['author-address', 'origin-ip', 'link', 'text', 'text-authors', 'words']) {
      expect(names).toContain(name)
    }
  })

  test('of similar messages are mostly the same', async () => {
    const one = await analysisOf({
      text: 'We have blocked your account. Please write to us today.',
    })
    const other = await analysisOf({
      text: 'We have blocked your account. Please write to us soon.',
    })
    const hashes = new Set(one.shingles.map(({ hash }) => hash))
    const shared = other.shingles.filter(({ hash }) => hashes.has(hash))
    expect(shared.length / other.shingles.length).toBeGreaterThan(0.7)
    expect(shared.some(({ name }) => name === 'text')).toBe(false)
    expect(shared.some(({ name }) => name === 'sentence')).toBe(true)
  })

  test('are found whatever the bytes are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const raw = Buffer.concat([messageOf({ html: '<p>' }), bytes])
        const { shingles, fingerprints } = await analyzeMessage(raw, options)
        expect(shingles.length).toBeLessThanOrEqual(shinglesMax)
        expect(Object.values(fingerprints).every((value) => value.length <= 240)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      ...[
        '<a href="',
        '">',
        '<p>',
        '<!--',
        '-->',
        '&#',
        ';',
        'http://',
        '[.]',
        '(dot)',
        '@',
        '.',
        '%',
      ],
      ...[
        '0x',
        'bc1',
        '+44 20',
        '\u200b',
        '\u0301',
        '\ud83d',
        '\0',
        '\n\n',
        'xn--',
        '<style>',
        '=?',
      ],
    ),
  )

  test('are found whatever the text is', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.array(piece, { maxLength: 60 }),
        (a, b) => {
          const { shingles } = takeApart(findings({ text: a.join(''), html: b.join('') }))
          expect(shingles.length).toBeLessThanOrEqual(shinglesMax)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a hostile text takes linear time', () => {
  test.for([
    ['a'],
    ['a.'],
    ['a@'],
    ['@'],
    ['1 '],
    ['1-'],
    ['+'],
    ['<'],
    ['<a '],
    ['<a href="'],
    ['<a b="'],
    ["<a b='"],
    ['<!--'],
    ['<style>'],
    ['<title>'],
    ['&#'],
    ['&a'],
    ['http://'],
    ['https:// '],
    ['hxxp://a[.]'],
    ['a[.]'],
    ['[.]'],
    ['(at)'],
    ['www.'],
    ['GB82 '],
    ['0x'],
    ['bc1q'],
    ['1A1z'],
    ['é'],
    ['a\u0301'],
    ['\u200b'],
    ['о'],
    ['🎁'],
    ['v1'],
    ['a$'],
    ['\n'],
    [' '],
    ["'"],
    ['x y z '],
  ] as const)('%j', async ([unit]) => {
    const long = unit.repeat(Math.ceil(1_000_000 / unit.length))
    const found = findings({ text: long, html: long })
    await expectEffort(() => takeApart(found), 1_500)
  })
})

describe('a hostile header takes linear time', () => {
  const names = ['Date', 'Subject', 'From', 'To', 'Message-ID', 'List-Unsubscribe', 'X-Mailer']
  const units = [' ', 'A', 'AB(', 'a1', '<', '<a>,', 're:', ' re', '=?', '@', ';d=', 'boundary=']

  test.for(units)('%j', async (unit) => {
    const long = unit.repeat(Math.ceil(300_000 / unit.length))
    const more = ['DKIM-Signature', 'Content-Type', 'List-Id', 'Feedback-ID', 'Return-Path']
    const lines = [...names, ...more].map((name) => `${name}: x${long}\r\n`)
    const raw = Buffer.from(`${lines.join('')}\r\n`)
    const many = Buffer.from(`DKIM-Signature: ${unit.repeat(100)}\r\n`.repeat(4000))
    const read = [raw, many].map((bytes) => ({ ...findings({}), ...parseHeader(bytes) }))
    for (const one of read) await expectEffort(() => takeApart(one), 1_000)
  })
})
