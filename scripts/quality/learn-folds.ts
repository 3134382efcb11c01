import { trainModel } from '../../src/cli/train/train.ts'
import type { FactDefinition } from '../../src/verdict/facts/fact.ts'
import type { RowSource } from '../../src/verdict/model/features.ts'
import { type Scored, scoresOf } from '../../src/verdict/model/figures.ts'
import { loadModel } from '../../src/verdict/model/load-model.ts'
import type { Model } from '../../src/verdict/model/model.ts'
import { pseudoRandom } from '../../src/verdict/model/training.ts'
import type { Sample } from './read-corpus.ts'

/** A part of the messages, and a model trained on all the others. */
export type Fold = { samples: Sample[]; model: Model; scored: Scored[] }

const FOLDS = 5

/**
 * Divides the messages into five parts at random, whole campaigns together, and trains a model for
 * each from the other four, so that each message is judged by a model that has not seen it or its
 * campaign.
 */
export async function learnFolds(
  samples: readonly Sample[],
  training: { definitions: readonly FactDefinition[]; source: RowSource; seed: number },
): Promise<Fold[]> {
  const folds: Fold[] = []
  for (let fold = 0; fold < FOLDS; fold++) {
    const isIn = ({ campaign }: Sample) =>
      Math.floor(pseudoRandom(`fold ${campaign}`, training.seed) * FOLDS) === fold
    const others = samples.filter((sample) => !isIn(sample))
    const { content, calibration } = await trainModel(others, {
      ...training,
      symbols: [],
      sources: [],
      split: 'campaign',
      trainShare: 1,
      tell: () => undefined,
    })
    const model = loadModel({ version: fold + 1, format: 'linear', content, calibration })
    const mine = samples.filter(isIn)
    folds.push({ samples: mine, model, scored: scoresOf(model, mine) })
  }
  return folds
}
