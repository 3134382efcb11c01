import { analyzeForCounting, analyzePlainly } from '../../src/pieces/analyze.ts'
import { messageFeatures } from '../../src/pieces/features/features.ts'
import type { Material } from '../../src/pieces/features/material.ts'
import { type Findings, takeApartPacked } from '../../src/pieces/shingles/take-apart.ts'
import { parseBody } from '../../src/mail/message.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { type FactsInput, factsOf, packFacts, unpackFacts } from '../../src/verdict/facts/facts.ts'
import {
  type SeenCounts,
  seenFacts,
  seenPieces,
  type SeenWindows,
} from '../../src/verdict/facts/seen-facts.ts'
import { percentiles, printTable, readCorpus } from './corpus.ts'

const ROUNDS = 12
const ROUNDS_TO_WARM_UP = 4
/** Runs per measurement; a single run is too short for the processor clock. */
const RUNS_AT_ONCE = 4
const options = { trustedRelays: [], ignoreStamps: true }
const folders = ['phishing', 'newsletters', 'spam', 'ham']

/**
 * Measures the processor time of facts beside the analysis, and their packed size. Each task
 * processes all messages; the best round counts, because other programs use the machine too.
 */
export async function benchFacts(): Promise<void> {
  const materials = await Promise.all(readCorpus(folders).map((raw) => materialOf(raw)))
  const inputs = materials.map(inputOf)
  const facts = inputs.map(factsOf)
  const packed = facts.map(packFacts)
  const bare = materials.map(({ material }) => bareSize(material))
  const works: readonly (readonly [string, (at: number) => unknown])[] = [
    [
      'extraction of the pieces, for comparison',
      (at) => takeApartPacked(nth(materials, at).findings),
    ],
    ['the features of the message', (at) => messageFeatures(nth(materials, at).material)],
    ['the keys to look up', (at) => keysOf(nth(materials, at).material)],
    ['the facts with known counts of every piece', (at) => factsOf(nth(inputs, at))],
    ['packed', (at) => packFacts(nth(facts, at))],
    ['unpacked', (at) => unpackFacts(nth(packed, at))],
  ]
  const means = works.map(([, work]) => bestMean(materials.length, work))
  const base = means[0] ?? 1
  printTable(
    ['µs of processor time a message', 'mean', 'ratio'],
    works.map(([name], row) => {
      const mean = means[row] ?? 0
      return [name, mean.toFixed(1), (mean / base).toFixed(2)]
    }),
  )
  const usual = materials.filter(({ material }) => isUsual(material))
  const features = bestMean(usual.length, (at) => messageFeatures(nth(usual, at).material))
  const sizes = percentiles(packed.map(({ length }) => length))
  console.log(
    `\n${materials.length} messages; the features of the ${usual.length} of 19 to 23 KiB:`,
  )
  console.log(`${features.toFixed(1)} µs`)
  console.log(`packed facts: median ${sizes.p50}, p99 ${sizes.p99}, at most ${sizes.max} bytes`)
  console.log(`without known counts: median ${percentiles(bare).p50} bytes`)
}

type Prepared = { findings: Findings; material: Material }

async function materialOf(raw: Buffer): Promise<Prepared> {
  const header = parseHeader(raw)
  const plain = await analyzePlainly(raw, options)
  const body = await parseBody(raw, header)
  const findings: Findings = { ...plain, fields: header.fields, body, signers: [] }
  const { shingles } = await analyzeForCounting(raw, options)
  const { view } = takeApartPacked(findings)
  return { findings, material: { ...plain, ...findings, view, shingles } }
}

function bareSize(material: Material): number {
  return packFacts(factsOf({ features: messageFeatures(material), now: new Date(0) })).length
}

/** Makes the input of the facts as if every piece had known counts. */
function inputOf({ material }: Prepared): FactsInput {
  const { groups } = keysOf(material)
  const seen = seenFacts(
    groups,
    groups.map(() => windows),
  )
  return {
    features: messageFeatures(material),
    report: { kind: 'spam', karma: 0.5, channel: 'api' },
    network: { asn: 64_500, name: 'EXAMPLE', country: 'FR' },
    listings: [],
    reputations: ['address', 'author-domain', 'link-domain', 'signer'].map((kind) => ({
      kind,
      score: -0.4,
      weight: 3,
      flags: ['new'],
      firstSeenAt: new Date(0),
    })),
    seen,
    now: new Date(86_400_000),
  }
}

const counts: SeenCounts = { ham: 1, spam: 4, complaint: 4, redeemed: 0, unique: 3 }
const all = { hour: counts, day: counts, twoWeeks: counts }
const windows: SeenWindows = { reports: all, checks: all }

function keysOf({ shingles }: Material) {
  return seenPieces(shingles, (type, piece) => piece ^ BigInt(type))
}

function bestMean(messages: number, work: (at: number) => unknown): number {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const started = process.cpuUsage()
    for (let run = 0; run < RUNS_AT_ONCE; run++) for (let at = 0; at < messages; at++) work(at)
    const { user, system } = process.cpuUsage(started)
    if (round >= ROUNDS_TO_WARM_UP) best = Math.min(best, user + system)
  }
  return best / RUNS_AT_ONCE / messages
}

/** Whether a message is about as long as the median phishing message. */
function isUsual({ bytes }: Material): boolean {
  return bytes >= 19 * 1_024 && bytes < 23 * 1_024
}

function nth<T>(list: readonly T[], at: number): T {
  const found = list[at]
  if (found === undefined) throw new RangeError(`There is no entry ${at}.`)
  return found
}
