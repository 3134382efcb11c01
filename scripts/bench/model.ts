import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readCorpus as readSamples, type Sample } from '../quality/read-corpus.ts'
import { trainModel } from '../../src/cli/train/train.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message.ts'
import { viewBody } from '../../src/pieces/body-view.ts'
import { wordsOf } from '../../src/pieces/disguise/plain-text.ts'
import { type MessageTexts, textPieces, textsOf } from '../../src/pieces/text-pieces.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import { featureReader } from '../../src/verdict/model/features.ts'
import { loadModel } from '../../src/verdict/model/load-model.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { printTable } from './corpus.ts'

const corpus = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus')
const ROUNDS = 7
/** Number of evaluations in a round. */
const AGAIN = 7_000
const identity = { slope: 1, intercept: 0 }

/** The usual size of a CatBoost model. */
const CATBOOST = { trees: 1_000, levels: 6 }

/**
 * Measures the CPU time of a model trained on the corpus, in the best of several rounds: of finding
 * the pieces of a text, and of evaluating one row; and of a CatBoost model of the usual size over
 * the same features. The reference is reading the features, which both models need.
 */
export async function benchModel(): Promise<void> {
  const samples = await readSamples(corpus)
  const before = process.cpuUsage()
  const trained = await trainModel(samples, {
    ...{ definitions: factDefinitions, symbols: [], source: 'files', sources: ['the corpus'] },
    ...{ split: 'campaign', seed: 1, tell: () => undefined },
  })
  const { user, system } = process.cpuUsage(before)
  const rows = Object.values(trained.report.rows.train).reduce((sum, count) => sum + count, 0)
  console.log(
    `Trained from ${rows} rows with ${trained.features.length} features and the text in ` +
      `${((user + system) / 1e6).toFixed(1)} s of CPU time.\n`,
  )
  const rest = { version: 1, calibration: identity }
  const linear = loadModel({ ...rest, format: 'linear', content: trained.content })
  const content = catBoostLike(trained.features)
  const catboost = loadModel({ ...rest, format: 'catboost', content })
  const read = featureReader(linear.features)
  const base = best(samples, ({ facts }) => read?.(facts, []))
  const ask = (model: Model) => best(samples, ({ facts, text }) => model.apply(facts, [], text))
  const texts = await textsOfCorpus(samples)
  const large = { ...NO_TEXTS, shown: wordsOf(LARGE_TEXT, 4_000) }
  const size = Math.round(trained.content.length / 1024)
  const figures: [string, number][] = [
    [`reading ${linear.features.length} features, as a measure`, base],
    ['pieces of the text of a message of the corpus', best(texts, textPieces)],
    ['pieces of a text of 20 KB', best([large], textPieces)],
    [`our model, ${size} KiB, with reading`, ask(linear)],
    [`CatBoost, ${CATBOOST.trees} trees of ${CATBOOST.levels} levels, with reading`, ask(catboost)],
  ]
  printTable(
    ['µs a message', 'CPU', 'ratio'],
    figures.map(([name, us]) => [name, us.toFixed(1), (us / base).toFixed(1)]),
  )
  console.log(
    `\nLoading: ${loadingMs(trained.content)} ms; a process needs it once for each version.`,
  )
}

const NO_TEXTS = { subject: '', author: '', recipient: undefined }
const LARGE_TEXT = Array.from({ length: 2_900 }, (_, at) => `word${(at * 7919) % 1_009}`).join(' ')

async function textsOfCorpus(samples: readonly Sample[]): Promise<MessageTexts[]> {
  const texts: MessageTexts[] = []
  for (const { file } of samples) {
    const raw = await readFile(file)
    const header = parseHeader(raw)
    const body = await parseBody(raw, header)
    texts.push(textsOf(header.fields, viewBody(body)))
  }
  return texts
}

function best<T>(all: readonly T[], work: (one: T) => unknown): number {
  const costs = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let again = 0; again < AGAIN / all.length; again++) for (const one of all) work(one)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (Math.ceil(AGAIN / all.length) * all.length)
  })
  return Math.min(...costs)
}

function loadingMs(content: Uint8Array): string {
  const started = performance.now()
  loadModel({ version: 1, format: 'linear', content, calibration: identity })
  return (performance.now() - started).toFixed(0)
}

/** Composes a model whose trees test all features in turn; its results do not matter. */
function catBoostLike(features: readonly string[]): Uint8Array {
  const trees = Array.from({ length: CATBOOST.trees }, (_, tree) => ({
    leaf_values: Array.from({ length: 2 ** CATBOOST.levels }, (_, leaf) => (leaf % 5) / 100),
    splits: Array.from({ length: CATBOOST.levels }, (_, level) => ({
      split_type: 'FloatFeature',
      float_feature_index: (tree * CATBOOST.levels + level) % features.length,
      border: 0.5 + (tree % 7),
    })),
  }))
  const float_features = features.map((feature_id, feature_index) => ({
    feature_id,
    feature_index,
  }))
  const file = {
    oblivious_trees: trees,
    features_info: { float_features },
    scale_and_bias: [1, [0]],
  }
  return Buffer.from(JSON.stringify(file))
}
