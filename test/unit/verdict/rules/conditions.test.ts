import { expect, test } from 'vitest'
import { compileRules } from '../../../../src/verdict/rules/rule-book.ts'
import { factsOf, ruleFacts, ruleText } from '../../../support/rule-facts.ts'
import { expectEffort } from '../../../support/effort.ts'

const message = factsOf({
  links: { count: 4, hosts: ['a.example', 'b.example'] },
  text: { subject: 'Ré😀' },
})

function compiled(when: string) {
  return compileRules(ruleText('AB', JSON.stringify(when)), ruleFacts)
}

/** Returns whether the condition holds for the message, and how many evaluations failed. */
function asked(when: string): { holds: boolean; errors: number | undefined } {
  const made = compiled(when)
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  return {
    holds: made.rules.run(message).length === 1,
    errors: made.rules.health()[0]?.errors,
  }
}

test.for([
  ['a number is what it looks like', 'links.count == 4', true],
  ['with a point, too', 'links.count == 4.0 && links.count < 4.5', true],
  ['in sums', 'links.count * 2 + 1 >= 9 && links.count / 8 == 0.5', true],
  ['in lists', 'links.count in [3, 4]', true],
  ['with a sign', '-links.count == -4', true],
  ['a number is none of another value', 'links.count == 5', false],
  ['sizes are numbers', 'size(links.hosts) == 2 && links.hosts.size() < links.count', true],
  ['characters are counted, not their bytes', 'size(text.subject) == 3', true],
  ['an element of a list', 'links.hosts[1] == "b.example"', true],
  ['an element is sought', 'links.hosts.exists(h, h.endsWith(".example"))', true],
  ['all elements', 'links.hosts.all(h, h.startsWith("a"))', false],
  ['one element', 'links.hosts.exists_one(h, h.contains("b."))', true],
  ['elements are counted', 'size(links.hosts.filter(h, h.startsWith("a"))) == 1', true],
  ['lists in lists', 'links.hosts.exists(a, links.hosts.all(b, a <= b))', true],
  ['a pattern is sought anywhere', 'links.hosts.exists(h, h.matches("^[ab][.]"))', true],
  ['a pattern with a flag', 'report.kind.matches("(?i)SPA.$")', true],
  ['case is not folded by itself', 'report.kind == "SPAM"', false],
  ['unless asked for', 'report.kind.upperAscii() == "SPAM"', true],
  ['one of several texts', 'report.kind in ["spam", "phishing"]', true],
  ['a choice', 'author.isFree ? false : report.kind == "spam"', true],
] as const)('%s: %s', ([, when, holds]) => {
  expect(asked(when)).toEqual({ holds, errors: 0 })
})

test.for([
  ['an element that is not there', 'links.hosts[7] == "a"'],
  ['a text that is no number', 'double(report.kind) > 1'],
] as const)('%s is false, and counted as failed', ([, when]) => {
  expect(asked(when)).toEqual({ holds: false, errors: 1 })
})

test('the other side of "or" is evaluated if one side fails', () => {
  expect(asked('links.hosts[7] == "a" || links.count == 4')).toEqual({ holds: true, errors: 0 })
})

test.for([
  ['a number', 'links.count', 'The condition is of type double; it must be true or false.'],
  [
    'numbers beside texts',
    'links.count == "4"',
    'The operator does not support these types: double == string.',
  ],
  [
    'a text in a text',
    '"a" in report.kind',
    'The operator does not support these types: string in string.',
  ],
  ['a group', 'links == 3', '"links" is a group of facts. Write links.NAME.'],
  ['a fact of a text', 'report.kind.length > 3', '".length": only groups have facts.'],
  ['a fact in brackets', 'links["count"] > 3', 'The index of a list must be a whole number'],
  [
    'a computed index',
    'links.hosts[size(links.hosts)] == ""',
    'index of a list must be a whole number',
  ],
  ['a misspelled function', 'text.subject.constains("x")', 'Did you mean contains?'],
  ['a misspelled quantifier', 'links.hosts.exsts(h, true)', 'Did you mean exists?'],
  ['a function of another language', 'report.kind.split("") == []', 'Unknown function split'],
  ['a list made anew', 'links.hosts.map(h, h + h) == []', 'Unknown function map'],
  ['a name for a value', 'cel.bind(x, links.count, x > 1)', 'Unknown function bind'],
  ['an untyped value', 'dyn(links.count) == 4', 'Unknown function dyn'],
  ['the time', 'timestamp("2026-11-20T00:00:00Z") == links.count', 'Unknown function timestamp'],
  ['a map', '{"a": 1} == {"a": 1}', 'Exceeded maxMapEntries (0).'],
  ['bytes', 'b"a" == b"a"', 'A value must be a number, a text, true or false.'],
  ['nothing', 'null == null', 'A value must be a number, a text, true or false.'],
  ['a remainder', 'links.count % 2 == 0', '"%" is not allowed in conditions.'],
  ['three lists in each other', nested(3), 'At most 2 loops over lists may be nested.'],
  ['a hidden group', 'links.hosts.exists(links, true)', '"links" is already in use'],
  ['a prototype', '__proto__.x == 1', 'Reserved identifier: __proto__.'],
  ['a prototype of a group', 'links.__proto__ == 1', 'Unknown fact links.__proto__.'],
  ['a constructor', 'report.constructor == ""', 'Unknown fact report.constructor.'],
  ['a constructor as a function', 'constructor(1) == 1', 'Unknown function constructor'],
  ['a method of all objects', 'report.kind.toString() == ""', 'Unknown function toString'],
  ['a pattern that is a fact', 'report.kind.matches(text.subject)', 'must be a literal text'],
  ['a pattern put together', 'report.kind.matches("(a+" + ")+")', 'must be a literal text'],
  ['a broken pattern', 'report.kind.matches("(a")', 'The pattern is not valid: missing closing )'],
  ['a look-ahead', 'report.kind.matches("(?=a)")', 'The pattern is not valid'],
  ['a back-reference', String.raw`report.kind.matches("(a)\\1")`, 'The pattern is not valid'],
  ['a long pattern', `report.kind.matches("${'a'.repeat(201)}")`, 'at most 200 characters'],
  [
    'a large pattern',
    String.raw`report.kind.matches("\\pL{900}\\pL{900}\\pL{900}")`,
    'too many repetitions',
  ],
  ['depth', `${'('.repeat(60)}true${')'.repeat(60)}`, 'Exceeded maxDepth'],
  ['breadth', `links.count in [${'1,'.repeat(300)}1]`, 'Exceeded max'],
] as const)('%s is refused: %s', ([, when, reason]) => {
  const made = compiled(when)
  const reasons = 'faults' in made ? made.faults.map((fault) => fault.reason) : ['taken']
  expect(reasons.join('\n')).toContain(reason)
})

function nested(depth: number): string {
  const open = Array.from({ length: depth }, (_, at) => `links.hosts.exists(v${at}, `).join('')
  return `${open}true${')'.repeat(depth)}`
}

test.for([
  ['(a+)+$', `${'a'.repeat(5_000)}!`],
  ['^(a|a)*$', `${'a'.repeat(5_000)}!`],
  ['(.*,){20}x', ','.repeat(2_000)],
] as const)(
  'the pattern %s takes time linear in the length of the text',
  async ([pattern, subject]) => {
    const made = compiled(`text.subject.matches("${pattern}")`)
    if ('faults' in made) throw new Error(made.faults[0]?.reason)
    const facts = factsOf({ text: { subject } })
    expect(await expectEffort(() => made.rules.run(facts), 1_000)).toEqual([])
  },
)
