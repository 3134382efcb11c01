import { deflateSync, inflateSync } from 'node:zlib'
import { z } from 'zod'
import { TEXT_ROWS } from '../../pieces/text-pieces.ts'
import type { Facts } from '../facts/fact.ts'
import { featureReader } from './features.ts'
import { type KeptModel, logistic, type Model, ModelFault, restrain } from './model.ts'

/**
 * Bounds of the steps into which the amount of a feature is divided. Each bound that an amount
 * exceeds is an input of its own, so that a sum of weights can follow any curve.
 */
const STEPS = [0, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 512, 2048, 8192, 65_536] as const
/** Inputs of a feature: those of positive amounts, then those of negative ones. */
const INPUTS_OF_FEATURE = 2 * STEPS.length
/** Length of the vector of facts. That of the text is 1. */
const FACTS_LENGTH = 0.6

/** What a linear model reads of one message: the inputs that are set. */
export type Inputs = {
  /** Rows of pieces of the text, 0 to `TEXT_ROWS - 1`. */
  text: Uint32Array
  /** Steps of features, from `TEXT_ROWS` on. */
  facts: Uint32Array
}

/** Number of inputs of a model with some features. The bias is stored after them. */
export function countInputs(features: number): number {
  return TEXT_ROWS + features * INPUTS_OF_FEATURE
}

/** The index of the feature to which an input belongs. */
export function featureOfInput(input: number): number {
  return Math.floor((input - TEXT_ROWS) / INPUTS_OF_FEATURE)
}

export function factInputs(values: Float64Array): Uint32Array {
  const set: number[] = []
  for (const [feature, value] of values.entries()) {
    const amount = Math.abs(value)
    const first = countInputs(feature) + (value < 0 ? STEPS.length : 0)
    for (let step = 0; step < STEPS.length && amount > (STEPS[step] ?? 0); step++) {
      set.push(first + step)
    }
  }
  return Uint32Array.from(set)
}

/** The value of each input of a group of which `count` are set: its vector has a fixed length. */
export function textValue(count: number): number {
  return 1 / Math.sqrt(Math.max(1, count))
}

export function factValue(count: number): number {
  return FACTS_LENGTH / Math.sqrt(Math.max(1, count))
}

/** The weights that were learned; 0 for an input that the model does not use. */
export type LinearWeights = {
  features: readonly string[]
  /** Positive for unwanted mail; the last is the bias. */
  unwanted: Float64Array
  /** Among unwanted mail, positive for phishing; the last is the bias. */
  phishing: Float64Array
  /** The score above which a message is surely unwanted; absent if it is not known. */
  sureScore?: number | undefined
  /** Whether the model was trained only on mail of the site. */
  isOwn: boolean
}

const header = z.object({
  features: z.array(z.string().max(200)).max(5_000),
  scales: z.tuple([z.number().positive(), z.number().positive()]),
  biases: z.tuple([z.number(), z.number()]),
  sureScore: z.number().optional(),
  // Models of earlier versions do not say it.
  isOwn: z.boolean().default(false),
})

const BYTES_MAX = 64_000_000
const INT_MAX = 32_767

/**
 * Packs a model: the length of the header in four bytes, a header in JSON, and the compressed
 * weights of both outputs as 16-bit numbers.
 */
export function packLinear(weights: LinearWeights): Buffer {
  const { features, unwanted, phishing, sureScore, isOwn } = weights
  const count = countInputs(features.length)
  const packed = [unwanted, phishing].map((weights) => packWeights(weights.subarray(0, count)))
  const head = Buffer.from(
    JSON.stringify({
      features,
      scales: packed.map(({ scale }) => scale),
      biases: [unwanted[count] ?? 0, phishing[count] ?? 0],
      sureScore,
      isOwn,
    } satisfies Record<keyof z.infer<typeof header>, unknown>),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  const numbers = packed.map(({ numbers: { buffer } }) => Buffer.from(buffer))
  return Buffer.concat([length, head, deflateSync(Buffer.concat(numbers))])
}

/** Rounds weights to 16 bits. A weight that is not 0 does not become 0. */
function packWeights(weights: Float64Array): { scale: number; numbers: Int16Array<ArrayBuffer> } {
  const most = weights.reduce((max, weight) => Math.max(max, Math.abs(weight)), 0)
  const scale = most === 0 ? 1 : most / INT_MAX
  const numbers = new Int16Array(weights.length)
  for (const [at, weight] of weights.entries()) {
    if (weight !== 0) numbers[at] = Math.round(weight / scale) || Math.sign(weight)
  }
  return { scale, numbers }
}

/**
 * Loads a model made by `signalpost train`.
 *
 * @throws ModelFault when the model cannot be read
 */
export function loadLinear({ version, content, calibration }: Omit<KeptModel, 'format'>): Model {
  const { features, scales, biases, sureScore, isOwn, unwanted, phishing } = unpackLinear(content)
  const read = featureReader(features)
  if (!read) throw new ModelFault('The model was not trained by Signalpost: unknown features.')
  const apply = (
    facts: Facts,
    symbols: readonly { name: string }[],
    text: Uint32Array = noText,
  ) => {
    const inputs = { text, facts: factInputs(read(facts, symbols)) }
    const score = biases[0] + scales[0] * sumOf(unwanted, inputs)
    const logOdds = calibration.slope * score + calibration.intercept
    const isSure = isOwn && sureScore !== undefined && score > sureScore
    const isPhishing = biases[1] + scales[1] * sumOf(phishing, inputs) > 0
    return { probability: logistic(isOwn ? logOdds : restrain(logOdds)), isSure, isPhishing }
  }
  return { version, features, readsText: true, apply }
}

const noText = new Uint32Array()

function unpackLinear(content: Uint8Array) {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  try {
    if (bytes.length > BYTES_MAX) throw new Error(`larger than ${BYTES_MAX / 1e6} MB`)
    const start = 4 + bytes.readUInt32BE(0)
    const head = header.parse(JSON.parse(bytes.toString('utf8', 4, start)))
    const size = countInputs(head.features.length) * Int16Array.BYTES_PER_ELEMENT
    const numbers = inflateSync(bytes.subarray(start), { maxOutputLength: 2 * size })
    if (numbers.length !== 2 * size) throw new Error('incomplete')
    const own = new Int16Array(new Uint8Array(numbers).buffer)
    const half = own.length / 2
    return { ...head, unwanted: own.subarray(0, half), phishing: own.subarray(half) }
  } catch (cause) {
    throw new ModelFault('The model cannot be read: it was not trained by Signalpost.', { cause })
  }
}

/** Sums the weights of the inputs that the model uses, times their values. */
function sumOf(weights: Int16Array, { text, facts }: Inputs): number {
  const ofText = sumOfGroup(weights, text)
  const ofFacts = sumOfGroup(weights, facts)
  return ofText.sum * textValue(ofText.used) + ofFacts.sum * factValue(ofFacts.used)
}

function sumOfGroup(weights: Int16Array, inputs: Uint32Array): { sum: number; used: number } {
  let [sum, used] = [0, 0]
  for (const input of inputs) {
    const weight = weights[input] ?? 0
    if (weight === 0) continue
    sum += weight
    used++
  }
  return { sum, used }
}
