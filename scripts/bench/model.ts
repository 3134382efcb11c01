import path from 'node:path'
import { readCorpus as readSamples } from '../quality/read-corpus.ts'
import { trainModel } from '../../src/cli/train/train.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'
import { featureReader } from '../../src/verdict/model/features.ts'
import { loadModel } from '../../src/verdict/model/load-model.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { printTable } from './corpus.ts'

const corpus = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus')
const ROUNDS = 7
const identity = { slope: 1, intercept: 0 }

/** The usual size of a CatBoost model. */
const CATBOOST = { trees: 1_000, levels: 6 }

/**
 * Measures the CPU time of evaluating one row, in the best of several rounds: with a model trained
 * on the corpus, and with a CatBoost model of the usual size over the same features. The reference
 * is reading the features, which both models need.
 */
export async function benchModel(): Promise<void> {
  const samples = await readSamples(corpus)
  const before = process.cpuUsage()
  const started = performance.now()
  const trained = await trainModel(samples, {
    ...{ definitions: factDefinitions, symbols: [], source: 'files', sources: ['the corpus'] },
    ...{ split: 'campaign', seed: 1, tell: () => undefined },
  })
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(before)
  const rows = Object.values(trained.report.rows.train).reduce((sum, count) => sum + count, 0)
  console.log(
    `Trained from ${rows} rows with ${trained.features.length} features in ` +
      `${seconds.toFixed(1)} s; ${((user + system) / 1e6).toFixed(1)} s of CPU in here.\n`,
  )
  const rest = { version: 1, calibration: identity }
  const ydf = await loadModel({ ...rest, format: 'ydf', content: trained.content })
  const content = catBoostLike(trained.features)
  const catboost = await loadModel({ ...rest, format: 'catboost', content })
  const read = featureReader(ydf.features)
  const facts = samples.map((sample) => sample.facts)
  const base = best(facts.length, () => facts.forEach((one) => read?.(one, [])))
  const ask = (model: Model) =>
    best(facts.length, () => facts.forEach((one) => model.apply(one, [])))
  const figures: [string, number][] = [
    [`reading ${ydf.features.length} features, as a measure`, base],
    [`YDF in WASM, ${Math.round(trained.content.length / 1024)} KiB, with reading`, ask(ydf)],
    [`CatBoost, ${CATBOOST.trees} trees of ${CATBOOST.levels} levels, with reading`, ask(catboost)],
  ]
  printTable(
    ['µs a message', 'CPU', 'ratio'],
    figures.map(([name, us]) => [name, us.toFixed(1), (us / base).toFixed(1)]),
  )
  console.log(
    `\nLoading: ${await loadingMs(trained.content)} ms; a process needs it once a version.`,
  )
  ydf.close()
  catboost.close()
}

function best(rows: number, round: () => void): number {
  const costs = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let again = 0; again < 10; again++) round()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / rows / 10
  })
  return Math.min(...costs)
}

async function loadingMs(content: Uint8Array): Promise<string> {
  const started = performance.now()
  const model = await loadModel({ version: 1, format: 'ydf', content, calibration: identity })
  model.close()
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
