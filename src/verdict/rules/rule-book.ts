import { phrase } from '../../phrase.ts'
import {
  CONTENT_GROUP,
  type FactDefinition,
  type Facts,
  type FactType,
  type FactValue,
} from '../facts/fact.ts'
import { basisOf, type VerdictSymbol } from '../verdict.ts'
import { type Condition, createConditionCompiler } from './condition.ts'
import { type Elapsed, RuleCosts, type RuleCutOff } from './rule-costs.ts'
import { readRuleFile, type Rule, ruleBounds, type RuleFault } from './rule-file.ts'
import type { RuleListKind, RuleLists } from './rule-lists.ts'
import { TextSearch } from './text-search.ts'

export type RuleWithCondition = Rule & { condition: Condition }

/** Statistics of one rule in this process since its set of rules became active. */
export type RuleHealth = {
  symbol: string
  /** Time of one evaluation in microseconds; undefined before there are enough samples. */
  costUs: number | undefined
  /** Number of failed evaluations. A failed condition does not hold. */
  errors: number
  /** Why the rule was cut off; undefined while it runs. */
  cutOff: RuleCutOff | undefined
}

/** Called once for each rule that is cut off. */
export type OnCutOff = (symbol: string, why: RuleCutOff) => void

/**
 * An active set of rules. With `elapsed` it measures its own cost and cuts off rules that cost too
 * much. A cut-off rule with a positive weight then holds for no message, and one with a negative
 * weight for every message, so that in doubt no message is accused. The set itself is immutable.
 */
export class RuleBook {
  /** All rules in file order, including disabled ones. */
  readonly rules: readonly Rule[]
  readonly #active: readonly RuleWithCondition[]
  readonly #symbols: readonly VerdictSymbol[]
  readonly #facts: readonly UsedFact[]
  /** The facts of the current message by their places in the list of definitions. */
  readonly #values: FactValue[]
  /** The same facts by name, for the conditions that the library evaluates. Made when needed. */
  #named: Record<string, FactValue> | undefined
  /** Whether the facts of the current message have their defined types. */
  #isTyped = true
  readonly #errors: number[]
  readonly #costs: RuleCosts | undefined
  readonly #search: TextSearch
  /** Whether an active rule uses texts of the message. */
  readonly readsWritten: boolean

  constructor(
    rules: readonly RuleWithCondition[],
    definitions: readonly FactDefinition[],
    search: TextSearch,
    timing: { elapsed?: Elapsed | undefined; onCutOff?: OnCutOff | undefined } = {},
  ) {
    this.rules = rules
    this.#search = search
    this.#active = rules.filter(({ isEnabled }) => isEnabled)
    this.#symbols = this.#active.map(({ symbol, weight, meaning, condition }) => ({
      name: symbol,
      weight,
      meaning,
      basis: basisOf(condition.facts.map(groupOf)),
    }))
    const used = new Set(this.#active.flatMap(({ condition }) => condition.facts))
    this.readsWritten = [...used].some((fact) => groupOf(fact) === CONTENT_GROUP)
    this.#facts = definitions
      .map(({ group, name, type }, place) => ({
        place,
        key: `${group}.${name}`,
        group,
        name,
        type,
      }))
      .filter(({ key }) => used.has(key))
    this.#values = definitions.map(({ type }) => emptyFacts[type])
    this.#errors = this.#active.map(() => 0)
    if (timing.elapsed) {
      const onCutOff = (at: number, why: RuleCutOff) =>
        timing.onCutOff?.(this.#active[at]?.symbol ?? '', why)
      this.#costs = new RuleCosts(this.#active.length, timing.elapsed, onCutOff)
    }
  }

  /**
   * Returns the symbols of a message, in the order of the rules. A condition that cannot be
   * evaluated does not hold; missing facts have the empty value. Never throws.
   */
  run(facts: Facts): VerdictSymbol[] {
    this.#read(facts)
    this.#search.begin()
    const found: VerdictSymbol[] = []
    const ask = (at: number) => this.#holds(at)
    const askAgain = (at: number) => void this.#evaluate(at)
    const take = (at: number) => {
      const symbol = this.#symbols[at]
      if (symbol) found.push(symbol)
    }
    if (this.#costs) {
      this.#costs.run({ ask, take, askAgain })
      this.#spare(found, this.#costs)
    } else for (let at = 0; at < this.#active.length; at++) if (ask(at)) take(at)
    return found
  }

  /** Returns the statistics of each enabled rule. */
  health(): RuleHealth[] {
    return this.#active.map(({ symbol }, at) => ({
      symbol,
      costUs: this.#costs?.costUs(at),
      errors: this.#errors[at] ?? 0,
      cutOff: this.#costs?.cutOff(at),
    }))
  }

  #read(facts: Facts): void {
    const values = this.#values
    let isTyped = true
    let [its, before]: [Facts[string] | undefined, string] = [undefined, '']
    for (const { place, group, name, type } of this.#facts) {
      if (group !== before) its = facts[(before = group)]
      const value = its?.[name] ?? emptyFacts[type]
      values[place] = value
      isTyped &&= type === 'strings' ? Array.isArray(value) : typeof value === jsTypes[type]
    }
    this.#isTyped = isTyped
    this.#named = undefined
  }

  #byName(): Record<string, FactValue> {
    if (this.#named) return this.#named
    const named: Record<string, FactValue> = {}
    for (const { key, place, type } of this.#facts)
      named[key] = this.#values[place] ?? emptyFacts[type]
    return (this.#named = named)
  }

  #holds(at: number): boolean {
    const answer = this.#evaluate(at)
    if (answer === 'error') this.#errors[at] = (this.#errors[at] ?? 0) + 1
    return answer === true
  }

  /**
   * Adds the symbols of cut-off rules with a negative weight, except those cut off during this
   * message.
   */
  #spare(found: VerdictSymbol[], costs: RuleCosts): void {
    if (!costs.hasCutOffs) return
    for (const [at, symbol] of this.#symbols.entries()) {
      if (symbol.weight >= 0 || !costs.cutOff(at) || found.includes(symbol)) continue
      found.push({ ...symbol, meaning: phrase('rule-assumed') })
    }
  }

  #evaluate(at: number): boolean | 'error' {
    const condition = this.#active[at]?.condition
    if (!condition) return false
    if (condition.holdsFast && this.#isTyped) return condition.holdsFast(this.#values)
    try {
      return condition.holds(this.#byName())
    } catch {
      return 'error'
    }
  }
}

/** A fact that at least one active rule uses. `place` is its index in the list of definitions. */
type UsedFact = { place: number; key: string; group: string; name: string; type: FactType }

const emptyFacts = { bool: false, double: 0, string: '', strings: [] } as const
const jsTypes = { bool: 'boolean', double: 'number', string: 'string' } as const

/** Returns the group of a fact name `group.name`. */
function groupOf(fact: string): string {
  return fact.slice(0, fact.indexOf('.'))
}

/** Options of a set of rules; see `compileRules`. */
export type RuleOptions = {
  elapsed?: Elapsed
  onCutOff?: OnCutOff
  lists?: () => RuleLists | undefined
  knownLists?: ReadonlyMap<string, RuleListKind> | undefined
}

export type Compiled = { rules: RuleBook } | { faults: RuleFault[] }

/**
 * Compiles a file of rules completely or not at all. Never throws, regardless of the text. With
 * `elapsed` (milliseconds, monotonic) the rules measure their own cost, and `onCutOff` is called
 * for each that costs too much. `lists` returns the lists that the rules use from now on;
 * `knownLists` are the kinds of those that exist, if a rule must not name another one.
 */
export function compileRules(
  text: string,
  definitions: readonly FactDefinition[],
  options: RuleOptions = {},
): Compiled {
  const { conditions, faults } = readRuleFile(text)
  const search = new TextSearch(options.lists)
  const compile = createConditionCompiler(definitions, search, options.knownLists)
  const all = [...faults]
  const rules = conditions.flatMap(({ when, symbol, rule, placeOf }): RuleWithCondition[] => {
    const condition = compile(when)
    if ('holds' in condition) return rule ? [{ ...rule, facts: condition.facts, condition }] : []
    for (const { offset, reason } of condition.faults) {
      all.push({ ...placeOf(offset), ...(symbol !== undefined && { symbol }), reason })
    }
    return []
  })
  if (all.length === 0) return { rules: new RuleBook(rules, definitions, search, options) }
  return { faults: inOrder(all) }
}

function inOrder(faults: readonly RuleFault[]): RuleFault[] {
  const { faultsMax } = ruleBounds
  const sorted = faults.toSorted((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0))
  if (sorted.length <= faultsMax) return sorted
  const rest = sorted[faultsMax]
  const more = { line: rest?.line ?? 1, reason: `And ${sorted.length - faultsMax} more errors.` }
  return [...sorted.slice(0, faultsMax), more]
}

type ChangedRule = {
  symbol: string
  before: Rule
  after: Rule
  fields: readonly ('weight' | 'meaning' | 'when' | 'enabled')[]
}

export type RuleChanges = {
  added: readonly Rule[]
  removed: readonly Rule[]
  changed: readonly ChangedRule[]
}

/** Returns the changes from the first set to the second; the order of rules does not matter. */
export function compareRules(before: readonly Rule[], after: readonly Rule[]): RuleChanges {
  const old = new Map(before.map((rule) => [rule.symbol, rule]))
  const fresh = new Map(after.map((rule) => [rule.symbol, rule]))
  return {
    added: after.filter(({ symbol }) => !old.has(symbol)),
    removed: before.filter(({ symbol }) => !fresh.has(symbol)),
    changed: after.flatMap((rule) => {
      const former = old.get(rule.symbol)
      const fields = former ? fieldsThatDiffer(former, rule) : []
      return former && fields.length > 0
        ? [{ symbol: rule.symbol, before: former, after: rule, fields }]
        : []
    }),
  }
}

function fieldsThatDiffer(before: Rule, after: Rule): ChangedRule['fields'] {
  return [
    ...(before.weight === after.weight ? [] : (['weight'] as const)),
    ...(before.meaning === after.meaning ? [] : (['meaning'] as const)),
    ...(plain(before.when) === plain(after.when) ? [] : (['when'] as const)),
    ...(before.isEnabled === after.isEnabled ? [] : (['enabled'] as const)),
  ]
}

/** Normalizes white space, so that line breaks in a condition do not count as a change. */
function plain(when: string): string {
  return when.trim().replaceAll(/\s+/g, ' ')
}

/** Summarizes changes, for example for a log: `2 added, 1 removed, 3 changed`. */
export function changesInWords({ added, removed, changed }: RuleChanges): string {
  const counts = [
    [added.length, 'added'],
    [removed.length, 'removed'],
    [changed.length, 'changed'],
  ] as const
  const words = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return words.length === 0 ? 'nothing changed' : words.join(', ')
}

/** Formats the changes as lines: `+` added, `-` removed, `~` changed. */
export function changeLines({ added, removed, changed }: RuleChanges): string[] {
  const whole = (mark: string, rule: Rule) => [
    `${mark} ${rule.symbol} (${signed(rule.weight)})${rule.isEnabled ? '' : ' off'}`,
    `    ${plain(rule.when)}`,
  ]
  const parts = ({ symbol, before, after, fields }: ChangedRule) => [
    `~ ${symbol}`,
    ...fields.flatMap((field) => {
      if (field === 'weight') return [`    ${signed(before.weight)} → ${signed(after.weight)}`]
      if (field === 'enabled') return [`    ${after.isEnabled ? 'off → on' : 'on → off'}`]
      return [`    - ${plain(before[field])}`, `    + ${plain(after[field])}`]
    }),
  ]
  return [
    ...added.flatMap((rule) => whole('+', rule)),
    ...removed.flatMap((rule) => whole('-', rule)),
    ...changed.flatMap(parts),
  ]
}

/** Formats a weight with its sign: `+2`, `-1.5`. */
export function signed(weight: number): string {
  return weight > 0 ? `+${weight}` : String(weight)
}
