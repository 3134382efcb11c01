import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { feedbackFormats } from '../../../src/mail/feedback-format.ts'
import { reportOn, searchReports } from '../../support/composed-identity.ts'
import { findLeaks } from '../../support/find-leaks.ts'
import { messagesOf, places } from '../../support/identity-forms.ts'
import { addressNeedles, type Needle, squeezed } from '../../support/identity-forms/needles.ts'

type Case = { name: string; addresses: string[]; mustNotContain: string[]; message_base64: string }

const file = path.join(import.meta.dirname, '../../../../shared/cases/redaction.jsonl')
const cases = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)

test.for(cases)('the report on the message of the case "$name" tells no reporter', async (one) => {
  const { name, addresses } = one
  const raw = Buffer.from(one.message_base64, 'base64')
  const needles = [...addresses.flatMap(addressNeedles), ...one.mustNotContain.flatMap(textNeedles)]
  const secrets = [{ name, needles }]
  expect(findLeaks(raw, secrets), 'The search finds nothing in the message itself.').not.toEqual([])
  const report = await reportOn(raw, { addresses, names: [], userNames: [], telephones: [] })
  expect(report).toBeDefined()
  expect(findLeaks(report ?? raw, secrets)).toEqual([])
})

// `npm run test:long` searches more combinations.
const kinds = feedbackFormats.flatMap((format) =>
  (['whole', 'headers'] as const).map((form) => ({ format, form })),
)

test.for(kinds)(
  'no report on combinations of identities, places and ways tells a reporter: %o',
  async (kind) => {
    const { leaks, combinations, unreported } = await searchReports(300, 150, kind)
    expect(leaks.map(({ secret, needle }) => `${secret}: ${needle}`)).toEqual([])
    expect(unreported).toBe(0)
    expect(combinations).toBeGreaterThanOrEqual(150)
  },
)

test('the search finds every combination in the message itself', () => {
  const missed = [...messagesOf(4, 1000)].flatMap(({ raw, secrets }) => {
    const found = new Set(findLeaks(raw, secrets).map(({ at }) => at))
    return secrets.filter((_, at) => !found.has(at)).map(({ name }) => name)
  })
  expect(missed).toEqual([])
})

test('the search finds nothing in a mail about other people', () => {
  const raws = [...messagesOf(5, 200)].map(({ raw }) => raw)
  const others = [...messagesOf(6, 200)]
  const found = raws.flatMap((raw, at) =>
    // The names are from the same lists.
    findLeaks(raw, others[at]?.secrets ?? []).filter(({ secret }) => !/name/.test(secret)),
  )
  expect(found).toEqual([])
})

test('the combinations are different, and the same for the same seed', () => {
  const names = (seed: number) =>
    [...messagesOf(seed, 1000)].flatMap(({ secrets }) => secrets.map(({ name }) => name))
  const once = names(1)
  expect(new Set(once).size).toBe(once.length)
  expect(names(1)).toEqual(once)
  expect(names(2)).not.toEqual(once)
  expect(new Set(places.map(({ name }) => name)).size).toBe(places.length)
})

/** A word counts as a whole, other texts also without blanks and signs. */
function textNeedles(text: string): Needle[] {
  if (/@/.test(text)) return addressNeedles(text)
  if (/^[A-Z][a-z]+$/.test(text)) return [{ kind: 'word', text }]
  return [{ kind: 'exact', text }, ...(text.length >= 8 ? squeezed(text) : [])]
}
