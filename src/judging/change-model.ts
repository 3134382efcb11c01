import {
  findModelContent,
  insertModel,
  type ModelDeed,
  type NewModel,
  promoteModel,
  rollBackModel,
} from '../db/models.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import { strangeFeatures } from '../verdict/model/features.ts'
import { loadModel } from '../verdict/model/load-model.ts'
import { emptyFacts, factDefinitions } from '../verdict/facts/fact-list.ts'
import { type Model, ModelFault } from '../verdict/model/model.ts'

/** What came of a promotion. */
export type Promotion = { is: 'promoted' } | { is: 'unknown' } | { is: 'refused'; why: string }

/** Lets a model act, once it was seen that it can be applied. */
export async function promote(pool: Pool, version: number, deed: ModelDeed): Promise<Promotion> {
  const kept = await findModelContent(pool, version)
  if (!kept) return { is: 'unknown' }
  try {
    const model = await loadModel(kept)
    const fault = faultOf(model)
    model.close()
    if (fault !== undefined) return { is: 'refused', why: fault }
  } catch (error) {
    if (error instanceof ModelFault) return { is: 'refused', why: error.message }
    throw error
  }
  await inTransaction(pool, (tx) => promoteModel(tx, version, deed))
  return { is: 'promoted' }
}

/** What is wrong with a model: with what it looks at, or says of what nothing is known of. */
function faultOf(model: Model): string | undefined {
  const [strange] = strangeFeatures(model.features, factDefinitions)
  if (strange !== undefined) return `This program knows nothing of ${strange}.`
  try {
    const probability = model.apply(emptyFacts(), [])
    return probability >= 0 && probability <= 1 ? undefined : 'What it says is no probability.'
  } catch (error) {
    return `It breaks when it is asked: ${reasonOf(error)}`
  }
}

/** Takes back the last promotion; undefined when no model acts. */
export async function rollBack(
  pool: Pool,
  deed: ModelDeed,
): Promise<{ from: number; to: number | null } | undefined> {
  return inTransaction(pool, (tx) => rollBackModel(tx, deed))
}

/** Keeps a model as a candidate and gives its version. */
export async function keepModel(pool: Pool, model: NewModel, deed: ModelDeed): Promise<number> {
  return inTransaction(pool, (tx) => insertModel(tx, model, deed))
}
