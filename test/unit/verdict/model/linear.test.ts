import { expect, test } from 'vitest'
import {
  learnLinear,
  type LinearRow,
  sureScoreOf,
} from '../../../../src/verdict/model/learn-linear.ts'
import { factInputs, packLinear } from '../../../../src/verdict/model/linear.ts'
import { loadModel } from '../../../../src/verdict/model/load-model.ts'
import { ModelFault } from '../../../../src/verdict/model/model.ts'
import { pseudoRandom, type RowKind } from '../../../../src/verdict/model/training.ts'

const features = ['links.hosts', 'text.forms']
const [LURE, CHAT, PRIZE, RARE] = [11, 22, 33, 44] as const

/**
 * Returns rows of a kind, each of its own campaign, in which the given piece is among others that
 * mean nothing.
 */
function rowsOf(kind: RowKind, piece: number, hosts: number, count = 120): LinearRow[] {
  return Array.from({ length: count }, (_, at) => {
    const chance = (of: number) => Math.floor(pseudoRandom(`${kind} ${at}`, of) * 500) + 1_000
    const text = Uint32Array.from([piece, chance(1), chance(2), chance(3)])
    const facts = factInputs(Float64Array.from([hosts, 0]))
    return { kind, campaign: `${kind} ${at}`, text, facts }
  })
}

const rows = [
  ...rowsOf('phishing', LURE, 3),
  ...rowsOf('spam', PRIZE, 3),
  ...rowsOf('ham', CHAT, 1),
]
const own = { seed: 1, isOwn: true }
const learned = learnLinear(rows, features, own)
const content = packLinear(learned.weights)
const model = loadModel({ version: 5, format: 'linear', content, calibration: learned.calibration })
const facts = (hosts: number) => ({ links: { hosts } })
const pieces = (...of: number[]) => Uint32Array.from(of)

test('a model learns from text and facts what is unwanted, and which of it is phishing', () => {
  const lure = model.apply(facts(3), [], pieces(LURE))
  expect(lure).toMatchObject({ isSure: true, isPhishing: true })
  expect(lure.probability).toBeGreaterThan(0.9)
  expect(model.apply(facts(3), [], pieces(PRIZE))).toMatchObject({ isPhishing: false })
  const chat = model.apply(facts(1), [], pieces(CHAT))
  expect(chat.isSure).toBe(false)
  expect(chat.probability).toBeLessThan(0.1)
  const between = model.apply(facts(3), [], pieces(CHAT)).probability
  expect(between).toBeGreaterThan(chat.probability)
  expect(between).toBeLessThan(lure.probability)
})

test.for([
  [
    'of other mail',
    () => packLinear(learnLinear(rows, features, { ...own, isOwn: false }).weights),
  ],
  ['of an earlier version, which does not say what it learned from', () => withoutOrigin(content)],
] as const)('a model %s is never sure, and orders messages as before', ([, bytes]) => {
  const { calibration } = learned
  const other = loadModel({ version: 6, format: 'linear', content: bytes(), calibration })
  const [lure, between, chat] = (
    [
      [3, LURE],
      [3, CHAT],
      [1, CHAT],
    ] as const
  ).map(([hosts, piece]) => other.apply(facts(hosts), [], pieces(piece)))
  expect(lure).toMatchObject({ isSure: false, isPhishing: true })
  expect(lure?.probability).toBeGreaterThan(0.7)
  expect(lure?.probability).toBeLessThan(0.881)
  expect(between?.probability).toBeLessThan(lure?.probability ?? 0)
  expect(between?.probability).toBeGreaterThan(chat?.probability ?? 1)
  expect(chat?.probability).toBeGreaterThan(0.119)
})

/** Removes what a model says about its origin, as before that was stored. */
function withoutOrigin(packed: Buffer): Buffer {
  const start = 4 + packed.readUInt32BE(0)
  const { isOwn: _, ...rest } = JSON.parse(packed.toString('utf8', 4, start)) as { isOwn: boolean }
  const head = Buffer.from(JSON.stringify(rest))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, packed.subarray(start)])
}

test('without the text, the facts decide', () => {
  expect(model.readsText).toBe(true)
  expect(model.apply(facts(3), []).probability).toBeGreaterThan(
    model.apply(facts(1), []).probability,
  )
})

test('the same rows and the same seed give the same model', () => {
  expect(packLinear(learnLinear(rows, features, own).weights).equals(content)).toBe(true)
  expect(packLinear(learnLinear(rows, features, { ...own, seed: 2 }).weights).equals(content)).toBe(
    false,
  )
})

test('a piece that occurs in few campaigns is not learned', () => {
  const copies = rowsOf('phishing', RARE, 3, 40).map((row, at) => {
    return { ...row, campaign: `copies ${at % 2}` }
  })
  const { weights } = learnLinear([...rows, ...copies], features, own)
  expect(weights.unwanted[RARE]).toBe(0)
  expect(weights.unwanted[LURE]).toBeGreaterThan(0.1)
})

const hams = (scores: readonly number[]) => scores.map((score) => ({ kind: 'ham', score }) as const)

test('nearly always, at most one wanted message in 2,000 exceeds the sure score', () => {
  const [mean, deviation] = [-1, 0.3]
  const normal = (at: number, seed: number) => {
    const [a, b] = [pseudoRandom(String(at), seed), pseudoRandom(String(at), -seed)]
    return mean + deviation * Math.sqrt(-2 * Math.log(a)) * Math.cos(2 * Math.PI * b)
  }
  const sure = Array.from({ length: 40 }, (_, sample) => {
    return sureScoreOf(hams(Array.from({ length: 200 }, (__, at) => normal(at, sample + 1)))) ?? 0
  })
  // The quantile of a normal distribution at 1 in 2,000.
  const right = mean + 3.29 * deviation
  expect(sure.filter((score) => score >= right).length).toBeGreaterThanOrEqual(34)
  expect(Math.max(...sure)).toBeLessThan(right + deviation)
})

test('a known exception raises the sure score, and fifty messages are needed', () => {
  const scores = Array.from({ length: 300 }, (_, at) => (at === 0 ? 5 : -1 - at / 1_000))
  expect(sureScoreOf(hams(scores))).toBe(5)
  expect(sureScoreOf(hams(scores.slice(0, 49)))).toBeUndefined()
})

test('a few newsletters raise the sure score, although most wanted mail is far from it', () => {
  const spread = (kind: RowKind, count: number, mean: number) =>
    Array.from({ length: count }, (_, at) => ({ kind, score: mean + ((at % 7) - 3) / 10 }))
  const letters = spread('ham', 2_000, -1)
  const alone = sureScoreOf(letters) ?? 0
  const both = sureScoreOf([...letters, ...spread('newsletter', 60, -0.2)]) ?? 0
  expect(both).toBeGreaterThan(alone + 0.6)
})

test('every step of an amount is an input, and negative amounts have their own', () => {
  const [none, some, more, less] = [0, 1, 40, -40].map((value) =>
    factInputs(Float64Array.of(value)),
  )
  expect(none).toHaveLength(0)
  expect(new Set(more).isSupersetOf(new Set(some))).toBe(true)
  expect(new Set(less).isDisjointFrom(new Set(more))).toBe(true)
})

test.for([
  ['cut off', () => content.subarray(0, content.length - 9)],
  ['with a header that is too long', () => Buffer.concat([Buffer.alloc(4, 0xff), content])],
] as const)('a model %s is refused', ([, bytes]) => {
  const kept = { version: 1, format: 'linear', content: bytes() } as const
  expect(() => loadModel({ ...kept, calibration: learned.calibration })).toThrow(ModelFault)
})
