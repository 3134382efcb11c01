import { expect, test } from 'vitest'
import { compileRules, type RuleBook } from '../../../../src/verdict/rules/rule-book.ts'
import { RuleCosts, type RuleCutOff } from '../../../../src/verdict/rules/rule-costs.ts'
import { factsOf, ruleFacts, ruleText } from '../../../support/rule-facts.ts'

function bookOf(...rules: string[]): RuleBook {
  const made = compileRules(rules.join(''), ruleFacts)
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  return made.rules
}

test('the symbols of a message are in the order of the rules, without disabled ones', () => {
  const book = bookOf(
    ruleText('LATE', 'links.count > 3', 2),
    ruleText('NOT_THIS', 'links.count > 4'),
    `${ruleText('OFF', 'true')}  enabled: false\n`,
    ruleText('EARLY', 'report.kind == "spam"', -1.5),
  )
  expect(book.run(factsOf({ links: { count: 4 } }))).toEqual([
    { name: 'LATE', weight: 2, meaning: 'What LATE means.', basis: 'content' },
    { name: 'EARLY', weight: -1.5, meaning: 'What EARLY means.', basis: 'word' },
  ])
})

test('facts that were not stored have the empty value', () => {
  const empty = 'links.count == 0 && size(links.hosts) == 0 && !author.isFree && report.kind == ""'
  expect(bookOf(ruleText('EMPTY', empty)).run({})).toHaveLength(1)
})

test('a fact of the wrong type fails only that rule', () => {
  const book = bookOf(ruleText('AB', 'links.count > 3'), ruleText('CD', 'true'))
  const facts = factsOf({ links: { count: 'many' } })
  expect(book.run(facts).map(({ name }) => name)).toEqual(['CD'])
  expect(book.health().map(({ errors }) => errors)).toEqual([1, 0])
})

test('names of prototypes in the facts are never looked up', () => {
  const facts = JSON.parse('{"__proto__": {"count": 9}, "links": {"__proto__": 1}}') as never
  expect(bookOf(ruleText('AB', 'links.count > 3')).run(facts)).toEqual([])
})

/**
 * Runs rules on a clock that only they advance: each evaluation of rule `at` takes `costs[at]`
 * milliseconds.
 */
function watched(rules: number, costs: Record<number, number>) {
  let now = 0
  const cutOffs = new Map<number, RuleCutOff>()
  const watch = new RuleCosts(
    rules,
    () => now,
    (at, why) => cutOffs.set(at, why),
  )
  const run = (pauses: readonly number[] = []) => {
    const taken: number[] = []
    const left = [...pauses]
    const ask = (at: number) => {
      now += (costs[at] ?? 0.001) + (left.shift() ?? 0)
      return true
    }
    watch.run({ ask, take: (at) => taken.push(at), askAgain: ask })
    return taken
  }
  return { run, cutOffs, watch }
}

test('a rule with repeated slow evaluations is switched off, and no other', () => {
  const { run, cutOffs } = watched(100, { 40: 30 })
  expect(run()).toHaveLength(100)
  expect([...cutOffs]).toEqual([[40, { why: 'slow once', costUs: 30_000 }]])
  expect(run()).not.toContain(40)
  expect(run()).toHaveLength(99)
})

test('pauses of the machine switch nothing off, not even two in a row', () => {
  const { run, cutOffs } = watched(16, {})
  const twoForOneRule = [200, ...Array.from({ length: 15 }, () => 0), 200, 200]
  for (let runs = 0; runs < 2_000; runs++) run(runs % 10 === 0 ? twoForOneRule : [])
  expect(cutOffs.size).toBe(0)
})

test('a rule that is always slow is switched off after enough measurements', () => {
  const { run, cutOffs, watch } = watched(20, { 3: 0.6 })
  for (let runs = 0; runs < 100; runs++) run()
  expect(cutOffs.size).toBe(0)
  for (let runs = 0; runs < 500; runs++) run()
  expect([...cutOffs.keys()]).toEqual([3])
  expect(cutOffs.get(3)?.why).toBe('slow always')
  expect(watch.costUs(2)).toBeCloseTo(1)
})

test('if all rules take too long, as few as needed are switched off, the slowest first', () => {
  const costs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [at, 0.2 + at / 1_000]))
  const { run, cutOffs } = watched(30, costs)
  for (let runs = 0; runs < 600; runs++) run()
  expect([...cutOffs.keys()]).toEqual([29, 28, 27, 26, 25, 24, 23])
  expect(cutOffs.get(29)?.why).toBe('over budget')
})

test('a rule book with a real clock switches a hostile rule off and reports it', () => {
  const hosts = Array.from({ length: 400 }, (_, at) => `${'a'.repeat(300)}${at}`)
  const slow = 'links.hosts.all(x, links.hosts.all(y, !(x + y).matches("a.*b.*c.*d$")))'
  const told: string[] = []
  const made = compileRules(ruleText('SLOW', slow) + ruleText('FAST', 'true'), ruleFacts, {
    elapsed: () => performance.now(),
    onCutOff: (symbol, { why }) => told.push(`${symbol} ${why}`),
  })
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  const facts = factsOf({ links: { hosts } })
  expect(made.rules.run(facts).map(({ name }) => name)).toEqual(['SLOW', 'FAST'])
  expect(told).toEqual(['SLOW slow once'])
  expect(made.rules.run(facts).map(({ name }) => name)).toEqual(['FAST'])
  expect(made.rules.health()[0]?.cutOff?.why).toBe('slow once')
})

test('a rule with a negative weight counts as true when it is switched off', () => {
  let now = 0
  const made = compileRules(
    ruleText('AGAINST', 'size(links.hosts) > 0', -3) + ruleText('FOR', 'links.count > 0', 6),
    ruleFacts,
    // Only conditions on the hosts advance the clock.
    { elapsed: () => now },
  )
  if ('faults' in made) throw new Error(made.faults[0]?.reason)
  const slow = new Proxy(['shop.example'], {
    get: (hosts, name) => {
      now += 30
      return Reflect.get(hosts, name) as unknown
    },
  })
  const first = made.rules.run(factsOf({ links: { count: 1, hosts: slow } }))
  expect(first.map(({ name, weight }) => [name, weight])).toEqual([
    ['AGAINST', -3],
    ['FOR', 6],
  ])
  expect(made.rules.health()[0]?.cutOff?.why).toBe('slow once')
  const later = made.rules.run(factsOf({ links: { count: 1 } }))
  expect(later.map(({ name }) => name)).toEqual(['FOR', 'AGAINST'])
  expect(later[1]?.meaning).toEqual({ code: 'rule-assumed' })
})
