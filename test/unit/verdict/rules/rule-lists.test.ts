import { expect, test } from 'vitest'
import { factDefinitions } from '../../../../src/verdict/facts/facts.ts'
import { plainLine } from '../../../../src/pieces/disguise/plain-text.ts'
import { compileRules } from '../../../../src/verdict/rules/rule-book.ts'
import {
  readRuleListEntry,
  type RuleListKind,
  RuleLists,
} from '../../../../src/verdict/rules/rule-lists.ts'
import { expectEffort } from '../../../support/effort.ts'
import { ruleText } from '../../../support/rule-facts.ts'

function listsOf(kind: RuleListKind, ...values: readonly string[]): RuleLists {
  const entries = values.map((value) => ({ list: 'ab', value }))
  const lists = new RuleLists(new Map([['ab', kind]]), entries)
  lists.begin()
  return lists
}

test.for([
  ['words', '  Véry  CHEAP Meds ', 'very cheap meds'],
  ['words', 'ab', undefined],
  ['words', '12345', undefined],
  ['words', 'one two three four five six', undefined],
  ['words', '発票', plainLine('発票')],
  ['hosts', 'Shop.Example.', 'shop.example'],
  ['hosts', 'bücher.example', 'xn--bcher-kva.example'],
  ['hosts', '192.0.2.7', '192.0.2.7'],
  ['hosts', 'com', undefined],
  ['hosts', 'https://shop.example/', undefined],
  ['addresses', 'Ann@Shop.Example', 'ann@shop.example'],
  ['addresses', '@shop.example', '@shop.example'],
  ['addresses', 'shop.example', undefined],
  ['hashes', 'AB'.repeat(32), 'ab'.repeat(32)],
  ['hashes', 'ab', undefined],
  ['hosts', `${'a'.repeat(300)}.example`, undefined],
] as const)('an entry of %s: %s is %s', ([kind, text, entry]) => {
  expect(readRuleListEntry(kind, text)).toBe(entry)
})

test('words are found as whole words, in order, however they are disguised', () => {
  const lists = listsOf('words', 'cheap meds', 'casino')
  const isListed = (text: string) => {
    lists.begin()
    return lists.isListed('ab', plainLine(text))
  }
  expect(isListed('Buy ChEАp m3ds now')).toBe(true)
  expect(isListed('C A S I N O')).toBe(true)
  expect(isListed('casinos, meds cheap')).toBe(false)
  expect(isListed('')).toBe(false)
})

test('a host stands for its subdomains, and an address may be a whole domain', () => {
  const hosts = listsOf('hosts', 'shop.example', '192.0.2.7')
  expect(hosts.isListed('ab', ['a.b.shop.example'])).toBe(true)
  expect(hosts.isListed('ab', ['myshop.example', 'shop.example.net'])).toBe(false)
  expect(hosts.isListed('ab', ['192.0.2.7'])).toBe(true)
  const addresses = listsOf('addresses', '@shop.example')
  expect(addresses.isListed('ab', ['ann@shop.example'])).toBe(true)
  expect(addresses.isListed('ab', ['ann@a.shop.example'])).toBe(false)
})

test('each message counts once for an entry, and only lists that a rule asks for count', () => {
  const kinds = new Map<string, RuleListKind>([
    ['ab', 'words'],
    ['cd', 'words'],
  ])
  const lists = new RuleLists(kinds, [
    { list: 'ab', value: 'casino' },
    { list: 'cd', value: 'casino' },
  ])
  for (const text of ['casino', 'casino', 'poker']) {
    lists.begin()
    lists.isListed('ab', text)
    lists.isListed('ab', `the ${text}`)
  }
  expect(lists.takeHits()).toEqual([{ list: 'ab', value: 'casino', hits: 2 }])
  expect(lists.takeHits()).toEqual([])
})

test('a rule names its list, which must exist and fit the fact', () => {
  const knownLists = new Map([['bad-hosts', 'hosts' as const]])
  const faultOf = (when: string) => {
    const made = compileRules(ruleText('AB', JSON.stringify(when)), factDefinitions, { knownLists })
    return 'faults' in made ? made.faults[0]?.reason : undefined
  }
  expect(faultOf('content.link_hosts.listed("bad-hosts")')).toBeUndefined()
  expect(faultOf('content.link_hosts.listed("bad-host")')).toContain('Did you mean "bad-hosts"?')
  expect(faultOf('content.text_words.listed("bad-hosts")')).toContain('has hosts, but')
  expect(faultOf('content.text.listed("bad-hosts")')).toContain('cannot be compared with a list')
  expect(faultOf('content.link_hosts.exists(h, h.listed("bad-hosts"))')).toContain('Only a fact')
  expect(faultOf('content.link_hosts.listed(author.domain)')).toContain('literal text')
})

test('a rule follows its list, and a list that does not exist has no entries', () => {
  const current: { lists?: RuleLists } = {}
  const when = 'content.text_words.listed("ab")'
  const made = compileRules(ruleText('AB', JSON.stringify(when)), factDefinitions, {
    lists: () => current.lists,
  })
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  const raised = () => made.rules.run({ content: { text_words: 'a casino' } }).length
  expect(raised()).toBe(0)
  current.lists = listsOf('words', 'casino')
  expect(raised()).toBe(1)
})

test('many entries that begin alike cost no more than few', async () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `free free free word${at}`)
  const lists = listsOf('words', ...many)
  const line = 'free '.repeat(20_000)
  expect(await expectEffort(() => lists.isListed('ab', line), 50)).toBe(false)
})
