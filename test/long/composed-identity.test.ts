import { expect, test } from 'vitest'
import { feedbackFormats } from '../../src/mail/feedback-format.ts'
import { findLeaks } from '../support/find-leaks.ts'
import { messagesOf } from '../support/identity-forms.ts'
import { countLeaks, type FoundLeak, searchReports } from '../support/composed-identity.ts'

const SEED = Number(process.env['IDENTITY_SEED'] ?? 2026)
const COMBINATIONS = Number(process.env['IDENTITY_COMBINATIONS'] ?? 40_000)
const MINUTES_MAX = 30
/**
 * Nothing may leave that is written in a usual way. Of texts that are encoded twice, or in an
 * encoding that no mail program reads, at most one in this many may, and a few by chance.
 */
const ODD_LEAKS_EVERY = 2_000
const BY_CHANCE = 3
const usual = /^(?:as is|in capitals|in small letters|percent-encoded|(?:hexa)?decimal entities)$/

function tolerated(leaks: readonly FoundLeak[], combinations: number): string[] {
  const texts = leaks.map(({ secret, needle, message }) => `${message}: ${secret}: ${needle}`)
  const isUsual = leaks.some(({ combination }) => usual.test(combination.way.name))
  const isFew = leaks.length <= BY_CHANCE + combinations / ODD_LEAKS_EVERY
  return !isUsual && isFew ? [] : texts.slice(0, 100)
}

test(
  'reports on many combinations of identities, places and ways tell no reporter',
  { timeout: MINUTES_MAX * 60_000 },
  async () => {
    const { leaks, combinations, messages, unreported } = await searchReports(SEED, COMBINATIONS)
    const number = String(leaks.length)
    const lines = [
      `seed ${String(SEED)}: ${number} leaks in ${String(combinations)} combinations, ${String(messages)} messages`,
      'by category',
      ...countLeaks(leaks, ({ identity }) => identity.category),
      'by kind of place and category',
      ...countLeaks(leaks, ({ identity, place }) => `${place.medium}: ${identity.category}`),
      'by identity',
      ...countLeaks(leaks, ({ identity }) => identity.name),
      'by place',
      ...countLeaks(leaks, ({ place }) => place.name),
      'by way',
      ...countLeaks(leaks, ({ way }) => way.name),
      'by place and way (the first 300)',
      ...countLeaks(leaks, ({ place, way }) => `${place.name}, ${way.name}`).slice(0, 300),
    ]
    console.info(lines.join('\n'))
    expect(tolerated(leaks, combinations), `${number} leaks`).toEqual([])
    expect(unreported).toBe(0)
    expect(combinations).toBeGreaterThanOrEqual(COMBINATIONS)
  },
)

test.for(feedbackFormats)(
  'reports in the format %s with the header alone tell no reporter',
  async (format) => {
    const { leaks } = await searchReports(SEED + 1, COMBINATIONS / 20, { format, form: 'headers' })
    expect(tolerated(leaks, COMBINATIONS / 20)).toEqual([])
  },
)

test('the search finds every combination in the message itself', () => {
  const missed = [...messagesOf(4, 3000)].flatMap(({ raw, secrets }) => {
    const found = new Set(findLeaks(raw, secrets).map(({ at }) => at))
    return secrets.filter((_, at) => !found.has(at)).map(({ name }) => name)
  })
  expect(missed).toEqual([])
})

test('reports in the Extended Abuse Reporting Format tell no reporter', async () => {
  const { leaks } = await searchReports(SEED + 2, COMBINATIONS / 10, { format: 'xarf' })
  expect(tolerated(leaks, COMBINATIONS / 10)).toEqual([])
})
