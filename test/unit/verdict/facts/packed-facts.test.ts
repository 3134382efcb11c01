import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FactValue } from '../../../../src/verdict/facts/fact.ts'
import {
  emptyFacts,
  factDefinitions,
  packFacts,
  unpackFacts,
} from '../../../../src/verdict/facts/facts.ts'
import { CONTENT_GROUP } from '../../../../src/verdict/facts/fact.ts'
import { factsWith } from '../../../support/shipped-rules.ts'

const values = {
  bool: fc.boolean(),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  string: fc.string({ maxLength: 20 }),
  strings: fc.array(fc.string({ maxLength: 5 }), { maxLength: 5 }),
}

test('unpacked facts equal the packed ones', () => {
  const someFact = fc
    .constantFrom(...factDefinitions.filter(({ group }) => group !== CONTENT_GROUP))
    .chain(({ group, name, type }) =>
      fc.tuple(fc.constant(`${group}.${name}`), values[type] as fc.Arbitrary<FactValue>),
    )
  fc.assert(
    fc.property(fc.array(someFact, { maxLength: 30 }), (known) => {
      const facts = factsWith(Object.fromEntries(known))
      const again = unpackFacts(packFacts(facts))
      for (const { group, name } of factDefinitions) {
        expect(again[group]?.[name]).toEqual(facts[group]?.[name])
      }
    }),
    { numRuns: 30 },
  )
})

test('the packed text is the one that JSON.stringify returns', () => {
  const known = {
    report: { kind: 'a "quoted" \\ text\u2028\ud800', is_given: true, karma: 1e21, gone: 1 },
    links: { count: -0.1, total: Number.POSITIVE_INFINITY, hosts: -0 },
    attachments: { extensions: ['pdf', 'é"'], kinds: [] },
    blacklists: {},
  }
  expect(packFacts(known).toString()).toBe(
    JSON.stringify({
      report: { kind: known.report.kind, is_given: true, karma: 1e21 },
      links: { count: -0.1 },
      attachments: { extensions: ['pdf', 'é"'] },
    }),
  )
  expect(packFacts({ reputation: { known: Number.NEGATIVE_INFINITY } }).toString()).toBe(
    '{"reputation":{"known":null}}',
  )
})

test('only facts that are not empty are stored', () => {
  const facts = factsWith({ 'links.count': 3, 'report.kind': 'spam', 'text.language': '' })
  expect(JSON.parse(packFacts(facts).toString())).toEqual({
    links: { count: 3 },
    report: { kind: 'spam' },
  })
  expect(packFacts(emptyFacts()).toString()).toBe('{}')
})

test.for([
  ['no JSON', '{"links"'],
  ['a list', '[1]'],
  ['a number', '4'],
  ['nothing', ''],
  ['groups that are none', '{"links":3,"text":[1],"author":null}'],
  ['facts that are none any more', '{"links":{"gone":true},"gone":{"links":1}}'],
  ['facts of another type', '{"links":{"count":"3"},"text":{"forms":1},"author":{"domain":[]}}'],
  ['lists of another type', '{"attachments":{"extensions":["pdf",1]}}'],
  ['names of what objects have', '{"links":{"constructor":1,"__proto__":{"count":1}}}'],
] as const)('%s is read as no facts', ([, kept]) => {
  const facts = unpackFacts(Buffer.from(kept))
  for (const { group, name } of factDefinitions) {
    expect(facts[group]?.[name]).toEqual(emptyFacts()[group]?.[name])
  }
})

test('valid facts beside invalid ones are kept', () => {
  const facts = unpackFacts(Buffer.from('{"links":{"count":3,"hosts":"many","gone":1}}'))
  expect(facts.links?.count).toBe(3)
  expect(facts.links?.hosts).toBe(0)
})

test('texts of a message are not packed', () => {
  const facts = factsWith({ 'content.subject': 'secret', 'links.count': 1 })
  expect(packFacts(facts).toString()).toBe('{"links":{"count":1}}')
})
