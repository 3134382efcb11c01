import { analyzeForCounting, analyzeMessage, analyzePlainly } from '../../src/pieces/analyze.ts'
import { type Findings, takeApart, takeApartPacked } from '../../src/pieces/shingles/take-apart.ts'
import { parseBody } from '../../src/mail/message.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { percentiles, printTable, readCorpus } from './corpus.ts'

const ROUNDS = 14
const ROUNDS_TO_WARM_UP = 5
const options = { trustedRelays: [], ignoreStamps: true }

/**
 * Measures shingles and fingerprints beside the rest of the analysis, on one core. Each message
 * goes through all steps in turn; the best round counts, because other programs use the machine
 * too.
 */
export async function benchShingles(): Promise<void> {
  const messages = readCorpus(['phishing', 'newsletters', 'spam', 'ham'])
  const parse = new Stopwatch('the body is read, for comparison')
  const apart = new Stopwatch('extraction of the pieces, as the counters need them')
  const named = new Stopwatch('the same, with names and digits for display')
  const plain = new Stopwatch('the analysis without the pieces')
  const whole = new Stopwatch('the analysis with the pieces, as the counters need them')
  const counts: number[] = []
  for (const raw of messages) {
    const header = parseHeader(raw)
    const findings = await findingsOf(raw)
    counts.push(takeApart(findings).shingles.length)
    parse.add(async () => parseBody(raw, header))
    apart.add(async () => takeApartPacked(findings))
    named.add(async () => takeApart(findings))
    plain.add(async () => analyzePlainly(raw, options))
    whole.add(async () => analyzeForCounting(raw, options))
  }
  const watches = [parse, apart, named, plain, whole]
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of messages.keys()) {
      for (const watch of watches) await watch.run(at, round >= ROUNDS_TO_WARM_UP)
    }
  }
  const base = meanOf(parse.bests())
  const rows = watches.map((watch) => {
    const bests = watch.bests()
    const mean = meanOf(bests)
    const { p50, p99 } = percentiles(bests)
    const figures = [mean, p50, p99].map((value) => value.toFixed(0))
    return [watch.name, ...figures, (mean / base).toFixed(2)]
  })
  printTable(['µs a message', 'mean', 'median', 'p99', 'ratio'], rows)
  const { p50, max } = percentiles(counts)
  console.log(`\n${messages.length} messages; shingles of one: median ${p50}, at most ${max}`)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

async function findingsOf(raw: Buffer): Promise<Findings> {
  const header = parseHeader(raw)
  const { hops, origin, submitter, links, attachments } = await analyzeMessage(raw, options)
  const body = await parseBody(raw, header)
  const way = { hops, origin, submitter }
  return { ...way, fields: header.fields, body, links, attachments, signers: [] }
}

/** Measures a function on each message. */
class Stopwatch {
  readonly name: string
  readonly #works: (() => Promise<unknown>)[] = []
  readonly #microseconds: number[][] = []

  constructor(name: string) {
    this.name = name
  }

  add(work: () => Promise<unknown>): void {
    this.#works.push(work)
    this.#microseconds.push([])
  }

  async run(at: number, isKept: boolean): Promise<void> {
    const started = performance.now()
    await this.#works[at]?.()
    const taken = (performance.now() - started) * 1000
    if (isKept) this.#microseconds[at]?.push(taken)
  }

  /** The best times per message. */
  bests(): number[] {
    return this.#microseconds.map((values) => Math.min(...values))
  }
}
