import { follow } from '../db/follow.ts'
import {
  findActiveModel,
  findModelContent,
  insertModel,
  type ModelDeed,
  type NewModel,
  promoteModel,
  rollBackModel,
} from '../db/models.ts'
import { inTransaction, type Pool } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { emptyFacts, factDefinitions } from '../verdict/facts/facts.ts'
import { strangeFeatures } from '../verdict/model/features.ts'
import { loadModel } from '../verdict/model/load-model.ts'
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

/** The model that acts, in one process. */
export type LiveModel = {
  /** Undefined when none was promoted. Ask for it at each message: it may be another one. */
  current: () => Model | undefined
  close: () => Promise<void>
}

/**
 * Loads the model that acts, and from then on follows promotions and rollbacks: each process within
 * a second and what loading takes (0.1 s). A model that cannot be applied is logged once, and the
 * one before it goes on. While the database is away, nothing changes.
 */
export async function openModel({
  pool,
  log,
}: {
  pool: Pool
  log: Pick<Logger, 'info' | 'warn' | 'error'>
}): Promise<LiveModel> {
  let model: Model | undefined
  let seen: number | undefined
  let isClosed = false

  async function look(): Promise<void> {
    const version = await findActiveModel(pool)
    if (version === seen) return
    const next = version === undefined ? undefined : await load(version)
    if (isClosed) return next?.close()
    seen = version
    if (version !== undefined && !next) return
    model?.close()
    model = next && guarded(next, log)
    log.info({ version: version ?? null }, 'The model has changed.')
  }

  async function load(version: number): Promise<Model | undefined> {
    const kept = await findModelContent(pool, version)
    if (!kept) return undefined
    return loadModel(kept).catch((error: unknown) => {
      log.error({ err: error, version }, 'The model cannot be applied.')
      return undefined
    })
  }

  const following = await follow(look, (error) =>
    log.warn({ err: error }, 'The model could not be looked up.'),
  )
  return {
    current: () => model,
    async close() {
      isClosed = true
      await following.close()
      model?.close()
      model = undefined
    },
  }
}

/** A model that breaks over a message has no word of it (NaN), and is told of once. */
export function guarded(model: Model, log: Pick<Logger, 'error'>): Model {
  let isTold = false
  return {
    ...model,
    apply(facts, symbols) {
      try {
        return model.apply(facts, symbols)
      } catch (error) {
        if (!isTold) log.error({ err: error, version: model.version }, 'The model broke.')
        isTold = true
        return NaN
      }
    },
  }
}
