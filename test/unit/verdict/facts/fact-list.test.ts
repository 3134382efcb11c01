import path from 'node:path'
import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { emptyFacts, factDefinitions, factsOf } from '../../../../src/verdict/facts/facts.ts'
import { sendingRecord } from '../../../../src/verdict/reputation/sending.ts'
import { factsPage } from '../../../support/facts-page.ts'
import { spamMessage } from '../../../support/messages.ts'

const page = path.join(import.meta.dirname, '../../../../src/verdict/facts/README.md')
const keys = factDefinitions.map(({ group, name }) => `${group}.${name}`)

async function featuresOfSpam() {
  const options = { trustedRelays: [], ignoreStamps: true }
  return (await analyzeForCounting(spamMessage('one'), options)).features
}

test('there are at least 150 facts with different names', () => {
  expect(keys.length).toBeGreaterThanOrEqual(150)
  expect(new Set(keys).size).toBe(keys.length)
})

test.for(factDefinitions)('$name of $group has a name for rules and a meaning', (fact) => {
  expect(`${fact.group}.${fact.name}`).toMatch(/^[a-z]+\.[a-z][a-z0-9_]*$/)
  expect(fact.meaning).toMatch(/^\p{L}.{10,}\.$/u)
})

test('the page of facts equals the list', async () => {
  await expect(factsPage()).toMatchFileSnapshot(page)
})

test('a message has all facts of the list and no others', async () => {
  const facts = factsOf({ features: await featuresOfSpam(), now: new Date(0) })
  const made = Object.entries(facts).flatMap(([group, its]) =>
    Object.keys(its).map((name) => `${group}.${name}`),
  )
  expect(made.toSorted()).toEqual(keys.toSorted())
})

test('each fact has the type given in the list', async () => {
  const facts = factsOf({
    features: await featuresOfSpam(),
    report: { kind: 'spam', karma: 0.5, channel: 'api' },
    envelope: { ip: '192.0.2.1', helo: 'mx.example', returnPath: 'a@b.example', recipients: [] },
    sender: sendingRecord([]),
    network: { asn: 64_500, name: 'EXAMPLE', country: 'FR' },
    listings: [],
    reputations: [{ kind: 'link', score: 0, weight: 1, flags: [], firstSeenAt: new Date(0) }],
    seen: { text_complaints_day: 2 },
    now: new Date(0),
  })
  const types = factDefinitions.map(({ group, name }) => {
    const value = facts[group]?.[name]
    const type =
      typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'double' : 'string'
    return Array.isArray(value) ? 'strings' : type
  })
  expect(types).toEqual(factDefinitions.map(({ type }) => type))
})

test('without information all facts are empty', () => {
  const values = Object.values(emptyFacts()).flatMap((its) => Object.values(its))
  expect(new Set(values.map((value) => JSON.stringify(value)))).toEqual(
    new Set(['false', '0', '""', '[]']),
  )
})

test('the features of a message can be passed between threads', async () => {
  const features = await featuresOfSpam()
  expect(structuredClone(features)).toEqual(features)
  expect(JSON.parse(JSON.stringify(features))).toEqual(features)
})
