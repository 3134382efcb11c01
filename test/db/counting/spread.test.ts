import { expect, test } from 'vitest'
import { countMessages } from '../../../src/counting/count-messages.ts'
import { wholePairKey } from '../../../src/counting/keys.ts'
import { createCounterReader } from '../../../src/counting/reader.ts'
import { packShingles } from '../../../src/pieces/shingles/packed-shingles.ts'
import { withSpreadShingles } from '../../../src/pieces/shingles/take-apart.ts'
import { seenFacts, seenPieces } from '../../../src/verdict/facts/seen-facts.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { countWritten, type CountedWritten } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { freshDatabase } from '../../support/database.ts'
import { analysisOf } from '../../support/shingles.ts'

const now = new Date('2026-11-20T12:34:56Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
const database = await closeAfterTests(freshDatabase(now))

async function spreadFacts(from: string) {
  const packed = packShingles((await analysisOf({ from, text: 'Hello.' })).shingles)
  const { keys, groups } = seenPieces(packed, wholePairKey)
  const reader = createCounterReader(
    { pool: database.pool, clock: () => now },
    { keysMax: 100, freshMs: 0 },
  )
  return seenFacts(groups, await reader.readWindows(keys))
}

test('the countries, networks and reporters of a day are facts', async () => {
  const from = 'Bot <bot@spread.example>'
  const report = (nth: number, originCountry: string, days = 0): CountedWritten => ({
    written: { from, text: 'Hello.' },
    prefix: 'reports',
    amounts: { complaint: 1 },
    at: daysAgo(days),
    reporterId: `reporter ${nth}`,
    originCountry,
  })
  const today = ['FR', 'DE', 'FR', 'JP'].map((country, nth) => report(nth, country))
  await countWritten(database.pool, [...today, report(9, 'US', 3)], now)
  await rollUpAll(database.pool, now)
  expect(await spreadFacts(from)).toMatchObject({
    author_countries_day: 3,
    author_networks_day: 1,
    author_recipients_day: 4,
  })
})

test('the countries and recipients of checked mail are facts', async () => {
  const from = 'Bot <bot@checked.example>'
  const packed = packShingles((await analysisOf({ from, text: 'Hello.' })).shingles)
  const sent = [
    ['FR', ['a@home.example', 'b@home.example']],
    ['BR', ['b@home.example', 'c@home.example']],
  ] as const
  const messages = sent.map(([originCountry, recipients]) => ({
    prefix: 'checks' as const,
    amounts: { spam: 1 },
    at: now,
    shingles: withSpreadShingles(packed, { originCountry, recipients }),
  }))
  await countMessages(database.pool, messages, now)
  await rollUpAll(database.pool, now)
  const facts = await spreadFacts(from)
  expect(facts).toMatchObject({ author_countries_day: 2, author_recipients_day: 3 })
  expect(facts).not.toHaveProperty('author_reporters_weeks')
})

test('the share of spam and the busy periods of checked mail are facts', async () => {
  const from = 'Bot <bot@robot.example>'
  const shingles = packShingles((await analysisOf({ from, text: 'Hello.' })).shingles)
  const messages = Array.from({ length: 200 }, (_, nth) => ({
    prefix: 'checks' as const,
    amounts: nth % 50 === 0 ? { ham: 1 } : { spam: 1 },
    at: new Date(now.getTime() - (nth % 20) * 600_000),
    shingles,
  }))
  await countMessages(database.pool, messages, now)
  await rollUpAll(database.pool, now)
  const facts = await spreadFacts(from)
  expect(facts.author_checked_spam_share).toBeCloseTo(0.98, 2)
  expect(facts.author_busy_periods_day).toBe(20)
  expect(facts.author_peak_share_day).toBeCloseTo(0.05, 2)
})
