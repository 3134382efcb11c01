import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { factDefinitions } from '../../../../src/verdict/facts/facts.ts'
import { neededTexts } from '../../../../src/verdict/rules/needed-texts.ts'
import { compileRules } from '../../../../src/verdict/rules/rule-book.ts'
import { TextSearch } from '../../../../src/verdict/rules/text-search.ts'
import { expectEffort } from '../../../support/effort.ts'
import { ruleText } from '../../../support/rule-facts.ts'

function searchFor(...patterns: readonly string[]): TextSearch {
  const search = new TextSearch()
  for (const pattern of patterns) search.add(pattern, RE2JS.compile(pattern))
  search.begin()
  return search
}

const parts = fc.constantFrom(
  ...['casino', 'CASINO', 'cas', 'ino', 'ſale', 'KELVIN', '\u212Aelvin', 'straße', 'ПРИЗ', 'приз'],
  ...[
    '発票',
    '😀win',
    '\\bwin\\b',
    '[a-c]',
    '.{0,4}',
    '\\s+',
    'a|b',
    '(win|PRIZE)',
    '(?i:win)',
    'x?',
  ],
  ...['\\Qa.b\\E', '\\(\\?i\\)', '[(?i)]', '(?s).', 'wi{2}n', '(?:ΣΑΣ)', 'σας'],
)
const patterns = fc
  .tuple(
    fc.constantFrom('', '(?i)', '(?is)', '(?i-s)'),
    fc.array(parts, { minLength: 1, maxLength: 4 }),
  )
  .map(([flags, some]) => flags + some.join(''))
const words = fc.constantFrom(
  ...['casino', 'Casino', 'sale', 'SALE', 'kelvin', 'STRASSE', 'STRAßE', 'приз', 'Приз', '発票'],
  ...[
    '😀win',
    'win',
    'WIN',
    'a',
    'b',
    'wiin',
    'a.b',
    'ΣΑΣ',
    'σας',
    ' ',
    '\n',
    'x',
    'prize',
    '(?i)',
  ],
)
const texts = fc.array(words, { maxLength: 8 }).map((some) => some.join(''))

test('a search finds exactly what the patterns match', () => {
  fc.assert(
    fc.property(fc.array(patterns, { minLength: 1, maxLength: 5 }), texts, (given, text) => {
      const search = searchFor(...given)
      for (const pattern of given) {
        expect(search.matches(pattern, text), pattern).toBe(RE2JS.compile(pattern).test(text))
      }
    }),
    { numRuns: 300 },
  )
})

test.for([
  ['(?i)\\bViagra\\b', 'viagra'],
  ['(?i)cheap\\s+meds', { all: ['cheap', 'meds'] }],
  ['(?i)(casino|poker)', { any: ['casino', 'poker'] }],
  ['[0-9]{16}', undefined],
  ['(?i)(casino|[0-9]+)', undefined],
] as const)('%s needs %o', ([pattern, needed]) => {
  expect(neededTexts(pattern)).toEqual(needed)
})

test('each text of a message has its own results, also after another message', () => {
  const search = searchFor('casino', 'poker')
  const [subject, body] = ['casino night', ['poker table', 'casino']]
  expect(search.matches('poker', subject)).toBe(false)
  expect(search.matches('poker', body)).toBe(true)
  expect(search.matches('casino', body)).toBe(true)
  search.begin()
  expect(search.matches('casino', 'nothing here')).toBe(false)
  expect(search.matches('poker', ['a', 'b'])).toBe(false)
})

test('a message that contains what many patterns need has bounded cost', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `(?i)casino.{0,9}word${at}x`)
  const search = searchFor(...many)
  const bait = `casino ${Array.from({ length: 1_000 }, (_, at) => `word${at}x`).join(' ')} `
  const text = bait.repeat(4)
  const matched = many.filter((pattern) => search.matches(pattern, text))
  expect(matched.length).toBeLessThan(100)
})

test('texts that share beginnings and ends are all found, in one pass', () => {
  const all = ['abcd', 'bcd', 'cd', 'abce', 'd!', 'abcdefghijklmnopqrst', 'abcdefghijklmnopqrsu']
  const search = searchFor(...all)
  const found = all.filter((pattern) => search.matches(pattern, 'xabcd! abcdefghijklmnopqrsu'))
  expect(found).toEqual(['abcd', 'bcd', 'cd', 'd!', 'abcdefghijklmnopqrsu'])
})

test('thousands of texts in many alphabets do not make the table large', () => {
  const many = Array.from({ length: 2_000 }, (_, at) =>
    String.fromCharCode(
      ...Array.from({ length: 20 }, (__, unit) => 0x4e00 + ((at * 31 + unit * 977) % 20_000)),
    ),
  )
  const search = searchFor(...many)
  expect(search.matches(many[1_234] ?? '', `x${many[1_234]}y`)).toBe(true)
  expect(search.matches(many[1_233] ?? '', `x${many[1_234]}y`)).toBe(false)
})

test('a text that almost matches everywhere is searched in linear time', async () => {
  const search = searchFor('aaaaaaaaab', 'aab', 'ab', '(?i)b{3}a')
  const text = 'a'.repeat(500_000)
  await expectEffort(() => search.matches('aab', text), 50)
})

test('a pattern on a text of the message must not match everything', () => {
  for (const pattern of ['.*', 'a?', '(?i)|casino', '^']) {
    const when = `content.text.matches(${JSON.stringify(pattern)})`
    const made = compileRules(ruleText('AB', JSON.stringify(when)), factDefinitions)
    expect(made).toMatchObject({ faults: [{ reason: expect.stringContaining('every text') }] })
  }
})

test('a list of texts matches if one of them does', () => {
  const when = 'content.link_hosts.matches("^login[.]") && !content.file_names.matches("[.]pdf$")'
  const made = compileRules(ruleText('AB', JSON.stringify(when)), factDefinitions)
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  const run = (link_hosts: string[]) => made.rules.run({ content: { link_hosts, file_names: [] } })
  expect(run(['shop.example', 'login.example'])).toMatchObject([{ basis: 'words' }])
  expect(run(['x.login.example'])).toEqual([])
  expect(made.rules.readsWritten).toBe(true)
})
