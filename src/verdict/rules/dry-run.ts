import type { Facts } from '../facts/fact.ts'
import type { Estimate } from '../model/model.ts'
import type { Verdict, VerdictClass, VerdictSymbol } from '../verdict.ts'
import type { RuleBook } from './rule-book.ts'

/** Decides a verdict, with the same function as for new messages. */
export type Conclude = (judging: {
  facts: Facts
  symbols: readonly VerdictSymbol[]
  estimate?: Estimate | undefined
}) => Verdict

/** A report whose verdict would change. */
export type ChangedVerdict = {
  id: string
  before: VerdictClass
  after: VerdictClass
  scoreBefore: number
  scoreAfter: number
  gained: readonly string[]
  lost: readonly string[]
}

export type DryRunResult = {
  reports: number
  /** Number of verdicts that would change; `changed` has the first `CHANGED_MAX` of them. */
  changedTotal: number
  changed: readonly ChangedVerdict[]
  /** Number of reports for each pair of old and new class. */
  moves: readonly { before: VerdictClass; after: VerdictClass; reports: number }[]
  /** Number of times each symbol would be raised, for symbols where it differs. */
  symbols: readonly { symbol: string; before: number; after: number }[]
  /** Number of failed evaluations of each new rule. A failed condition does not hold. */
  errors: readonly { symbol: string; errors: number }[]
  /** New rules that were cut off because they cost too much. */
  cutOff: readonly string[]
}

/** Default and maximum number of reports in a dry run. */
export const dryRunReports = { usual: 1_000, max: 100_000 } as const

/** Maximum number of changed verdicts listed; further ones are only counted. */
const CHANGED_MAX = 500

/**
 * Judges past reports under two sets of rules, using the facts stored when each report was judged.
 * So all differences come from the rules.
 */
export class DryRun {
  readonly #acting: RuleBook
  readonly #candidate: RuleBook
  readonly #judge: Conclude
  readonly #changed: ChangedVerdict[] = []
  readonly #moves = new Map<string, DryRunResult['moves'][number]>()
  readonly #raised = new Map<string, { before: number; after: number }>()
  #reports = 0
  #changedTotal = 0

  constructor(acting: RuleBook, candidate: RuleBook, judge: Conclude) {
    this.#acting = acting
    this.#candidate = candidate
    this.#judge = judge
  }

  /** Judges one more report; `estimate` is what the model said at that time. */
  look(id: string, facts: Facts, estimate: Estimate | undefined): void {
    const [old, fresh] = [this.#acting.run(facts), this.#candidate.run(facts)]
    const before = this.#judge({ facts, symbols: old, estimate })
    const after = this.#judge({ facts, symbols: fresh, estimate })
    this.#reports++
    for (const { name } of old) this.#raisedOf(name).before++
    for (const { name } of fresh) this.#raisedOf(name).after++
    if (before.class === after.class) return
    this.#changedTotal++
    this.#count(before.class, after.class)
    if (this.#changed.length >= CHANGED_MAX) return
    this.#changed.push({
      id,
      before: before.class,
      after: after.class,
      scoreBefore: before.score,
      scoreAfter: after.score,
      gained: namesWithout(fresh, old),
      lost: namesWithout(old, fresh),
    })
  }

  result(): DryRunResult {
    const moves = [...this.#moves.values()].toSorted((a, b) => b.reports - a.reports)
    const symbols = [...this.#raised]
      .map(([symbol, counts]) => ({ symbol, ...counts }))
      .filter(({ before, after }) => before !== after)
      .toSorted((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    const health = this.#candidate.health()
    return {
      reports: this.#reports,
      changedTotal: this.#changedTotal,
      changed: this.#changed,
      moves,
      symbols,
      errors: health
        .filter(({ errors }) => errors > 0)
        .map(({ symbol, errors }) => ({ symbol, errors })),
      cutOff: health.filter(({ cutOff }) => cutOff).map(({ symbol }) => symbol),
    }
  }

  #count(before: VerdictClass, after: VerdictClass): void {
    const key = `${before} ${after}`
    const known = this.#moves.get(key)
    this.#moves.set(key, { before, after, reports: (known?.reports ?? 0) + 1 })
  }

  #raisedOf(symbol: string): { before: number; after: number } {
    return this.#raised.getOrInsertComputed(symbol, () => ({ before: 0, after: 0 }))
  }
}

function namesWithout(some: readonly VerdictSymbol[], others: readonly VerdictSymbol[]): string[] {
  const known = new Set(others.map(({ name }) => name))
  return some.map(({ name }) => name).filter((name) => !known.has(name))
}
