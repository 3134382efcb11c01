import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRules } from '../../../../src/verdict/rules/rule-book.ts'
import { faultLine, ruleBounds } from '../../../../src/verdict/rules/rule-file.ts'
import { ruleFacts, ruleText } from '../../../support/rule-facts.ts'
import { expectEffort } from '../../../support/effort.ts'

/** Returns the errors of a file, one per line; empty if it is valid. */
function faultsOf(text: string): string[] {
  const compiled = compileRules(text, ruleFacts)
  return 'faults' in compiled ? compiled.faults.map(faultLine) : []
}

test('a file with comments, weights and disabled rules is accepted', () => {
  const text = `# Ours.\n${ruleText('FIRST_ONE', 'links.count > 3', -2.5)}  enabled: false\n`
  const compiled = compileRules(text, ruleFacts)
  expect('rules' in compiled && compiled.rules.rules).toEqual([
    expect.objectContaining({
      symbol: 'FIRST_ONE',
      weight: -2.5,
      meaning: 'What FIRST_ONE means.',
      when: 'links.count > 3',
      isEnabled: false,
      facts: ['links.count'],
      line: 2,
    }),
  ])
})

test.for([
  ['an empty file', '', '1:1 The file has no rules'],
  ['a file that is no list', 'symbol: A', '1:1 A rule file must be a list'],
  ['a rule that is a word', '- A', '1:3 A rule must have the fields symbol'],
  [
    'a file with NUL in it',
    `${ruleText('AB', 'true')}# \0\n`,
    '5 The file contains a NUL character.',
  ],
  ['broken YAML', '- symbol: "A', '1:13 This is not valid YAML'],
  ['a list of broken brackets', '[[[{', 'This is not valid YAML'],
  ['a missing field', '- symbol: AB\n  weight: 1\n  when: "true"', '1:3 AB: "meaning" is missing.'],
  ['an unknown field', `${ruleText('AB', 'true')}  wheight: 2`, 'wheight". Is it "weight"?'],
  [
    'a field that stands twice',
    `${ruleText('AB', 'true')}  weight: 2`,
    '5:3 The field "weight" appears',
  ],
  ['a number as a symbol', ruleText('12', 'true'), '1:11 A symbol may contain only capital'],
  ['a small symbol', ruleText('Ab', 'true'), '1:11 Ab: A symbol may contain only capital'],
  ['a symbol with two lines', ruleText('A__B', 'true'), 'A symbol may contain only capital'],
  ['a long symbol', ruleText('A'.repeat(65), 'true'), 'A symbol may have at most 64 characters.'],
  [
    'a heavy weight',
    ruleText('AB', 'true', 20.5),
    '2:11 AB: A weight must be a number from -20 to 20.',
  ],
  ['a light weight', ruleText('AB', 'true', -21), 'A weight must be a number'],
  ['no number', ruleText('AB', 'true', Number.NaN), 'A weight must be a number'],
  ['an infinite weight', '- symbol: AB\n  weight: .inf\n  meaning: x\n  when: true', 'A weight'],
  ['a long meaning', ruleText(`AB\n  meaning: ${'x'.repeat(301)}`, 'true'), '300 characters'],
  [
    'a list as a meaning',
    '- symbol: AB\n  weight: 1\n  meaning: [x]\n  when: true',
    'must be a text',
  ],
  ['a long condition', ruleText('AB', `"${'x'.repeat(1_001)}"`), 'at most 1000 characters'],
  ['a condition that is a number', ruleText('AB', '1'), '"when" must be a text.'],
  ['a switch that is a word', `${ruleText('AB', 'true')}  enabled: maybe`, 'true or false'],
  ['an anchor', ruleText('&a AB', 'true'), 'Anchors'],
  ['an alias', `${ruleText('&a AB', 'true')}${ruleText('*a', 'true')}`, '5:11 Aliases'],
  ['a tag', ruleText('!!str AB', 'true'), 'Tags (tag:yaml.org,2002:str)'],
  ['a tag of a kind of one’s own', ruleText('AB', '!js/function true'), 'Tags (!js/function)'],
  [
    'two documents',
    `${ruleText('AB', 'true')}---\n${ruleText('CD', 'true')}`,
    'This is not valid YAML',
  ],
] as const)('%s is refused', ([, text, fault]) => {
  const found = faultsOf(text)
  expect(found.join('\n')).toContain(fault)
})

test('a repeated symbol is refused, with both lines', () => {
  const text = ruleText('AB', 'true') + ruleText('CD', 'true') + ruleText('AB', 'false')
  expect(faultsOf(text)).toEqual(['9 AB: The rule on line 1 already has this symbol.'])
})

test('all errors are reported at once, in file order, and no rule becomes active', () => {
  const text = [
    ruleText('GOOD', 'true'),
    ruleText('AB', 'lniks.count > 3 && text.subjcet == ""'),
    ruleText('bad', 'links > 3', 99),
    ruleText('CD', 'links.count >'),
  ].join('')
  expect(faultsOf(text)).toEqual([
    '8:9 AB: Unknown fact lniks.count. Did you mean links.count?',
    '8:28 AB: Unknown fact text.subjcet. Did you mean text.subject?',
    '9:11 bad: A symbol may contain only capital letters, digits and "_", for example FORGED_HOP.',
    '10:11 bad: A weight must be a number from -20 to 20.',
    '12:9 bad: "links" is a group of facts. Write links.NAME.',
    '16:22 CD: Unexpected token: EOF.',
  ])
})

test('of very many errors the first are shown, and how many more there are', () => {
  const text = Array.from({ length: 150 }, (_, at) => ruleText(`R${at}`, 'no.fact')).join('')
  const found = faultsOf(text)
  expect(found).toHaveLength(ruleBounds.faultsMax + 1)
  expect(found.at(-1)).toBe('404 And 50 more errors.')
})

test.for([
  ['between quotes', '"lnks.count > 3"', '4:10'],
  ['after a quoted character', String.raw`"\"a\" == \"b\" || lnks.count > 3"`, '4:9'],
  ['on lines of its own', '|\n    true &&\n    lnks.count > 3', '6:5'],
  ['folded', '>-\n    true &&\n      lnks.count > 3', '6:7'],
  ['that goes on on the next line', 'true &&\n    lnks.count > 3', '5:5'],
] as const)('an error in a condition %s has its position in the file', ([, when, place]) => {
  const reason = 'Unknown fact lnks.count. Did you mean links.count?'
  expect(faultsOf(ruleText('AB', when))).toEqual([`${place} AB: ${reason}`])
})

test('more than 2,000 rules are refused, and 2,000 are not', () => {
  const rules = (count: number) =>
    Array.from({ length: count }, (_, at) => ruleText(`R${at}`, 'true')).join('')
  expect(faultsOf(rules(2_000))).toEqual([])
  expect(faultsOf(rules(2_001))).toEqual(['1:1 There are 2001 rules. At most 2000 are allowed.'])
})

test.for([
  ['larger than it may be', 'x'.repeat(ruleBounds.fileBytesMax + 1)],
  ['nested without end', '['.repeat(100_000)],
  ['of dashes', '- '.repeat(100_000)],
  ['of maps in maps', '{a: '.repeat(50_000)],
  ['of questions', '? '.repeat(100_000)],
  ['of quotes', '"'.repeat(100_000)],
  ['of many keys', `- ${Array.from({ length: 40_000 }, (_, at) => `k${at}: 1`).join('\n  ')}`],
  [
    'of aliases of aliases',
    Array.from({ length: 30 }, (_, at) => `- &a${at} [*a${at - 1}, *a${at - 1}]`).join('\n'),
  ],
  ['with __proto__', '- __proto__: {symbol: A}\n  constructor: 1'],
] as const)('a file %s is refused in time and without harm', async ([, text]) => {
  expect(await expectEffort(() => faultsOf(text), 3_000)).not.toEqual([])
  expect(({} as { symbol?: string }).symbol).toBeUndefined()
})

test('no text crashes the compiler', () => {
  const words = fc.constantFrom(
    ...['- symbol: AB\n', '  when: ', 'links.count', ' > 3', '(', '"', '[', '\n', '  weight: 1'],
    ...['{', '}', '&a', '*a', '!!x', '|', '>', '? ', ': ', '#', '\t', '__proto__', '.exists(', '%'],
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      expect(compileRules(parts.join(''), ruleFacts)).toBeDefined()
      const when = JSON.stringify(parts.join(''))
      expect(compileRules(ruleText('AB', when), ruleFacts)).toBeDefined()
    }),
    { numRuns: 500 },
  )
})
