import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { analyzeForCounting, analyzeMessage } from '../../../src/pieces/analyze.ts'
import { fieldsOf, looksLikeMessage, normalizedForHash } from '../../../src/mail/message.ts'
import { parseHeader } from '../../../src/mail/header.ts'
import { exceedsLimits } from '../../../src/mail/mime-leaves.ts'
import { expectEffort } from '../../support/effort.ts'

const root = path.join(import.meta.dirname, '../../..')
const corpus = path.join(root, '../shared/corpus')
const limits = { headersMax: 500, partsMax: 200, nestingMax: 20 }

const messagesOf = (folder: string) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(path.join(folder, name)))

async function survive(raw: Buffer): Promise<void> {
  looksLikeMessage(parseHeader(raw))
  normalizedForHash(raw)
  exceedsLimits(raw, limits)
  fieldsOf(parseHeader(raw).fields)
  const analysis = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: false })
  const json = JSON.stringify(analysis)
  expect(json).not.toContain('\\u0000')
  expect(json).not.toMatch(/\\ud[89a-f]/i)
}

/** A change to a message: its position, how much is removed, what is inserted. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  without: fc.nat(40),
  instead: fc.oneof(
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        '\0',
        '\r',
        '\n',
        '\n\n',
        '(',
        ')',
        ';',
        '<',
        '[',
        '"',
        '=?utf-8?B?',
        '--',
        'from ',
        ' by ',
      )
      .map((text) => Buffer.from(text)),
  ),
})

function changed(
  raw: Buffer,
  changes: readonly { at: number; without: number; instead: Buffer }[],
) {
  return changes.reduce((message, { at, without, instead }) => {
    const offset = Math.floor(at * at * message.length)
    return Buffer.concat([message.subarray(0, offset), instead, message.subarray(offset + without)])
  }, raw)
}

async function surviveChanges(messages: readonly Buffer[], numRuns: number): Promise<void> {
  const anyMessage = fc.constantFrom(...messages)
  await fc.assert(
    fc.asyncProperty(anyMessage, fc.array(change, { maxLength: 12 }), (raw, changes) =>
      survive(changed(raw, changes)),
    ),
    { numRuns },
  )
}

test('damaged messages never make the analysis fail', async () => {
  await surviveChanges(messagesOf(path.join(root, 'scripts/samples')), 1500)
})

test('an empty message does not make the analysis fail', async () => {
  const anyBytes = fc.uint8Array({ maxLength: 400 })
  await fc.assert(
    fc.asyncProperty(anyBytes, (bytes) => survive(Buffer.from(bytes))),
    { numRuns: 500 },
  )
})

describe.skipIf(!existsSync(corpus))('the corpus, if present', () => {
  test('broken messages neither make the analysis fail nor take long', async () => {
    for (const raw of messagesOf(path.join(corpus, 'robustness'))) {
      await expectEffort(() => survive(raw), 500 + raw.length / 100)
    }
  })

  test('damage to real mail does not make the analysis fail', async () => {
    const messages = ['phishing', 'robustness', 'bounces/cr', 'spam']
      .map((folder) => path.join(corpus, folder))
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => messagesOf(folder).slice(0, 60))
      .filter((raw) => raw.length < 100_000)
    await surviveChanges(messages, 1000)
  })
})

test('100 KB of spaces in quoted-printable take less than six seconds', async () => {
  const head = 'From: a@example.com\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'
  const raw = Buffer.from(`${head}a${' '.repeat(100_000)}b\r\n`)
  await expectEffort(() => analyzeMessage(raw, { trustedRelays: [], ignoreStamps: false }), 1_000)
})

test('60 KB of combining marks on one letter, in wrong order, take under a second', async () => {
  const head = 'From: a@example.com\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n'
  const raw = Buffer.from(`${head}a${'\u0315\u0300\u0321\u0345'.repeat(15_000)} word\r\n`)
  const options = { trustedRelays: [], ignoreStamps: false }
  await expectEffort(() => analyzeForCounting(raw, options), 500)
})
