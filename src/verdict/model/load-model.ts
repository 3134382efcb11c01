import { loadCatBoost } from './catboost.ts'
import type { KeptModel, Model } from './model.ts'

/**
 * Makes a model of what is kept of it. The library of the format `ydf` is loaded when it is needed.
 *
 * @throws ModelFault when it cannot be read or applied
 */
export async function loadModel(kept: KeptModel): Promise<Model> {
  if (kept.format === 'catboost') return loadCatBoost(kept)
  const { loadYdf } = await import('./ydf.ts')
  return loadYdf(kept)
}
