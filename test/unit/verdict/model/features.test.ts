import { expect, test } from 'vitest'
import type { FactDefinition } from '../../../../src/verdict/facts/fact.ts'
import { factDefinitions } from '../../../../src/verdict/facts/facts.ts'
import {
  closedSets,
  featureReader,
  modelFeatures,
  fitSymbols,
  refusalOf,
  unusableFeatures,
} from '../../../../src/verdict/model/features.ts'

const fact = (group: string, name: string, type: FactDefinition['type']): FactDefinition => ({
  group,
  name,
  type,
  meaning: 'A fact of the tests.',
})

test.for([
  ['a number', fact('links', 'hosts', 'double'), ['links.hosts']],
  ['a boolean', fact('text', 'forms', 'bool'), ['text.forms']],
  ['a list, by its length', fact('links', 'names', 'strings'), ['links.names.size']],
  [
    'a word of a closed set, by each of them',
    fact('bulk', 'precedence', 'string'),
    ['bulk.precedence=bulk', 'bulk.precedence=list', 'bulk.precedence=junk'],
  ],
  ['any other text is not seen', fact('author', 'domain', 'string'), []],
  ['what the reporter says is not seen', fact('report', 'kind', 'string'), []],
  ['nor how far they are believed', fact('report', 'karma', 'double'), []],
] as const)('the features of %s', ([, definition, names]) => {
  expect(modelFeatures([definition], [], 'reports')).toEqual(names)
})

test('no feature contains a person, a host or the reporter’s statement', () => {
  const names = modelFeatures(factDefinitions, [], 'reports')
  expect(names.length).toBeGreaterThan(200)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => name.startsWith('report.'))).toEqual([])
  const texts = factDefinitions.filter(({ type }) => type === 'string')
  for (const { group, name } of texts) {
    const seen = names.filter((feature) => feature.startsWith(`${group}.${name}=`))
    expect(seen.length).toBe(closedSets[`${group}.${name}`]?.length ?? 0)
  }
})

test('symbols of rules that use the reporter’s statement are not features', () => {
  const rules = [
    { symbol: 'REPORTED_SPAM', facts: ['report.kind'] },
    { symbol: 'BELIEVED_FORM', facts: ['text.forms', 'report.karma'] },
    { symbol: 'FORM', facts: ['text.forms'] },
  ]
  expect(fitSymbols(rules)).toEqual(['FORM'])
})

test('the features of files do not reveal the collection', () => {
  const names = modelFeatures(factDefinitions, [], 'own-files')
  const groups = new Set(names.map((name) => name.split('.')[0]))
  expect([...groups].sort()).toEqual([
    ...['attachments', 'author', 'bulk', 'headers', 'links', 'message', 'text'],
  ])
  expect(names).not.toContain('headers.fields')
  expect(names).not.toContain('headers.recipients')
  expect(names).toContain('links.hosts')
})

test('every mentioned fact and word is in the list', () => {
  const known = new Set(factDefinitions.map(({ group, name }) => `${group}.${name}`))
  expect(Object.keys(closedSets).filter((name) => !known.has(name))).toEqual([])
  const refused = factDefinitions.filter((one) => refusalOf(one, 'own-files') !== undefined)
  expect(refused.length).toBeGreaterThan(50)
})

test('numbers are in the order of the names, and missing ones are 0', () => {
  const read = featureReader([
    ...['text.forms', 'links.hosts', 'links.names.size', 'bulk.precedence=list', 'symbol.BAD'],
    'text.gone',
  ])
  const facts = {
    text: { forms: true },
    links: { hosts: 2.5, names: ['a', 'b'] },
    bulk: { precedence: 'list' },
  }
  expect([...(read?.(facts, [{ name: 'BAD' }]) ?? [])]).toEqual([1, 2.5, 2, 1, 1, 0])
  expect([...(read?.({}, []) ?? [])]).toEqual([0, 0, 0, 0, 0, 0])
})

test('numbers out of range are clamped, and NaN is 0', () => {
  const read = featureReader(['a.b', 'a.c', 'a.d'])
  const facts = { a: { b: Number.POSITIVE_INFINITY, c: Number.NaN, d: -1e300 } }
  expect([...(read?.(facts, []) ?? [])]).toEqual([1e9, 0, -1e9])
})

test.for([
  '',
  'links',
  'links.',
  '.hosts',
  'a b.c',
  'links.hosts=',
  'links.hosts.size.size',
  'a.b,c',
])('"%s" is not the name of a feature', (name) => {
  expect(featureReader([name])).toBeUndefined()
})

test('the features of a foreign model are checked against the list', () => {
  const names = [
    'links.hosts',
    'symbol.FORGED_HOP',
    'report.kind=spam',
    'links.made_up',
    'symbol.x',
  ]
  const strange = ['report.kind=spam', 'links.made_up', 'symbol.x']
  expect(unusableFeatures(names, factDefinitions)).toEqual(strange)
})
