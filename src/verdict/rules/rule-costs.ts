/** Milliseconds since some moment, never backward. Handed in, so that tests say what time it is. */
export type Elapsed = () => number

/** Why a rule is cut off: one evaluation took too long, all do, or all rules together do. */
export type RuleCutOff = { why: 'slow once' | 'slow always' | 'over budget'; costUs: number }

/** What is done with rules, each by its place. */
export type RuleDeeds = {
  ask: (at: number) => boolean
  /** Of one that holds. */
  take: (at: number) => void
  /** Asks only to see how long that takes. */
  askAgain: (at: number) => void
}

/** From here on one evaluation is too long, when it takes as long again. */
const SLOW_ONCE_MS = 10
const ASKED_AGAIN = 3
/** From here on a rule is too slow as it is: a thousand times what one should cost. */
const SLOW_ALWAYS_MS = 0.5
/** What all rules together may take of a message. */
const BUDGET_MS = 5
/** Rules between two looks at the clock. */
const STRETCH = 16
/** One run in this many is timed rule by rule. */
const SAMPLED_ONE_IN = 32
const SAMPLES = 15

/**
 * Watches what rules cost. The clock is read once for sixteen rules, and around each in one run of
 * 32, so a thousand rules stay cheap. What looks slow is asked again at once, three times: pauses
 * of the machine do not come in time for each. What is always slow is judged by the median of
 * fifteen samples.
 */
export class RuleCosts {
  readonly #elapsed: Elapsed
  readonly #onCutOff: (at: number, why: RuleCutOff) => void
  readonly #cutOffs: (RuleCutOff | undefined)[]
  /** Of each rule, one after another. */
  readonly #samples: Float64Array
  readonly #costs: (number | undefined)[]
  #runs = 0
  #sampled = 0

  constructor(rules: number, elapsed: Elapsed, onCutOff: (at: number, why: RuleCutOff) => void) {
    this.#elapsed = elapsed
    this.#onCutOff = onCutOff
    this.#cutOffs = Array.from({ length: rules }, () => undefined)
    this.#costs = Array.from({ length: rules }, () => undefined)
    this.#samples = new Float64Array(rules * SAMPLES)
  }

  /** Asks each rule that is not cut off, and takes those that hold. */
  run({ ask, take, askAgain }: RuleDeeds): void {
    const isSampled = this.#runs++ % SAMPLED_ONE_IN === 0
    for (let first = 0; first < this.#cutOffs.length; first += STRETCH) {
      const end = Math.min(first + STRETCH, this.#cutOffs.length)
      const begun = this.#elapsed()
      for (let at = first; at < end; at++) {
        if (this.#cutOffs[at] !== undefined) continue
        if (isSampled ? this.#sample(at, ask) : ask(at)) take(at)
      }
      if (this.#elapsed() - begun >= SLOW_ONCE_MS) this.#findSlow(first, end, askAgain)
    }
    if (isSampled && ++this.#sampled % SAMPLES === 0) this.#settle()
  }

  /** The median of what was timed last, in microseconds; undefined before there are enough. */
  costUs(at: number): number | undefined {
    const cost = this.#costs[at]
    return cost === undefined ? undefined : cost * 1000
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

  /** Finds what made a stretch slow, by asking each of it again. */
  #findSlow(first: number, end: number, askAgain: RuleDeeds['askAgain']): void {
    for (let at = first; at < end; at++) {
      if (this.#cutOffs[at] !== undefined) continue
      const took = this.#leastOf(ASKED_AGAIN, at, askAgain)
      if (took >= SLOW_ONCE_MS) this.#cut(at, 'slow once', took)
    }
  }

  /** The shortest of some evaluations; the first that is short enough settles it. */
  #leastOf(times: number, at: number, askAgain: RuleDeeds['askAgain']): number {
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
    const dearest = [...costs.keys()].sort((a, b) => (costs[b] ?? 0) - (costs[a] ?? 0))
    for (const at of dearest) {
      if (sum <= BUDGET_MS) return
      if (this.#cutOffs[at] !== undefined) continue
      sum -= costs[at] ?? 0
      this.#cut(at, 'over budget', costs[at] ?? 0)
    }
  }

  #cut(at: number, why: RuleCutOff['why'], tookMs: number): void {
    const cutOff = { why, costUs: Math.round(tookMs * 1000) }
    this.#cutOffs[at] = cutOff
    this.#onCutOff(at, cutOff)
  }
}

function medianOf(samples: Float64Array): number {
  return samples.toSorted()[Math.floor(SAMPLES / 2)] ?? 0
}
