import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import type { FactDefinition, Facts, FactValue } from '../../../../src/verdict/facts/fact.ts'
import { factDefinitions, factsOf } from '../../../../src/verdict/facts/facts.ts'
import { type Condition, createConditionCompiler } from '../../../../src/verdict/rules/condition.ts'
import { corpusFiles } from '../../../support/corpus.ts'
import { shippedRules } from '../../../support/shipped-rules.ts'

const compile = createConditionCompiler(factDefinitions)

function compiled(when: string): Condition {
  const made = compile(when)
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  return made
}

/** A sequence of numbers from 0 to 1 that is the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state / 0x7fff_ffff
  }
}

const texts = ['', 'spam', 'phishing', 'not-spam', 'message', ' A.Example ', 'ré😀', 'en', 'FR']
const amounts = [0, -0, 0.1, 0.4, 0.5, 0.6, 0.8, 1, 2, 3, 5, 10, 100, -0.4, -1, 1e21]
const odd = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

function anyValue({ type }: FactDefinition, next: () => number): FactValue {
  const oneOf = <T>(some: readonly T[]) => some[Math.floor(next() * some.length)] as T
  if (type === 'bool') return next() < 0.5
  if (type === 'double') return oneOf(next() < 0.05 ? odd : amounts)
  return type === 'string' ? oneOf(texts) : [oneOf(texts), oneOf(texts)].slice(next() * 3)
}

/** Returns the facts by name and by place. */
function given(valueOf: (definition: FactDefinition) => FactValue) {
  const byPlace = factDefinitions.map(valueOf)
  const names = factDefinitions.map(({ group, name }, at) => [`${group}.${name}`, byPlace[at]])
  return { byPlace, byName: Object.fromEntries(names) as Record<string, FactValue> }
}

function expectSame(conditions: readonly Condition[], known: ReturnType<typeof given>): void {
  for (const { holds, holdsFast, facts } of conditions) {
    expect([facts, holdsFast?.(known.byPlace)]).toEqual([facts, holds(known.byName)])
  }
}

const shipped = shippedRules().rules.map(({ when }) => compiled(when))
const besides = [
  'text.language in ["ru", "en"] && text.words > 20 || text.language in []',
  '"spam" in authentication.signers || "" in authentication.signers',
  'author.domain.endsWith("Example ") || author.domain.trim().startsWith("A.")',
  'headers.mailer.lowerAscii().contains("spam") || headers.mailer.upperAscii() == "RÉ😀"',
  '!(links.count * 2 - 1 >= 9 == (links.count / 0 > -1))',
  '-links.count < 0.5 && links.count != links.count || report.kind != text.language',
  'true && (false || links.count + 1 <= 2)',
].map(compiled)

test('all shipped conditions are compiled, with the results of the library', () => {
  expect(shipped.filter(({ holdsFast }) => !holdsFast)).toEqual([])
  expect(besides.filter(({ holdsFast }) => !holdsFast)).toEqual([])
  const next = numbersFrom(20)
  for (let round = 0; round < 400; round++) {
    // Some rounds with few facts, because conditions on many facts rarely hold otherwise.
    const known = given((one) => (next() < (round % 4) / 4 ? anyValue(one, next) : emptyOf(one)))
    expectSame([...shipped, ...besides], known)
  }
})

function emptyOf({ type }: FactDefinition): FactValue {
  return { bool: false, double: 0, string: '', strings: [] }[type]
}

test('the results agree for real messages', async () => {
  for (const { raw } of (corpusFiles('phishing') ?? []).slice(0, 60)) {
    const { features } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: true })
    const facts: Facts = factsOf({ features, now: new Date() })
    expectSame(
      [...shipped, ...besides],
      given((one) => facts[one.group]?.[one.name] ?? emptyOf(one)),
    )
  }
})

test.for([
  'double(report.kind) > 1',
  'authentication.signers[0] == "a"',
  'authentication.signers.exists(s, s == "a")',
  'authentication.signers == ["a"]',
  'size(authentication.signers) > 1',
  'report.kind < "b"',
  'report.kind + "x" == "x"',
  'links.count in [1, 2]',
  'report.is_given ? true : false',
])('the library evaluates %s', (when) => {
  expect(compiled(when).holdsFast).toBeUndefined()
})
