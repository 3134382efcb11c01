import type { Facts } from '../facts/fact.ts'

/**
 * Trees as flat arrays. A node holds the feature it looks at and a border; from a value above the
 * border it goes to `right`, else to `left`. Children below 0 are leaves: `-1 - index` in `leaves`.
 */
export type Trees = {
  roots: Int32Array
  features: Int32Array
  borders: Float64Array
  left: Int32Array
  right: Int32Array
  leaves: Float64Array
}

/**
 * The sum of the leaves that a row falls into, one of each tree. Values are compared as CatBoost
 * does, in single precision.
 */
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

/** Gathers nodes and leaves while trees are read. */
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

  /** A node whose children are set later. */
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

/** How the bytes of a model are written: by `signalpost train`, or by CatBoost as JSON. */
export type ModelFormat = 'ydf' | 'catboost'

/**
 * What makes a probability of what the trees say: their log odds times `slope`, plus `intercept`
 * (Platt 1999). `1` and `0` leave it as it is.
 */
export type Calibration = { slope: number; intercept: number }

/** A model as it is kept. */
export type KeptModel = {
  version: number
  format: ModelFormat
  content: Uint8Array
  calibration: Calibration
}

/** A model that can be asked. */
export type Model = {
  version: number
  /** The names of what it looks at, see `features.ts`. */
  features: readonly string[]
  /**
   * How likely the message is unwanted, 0 to 1, from its facts and the symbols that were raised.
   * The same for the same, in any process. NaN where its sums are none.
   */
  apply: (facts: Facts, symbols: readonly { name: string }[]) => number
  /** Gives its memory back. It must not be asked any more. */
  close: () => void
}

/** The bytes are no model that could be applied; the message says why, for who brought them. */
export class ModelFault extends Error {
  override name = 'ModelFault'
}

/** The probability that log odds stand for. */
export function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/**
 * The log odds of a probability; of those beyond a millionth of certainty, those of a millionth.
 */
export function logit(probability: number): number {
  const bounded = Math.min(Math.max(probability, 1e-6), 1 - 1e-6)
  return Math.log(bounded / (1 - bounded))
}
