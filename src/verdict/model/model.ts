import type { Facts } from '../facts/fact.ts'

/**
 * Decision trees as flat arrays. A node has a feature and a border: values above the border go to
 * `right`, others to `left`. A child below 0 is a leaf, with the index `-1 - child` in `leaves`.
 */
export type Trees = {
  roots: Int32Array
  features: Int32Array
  borders: Float64Array
  left: Int32Array
  right: Int32Array
  leaves: Float64Array
}

/** Sums the leaf values of a row over all trees. Compares in single precision, as CatBoost does. */
export function sumOfLeaves(trees: Trees, row: Float64Array): number {
  const { roots, features, borders, left, right, leaves } = trees
  let sum = 0
  for (const root of roots) {
    let node = root
    while (node >= 0) {
      const value = Math.fround(row[features[node] ?? 0] ?? 0)
      node = (value > (borders[node] ?? 0) ? right : left)[node] ?? -1
    }
    sum += leaves[-1 - node] ?? 0
  }
  return sum
}

/** Collects nodes and leaves while trees are parsed. */
export class TreeBuilder {
  readonly #roots: number[] = []
  readonly #features: number[] = []
  readonly #borders: number[] = []
  readonly #left: number[] = []
  readonly #right: number[] = []
  readonly #leaves: number[] = []

  get size(): number {
    return this.#leaves.length + this.#features.length
  }

  addRoot(root: number): void {
    this.#roots.push(root)
  }

  addLeaf(value: number): number {
    return -this.#leaves.push(value)
  }

  /** Adds a node whose children are set later. */
  addNode(feature: number, border: number): number {
    this.#borders.push(border)
    this.#left.push(-1)
    this.#right.push(-1)
    return this.#features.push(feature) - 1
  }

  setChild(node: number, side: 'left' | 'right', child: number): void {
    const children = side === 'left' ? this.#left : this.#right
    children[node] = child
  }

  build(): Trees {
    return {
      roots: Int32Array.from(this.#roots),
      features: Int32Array.from(this.#features),
      borders: Float64Array.from(this.#borders),
      left: Int32Array.from(this.#left),
      right: Int32Array.from(this.#right),
      leaves: Float64Array.from(this.#leaves),
    }
  }
}

/** Format of a stored model: written by `signalpost train`, or by CatBoost as JSON. */
export type ModelFormat = 'linear' | 'catboost'

/**
 * Converts the output of a model to a probability: log odds times `slope`, plus `intercept`
 * (Platt 1999). Slope 1 and intercept 0 change nothing.
 */
export type Calibration = { slope: number; intercept: number }

/** A model as stored in the database, not yet loaded. */
export type KeptModel = {
  version: number
  format: ModelFormat
  content: Uint8Array
  calibration: Calibration
}

/** What a model says about a message. */
export type Estimate = {
  /** The probability that the message is unwanted, 0 to 1; NaN when the sums overflow. */
  probability: number
  /**
   * Whether hardly any wanted message gets such a result, so that it decides without other
   * evidence. Always false for an imported model, and for one that was not trained on mail of the
   * site.
   */
  isSure: boolean
  /** Whether the message, if it is unwanted, is phishing. */
  isPhishing: boolean
}

export type Model = {
  version: number
  /** Names of the model’s features, see `features.ts`. */
  features: readonly string[]
  readsText: boolean
  /**
   * Estimates from facts, symbols and the pieces of the text (`pieces/text-pieces.ts`) whether a
   * message is unwanted. Deterministic across processes.
   */
  apply: (facts: Facts, symbols: readonly { name: string }[], text?: Uint32Array) => Estimate
}

/**
 * Thrown when bytes are not a usable model. The message explains the reason to the person who
 * imported it.
 */
export class ModelFault extends Error {
  override name = 'ModelFault'
}

/** Maximum log odds of a model that was not trained on mail of the site: a probability of 88 %. */
const OTHERS_ODDS_MAX = 2

/**
 * Bounds the log odds of a model that was not trained on mail of the site, and keeps their order.
 * Such a model is wrong far more often here than where it was measured.
 */
export function restrain(logOdds: number): number {
  return OTHERS_ODDS_MAX * Math.tanh(logOdds / OTHERS_ODDS_MAX)
}

/** Converts log odds to a probability. */
export function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}
