/**
 * Returns monotonic time in milliseconds since some fixed moment. Passed as a parameter, so that
 * tests can control the time.
 */
export type Elapsed = () => number

/**
 * Why a rule is cut off: a single evaluation was too slow, its median is too slow, or all rules
 * together are.
 */
export type RuleCutOff = { why: 'slow once' | 'slow always' | 'over budget'; costUs: number }

/** Callbacks that evaluate the rules, each given the index of a rule. */
export type RuleStatistics = {
  ask: (at: number) => boolean
  /** Called for a rule that holds. */
  take: (at: number) => void
  /** Evaluates a rule again, only to measure its time. */
  askAgain: (at: number) => void
}

/**
 * If a group of rules takes this many milliseconds, each of its rules is evaluated again, up to
 * three times. A rule that takes as long every time is too slow.
 */
const SLOW_ONCE_MS = 10
const ASKED_AGAIN = 3
/** Median time in milliseconds from which a rule is too slow: a thousand times the usual cost. */
const SLOW_ALWAYS_MS = 0.5
/** Maximum time in milliseconds for all rules together, for one message. */
const BUDGET_MS = 5
/** Number of rules between two readings of the clock. */
const RULES_PER_READING = 16
/** One run in this many measures each rule. The median is taken over `SAMPLES` measurements. */
const SAMPLED_ONE_IN = 32
const SAMPLES = 15

/**
 * Measures the cost of rules. Reads the clock once for 16 rules, and before and after each rule in
 * one run of 32, so that measuring a thousand rules is cheap. Slow evaluations are repeated
 * immediately, three times, because a pause of the machine does not affect all of them. A rule that
 * is always slow is found by the median of 15 samples.
 */
export class RuleCosts {
  readonly #elapsed: Elapsed
  readonly #onCutOff: (at: number, why: RuleCutOff) => void
  readonly #cutOffs: (RuleCutOff | undefined)[]
  /** The samples of all rules, `SAMPLES` for each. */
  readonly #samples: Float64Array
  readonly #costs: (number | undefined)[]
  #runs = 0
  #sampled = 0
  #hasCutOffs = false

  constructor(rules: number, elapsed: Elapsed, onCutOff: (at: number, why: RuleCutOff) => void) {
    this.#elapsed = elapsed
    this.#onCutOff = onCutOff
    this.#cutOffs = Array.from({ length: rules }, () => undefined)
    this.#costs = Array.from({ length: rules }, () => undefined)
    this.#samples = new Float64Array(rules * SAMPLES)
  }

  /** Evaluates each rule that is not cut off, and calls `take` for those that hold. */
  run({ ask, take, askAgain }: RuleStatistics): void {
    const isSampled = this.#runs++ % SAMPLED_ONE_IN === 0
    for (let first = 0; first < this.#cutOffs.length; first += RULES_PER_READING) {
      const end = Math.min(first + RULES_PER_READING, this.#cutOffs.length)
      const begun = this.#elapsed()
      for (let at = first; at < end; at++) {
        if (this.#cutOffs[at] !== undefined) continue
        if (isSampled ? this.#sample(at, ask) : ask(at)) take(at)
      }
      if (this.#elapsed() - begun >= SLOW_ONCE_MS) this.#findSlow(first, end, askAgain)
    }
    if (isSampled && ++this.#sampled % SAMPLES === 0) this.#settle()
  }

  /** The latest median in microseconds; undefined before there are enough samples. */
  costUs(at: number): number | undefined {
    const cost = this.#costs[at]
    return cost === undefined ? undefined : cost * 1000
  }

  get hasCutOffs(): boolean {
    return this.#hasCutOffs
  }

  cutOff(at: number): RuleCutOff | undefined {
    return this.#cutOffs[at]
  }

  #sample(at: number, ask: (at: number) => boolean): boolean {
    const begun = this.#elapsed()
    const holds = ask(at)
    this.#samples[at * SAMPLES + (this.#sampled % SAMPLES)] = this.#elapsed() - begun
    return holds
  }

  /** Cuts off the rules of a group that are slow when evaluated again. */
  #findSlow(first: number, end: number, askAgain: RuleStatistics['askAgain']): void {
    for (let at = first; at < end; at++) {
      if (this.#cutOffs[at] !== undefined) continue
      const took = this.#leastOf(ASKED_AGAIN, at, askAgain)
      if (took >= SLOW_ONCE_MS) this.#cut(at, 'slow once', took)
    }
  }

  /**
   * Returns the shortest time of several evaluations; stops at the first one that is fast enough.
   */
  #leastOf(times: number, at: number, askAgain: RuleStatistics['askAgain']): number {
    let least = Number.POSITIVE_INFINITY
    for (let time = 0; time < times && least >= SLOW_ONCE_MS; time++) {
      const begun = this.#elapsed()
      askAgain(at)
      least = Math.min(least, this.#elapsed() - begun)
    }
    return least
  }

  #settle(): void {
    let sum = 0
    const costs = this.#costs
    for (const [at, cutOff] of this.#cutOffs.entries()) {
      if (cutOff !== undefined) continue
      const cost = medianOf(this.#samples.subarray(at * SAMPLES, (at + 1) * SAMPLES))
      costs[at] = cost
      if (cost >= SLOW_ALWAYS_MS) this.#cut(at, 'slow always', cost)
      else sum += cost
    }
    if (sum <= BUDGET_MS) return
    const mostExpensive = [...costs.keys()].sort((a, b) => (costs[b] ?? 0) - (costs[a] ?? 0))
    for (const at of mostExpensive) {
      if (sum <= BUDGET_MS) return
      if (this.#cutOffs[at] !== undefined) continue
      sum -= costs[at] ?? 0
      this.#cut(at, 'over budget', costs[at] ?? 0)
    }
  }

  #cut(at: number, why: RuleCutOff['why'], tookMs: number): void {
    const cutOff = { why, costUs: Math.round(tookMs * 1000) }
    this.#cutOffs[at] = cutOff
    this.#hasCutOffs = true
    this.#onCutOff(at, cutOff)
  }
}

function medianOf(samples: Float64Array): number {
  return samples.toSorted()[Math.floor(SAMPLES / 2)] ?? 0
}
