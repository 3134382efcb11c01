import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FieldName, fieldNames, readValue, searchFields } from '../../../src/search/fields.ts'
import { formatSearch, parseSearch } from '../../../src/search/syntax.ts'
import { wordPairsIn, wordsIn } from '../../../src/search/words.ts'
import { refusalIn } from '../../../src/texts/phrases.ts'
import { anyText } from '../../support/any-text.ts'

test('conditions, alternatives, quotes and minus signs are parsed', () => {
  expect(
    parseSearch(`from:shop.example subject:"free \\"money\\"" -state:kept,failed after:2026-11-01`),
  ).toEqual({
    clauses: [
      { field: 'from', values: ['shop.example'], isNot: false },
      { field: 'subject', values: ['free "money"'], isNot: false },
      { field: 'state', values: ['kept', 'failed'], isNot: true },
      { field: 'after', values: ['2026-11-01'], isNot: false },
    ],
  })
  expect(parseSearch('  ')).toEqual({ clauses: [] })
})

test('a word without a field is searched in the text', () => {
  expect(parseSearch('invoice -"free money"')).toEqual({
    clauses: [
      { field: 'text', values: ['invoice'], isNot: false },
      { field: 'text', values: ['free money'], isNot: true },
    ],
  })
})

test.for([
  ['state:lost', /“lost” is not a value of state\. Use received, analyzed,/],
  ['flavor:red', /Unknown field “flavor”/],
  ['from:', /A value is missing after “from:”/],
  ['subject:"free', /A quotation mark is missing/],
  ['"free"money', /Put a blank after the quotation mark/],
  ['after:2026-02-30', /“2026-02-30” is not a day/],
  ['-after:2026-11-01', /takes one day, and no minus sign/],
  ['origin:mx.example', /is not an IP address or a CIDR block/],
  ['origin:2001:db8::/80', /too wide or too narrow/],
  ['country:france', /is not a country code/],
  ['id:7', /is not a valid id/],
  ['reporter:7', /is not a valid id/],
  ['subject:---', /contains no word/],
  ['a '.repeat(21), /at most 20 conditions/],
  ['a'.repeat(1001), /at most 1,000 characters/],
] as const)('%s is refused with a reason', ([text, reason]) => {
  const parsed = parseSearch(text)
  const problems = 'problems' in parsed ? parsed.problems : []
  expect(problems.map((one) => refusalIn('en', one).text).join(' ')).toMatch(reason)
})

const value = anyText({ minLength: 1, maxLength: 30 })

test('a search that is written and parsed again has the same conditions', () => {
  const clause = fc.record({
    field: fc.constantFrom<FieldName>('text', 'subject', 'from', 'link', 'symbol', 'desk'),
    values: fc.array(
      value.map((text) => `w${text.toWellFormed().replaceAll('\0', '')}`),
      { minLength: 1, maxLength: 3 },
    ),
    isNot: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(clause, { maxLength: 6 }), (clauses) => {
      expect(parseSearch(formatSearch(clauses))).toEqual({ clauses })
    }),
  )
})

test('any text is parsed or refused with a reason, and never throws', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 200 }), (text) => {
      const parsed = parseSearch(text)
      if ('problems' in parsed) expect(parsed.problems.length).toBeGreaterThan(0)
      else expect(parseSearch(formatSearch(parsed.clauses))).toEqual(parsed)
    }),
  )
})

test.for(fieldNames)('the example of the field %s is valid', (name) => {
  expect(parseSearch(searchFields[name].example)).toHaveProperty('clauses')
})

test('an origin is searched by the indexed blocks that make up the block', () => {
  expect(readValue('origin', '192.0.2.7')).toEqual({ terms: { any: ['origin:192.0.2.7/32'] } })
  expect(readValue('origin', '192.0.2.0/23')).toEqual({
    terms: { any: ['origin:192.0.2.0/24', 'origin:192.0.3.0/24'] },
  })
  expect(readValue('origin', '2001:db8::/63')).toEqual({
    terms: { any: ['origin:2001:db8:0:0:0:0:0:0/64', 'origin:2001:db8:0:1:0:0:0:0/64'] },
  })
  expect(readValue('origin', '0.0.0.0/0')).toHaveProperty('terms')
})

test('words have no case and no accents; each Chinese character is a word', () => {
  expect(wordsIn('Ünïted États, №1: ПРИВЕТ', 9)).toEqual(['united', 'etats', 'no1', 'привет'])
  expect(wordsIn('免費iPhone', 9)).toEqual(['免', '費', 'iphone'])
  expect(wordsIn('a b c', 2)).toEqual(['a', 'b'])
})

test.for([
  ['zero-width blanks', 'pay\u200bp\u200dal'],
  ['soft hyphens and a byte order mark', '\ufeffpay\u00adpal'],
  ['tags and direction marks', '\u202apay\u{e0041}pal\u2069'],
  ['variation selectors and fillers', 'p\ufe0fay\u3164pal'],
  ['combining marks', 'p\u0335a\u0301ypal'],
])('words are found without %s', ([, text]) => {
  expect(wordsIn(text ?? '', 9)).toEqual(['paypal'])
})

test.for([
  ['Cyrillic letters', 'p\u0430yp\u0430l', 'paypal'],
  ['only Cyrillic letters', '\u0430\u0440\u0440\u04cf\u0435', 'apple'],
  ['a capital I', 'PayPaI', 'paypal'],
  ['digits', 'v1agra', 'viagra'],
  ['wide letters', '\uff50\uff41\uff59pal', 'paypal'],
  ['mathematical letters', '\u{1d429}\u{1d41a}ypal', 'paypal'],
  ['Greek letters', '\u03c1aypal', 'paypal'],
  ['a Russian word', 'ПРИВЕТ', 'привет'],
  ['a number', 'invoice2026', 'invoice2026'],
  ['only digits', '2026', '2026'],
  ['a capital first letter', 'Account', 'account'],
  ['only capitals', 'FREE', 'free'],
])('words are read as people read them: %s', ([, text, expected]) => {
  expect(wordPairsIn(text ?? '', 9).map(({ read }) => read)).toEqual([expected])
})

test('names with blanks are searched by their words, also with a dot', () => {
  expect(readValue('from', 'Dr. Martin')).toEqual({ terms: { all: ['from:dr', 'from:martin'] } })
  expect(readValue('to', '@Shop.example')).toEqual({ terms: { all: ['to:shop.example'] } })
  const id = { terms: { all: ['messageid:m.1@shop.example'] } }
  expect(readValue('messageid', '<M.1@shop.example>')).toEqual(id)
})
