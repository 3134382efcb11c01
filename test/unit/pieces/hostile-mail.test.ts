import fc from 'fast-check'
import { test } from 'vitest'
import { analyzeForCounting, analyzeMessage } from '../../../src/pieces/analyze.ts'
import { corpusFiles } from '../../support/corpus.ts'
import { expectEffort } from '../../support/effort.ts'
import { baseMessages, nastyMail, surviveAnalysis } from '../../support/nasty-mail.ts'

// `npm run test:long` tries many more.
test('damaged messages never make the analysis fail', async () => {
  const numRuns = 600
  await fc.assert(fc.asyncProperty(nastyMail(baseMessages()), surviveAnalysis), { numRuns })
})

test('any bytes do not make the analysis fail', async () => {
  const anyBytes = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(fc.asyncProperty(anyBytes, surviveAnalysis), { numRuns: 500 })
})

const broken = corpusFiles('robustness')

test.skipIf(!broken)('broken messages neither make the analysis fail nor take long', async () => {
  for (const { raw } of broken ?? []) {
    await expectEffort(() => surviveAnalysis(raw), 500 + raw.length / 100)
  }
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
