import type { FactDefinition, Facts, FactValue } from '../facts/fact.ts'
import { basisOf, type VerdictSymbol } from '../verdict.ts'
import type { Condition } from './condition.ts'
import type { Rule } from './rule.ts'
import { RuleCosts, type Elapsed, type RuleCutOff } from './rule-costs.ts'

/** A rule with its condition, ready to be asked. */
export type RuleWithCondition = Rule & { condition: Condition }

/** How one rule has done in this process since this version began to act. */
export type RuleHealth = {
  symbol: string
  /** How long an evaluation takes, in microseconds; undefined before enough were timed. */
  costUs: number | undefined
  /** Evaluations that failed, and so did not hold. */
  errors: number
  /** Why it is not run any more. */
  cutOff: RuleCutOff | undefined
}

/** Tells that a rule is not run any more, once for each. */
export type OnCutOff = (symbol: string, why: RuleCutOff) => void

const sparedMeaning =
  'It cost too much to be asked: it is taken to hold, so that nobody is accused for want of it.'

/**
 * A set of rules that acts. Given an `elapsed`, it times itself: a rule that costs too much is cut
 * off, and from then on holds for no message if it speaks for spam, and for each if it speaks
 * against: in doubt nobody is accused. The set itself never changes.
 */
export class RuleBook {
  /** All rules as written, in order; those that are off, too. */
  readonly rules: readonly Rule[]
  readonly #active: readonly RuleWithCondition[]
  readonly #symbols: readonly VerdictSymbol[]
  readonly #facts: readonly { key: string; group: string; name: string; empty: FactValue }[]
  readonly #errors: number[]
  readonly #costs: RuleCosts | undefined

  constructor(
    rules: readonly RuleWithCondition[],
    definitions: readonly FactDefinition[],
    timing: { elapsed?: Elapsed | undefined; onCutOff?: OnCutOff | undefined } = {},
  ) {
    this.rules = rules
    this.#active = rules.filter(({ isEnabled }) => isEnabled)
    this.#symbols = this.#active.map(({ symbol, weight, meaning, condition }) => ({
      name: symbol,
      weight,
      meaning,
      basis: basisOf(condition.facts.map(groupOf)),
    }))
    const used = new Set(this.#active.flatMap(({ condition }) => condition.facts))
    this.#facts = definitions
      .map(({ group, name, type }) => ({
        key: `${group}.${name}`,
        group,
        name,
        empty: emptyFacts[type],
      }))
      .filter(({ key }) => used.has(key))
    this.#errors = this.#active.map(() => 0)
    if (timing.elapsed) {
      const told = (at: number, why: RuleCutOff) =>
        timing.onCutOff?.(this.#active[at]?.symbol ?? '', why)
      this.#costs = new RuleCosts(this.#active.length, timing.elapsed, told)
    }
  }

  /**
   * The symbols of a message, in the order of the rules. A condition that cannot be evaluated does
   * not hold; facts that are missing have the empty value. Never throws.
   */
  run(facts: Facts): VerdictSymbol[] {
    const values: Record<string, FactValue> = {}
    for (const { key, group, name, empty } of this.#facts)
      values[key] = facts[group]?.[name] ?? empty
    const found: VerdictSymbol[] = []
    const ask = (at: number) => this.#holds(at, values)
    const askAgain = (at: number) => void this.#evaluate(at, values)
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

  /** How each rule that is on has done. */
  health(): RuleHealth[] {
    return this.#active.map(({ symbol }, at) => ({
      symbol,
      costUs: this.#costs?.costUs(at),
      errors: this.#errors[at] ?? 0,
      cutOff: this.#costs?.cutOff(at),
    }))
  }

  #holds(at: number, values: Record<string, FactValue>): boolean {
    const answer = this.#evaluate(at, values)
    if (answer === 'error') this.#errors[at] = (this.#errors[at] ?? 0) + 1
    return answer === true
  }

  /** Adds what was cut off and speaks against, unless it was cut off by this very message. */
  #spare(found: VerdictSymbol[], costs: RuleCosts): void {
    for (const [at, symbol] of this.#symbols.entries()) {
      if (symbol.weight >= 0 || !costs.cutOff(at) || found.includes(symbol)) continue
      found.push({ ...symbol, meaning: sparedMeaning })
    }
  }

  #evaluate(at: number, values: Record<string, FactValue>): boolean | 'error' {
    try {
      return this.#active[at]?.condition.holds(values) === true
    } catch {
      return 'error'
    }
  }
}

const emptyFacts = { bool: false, double: 0, string: '', strings: [] } as const

/** The group of a fact that is written `group.name`. */
function groupOf(fact: string): string {
  return fact.slice(0, fact.indexOf('.'))
}
