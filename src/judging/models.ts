import type { OperatorAction } from '../db/audit-log.ts'
import { follow } from '../db/follow.ts'
import {
  findActiveModel,
  findModelContent,
  insertModel,
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

/** Result of a promotion. */
export type Promotion = { is: 'promoted' } | { is: 'unknown' } | { is: 'refused'; why: string }

/** Activates a model after checking that it can be applied. */
export async function promote(
  pool: Pool,
  version: number,
  deed: OperatorAction,
): Promise<Promotion> {
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

/**
 * Returns what is wrong with the features of a model or with its result for empty facts; undefined
 * when nothing is.
 */
function faultOf(model: Model): string | undefined {
  const [strange] = strangeFeatures(model.features, factDefinitions)
  if (strange !== undefined) return `The model uses the unknown feature ${strange}.`
  try {
    const probability = model.apply(emptyFacts(), [])
    return probability >= 0 && probability <= 1
      ? undefined
      : 'The result of the model is not a probability.'
  } catch (error) {
    return `The model fails on a test message: ${reasonOf(error)}`
  }
}

/** Reverts the last promotion; undefined when no model is active. */
export async function rollBack(
  pool: Pool,
  deed: OperatorAction,
): Promise<{ from: number; to: number | null } | undefined> {
  return inTransaction(pool, (tx) => rollBackModel(tx, deed))
}

/** Stores a model as a candidate and returns its version. */
export async function keepModel(
  pool: Pool,
  model: NewModel,
  deed: OperatorAction,
): Promise<number> {
  return inTransaction(pool, (tx) => insertModel(tx, model, deed))
}

/** The active model in one process. */
export type LiveModel = {
  /**
   * Returns the active model; undefined without one. Call it for each message, because the model
   * may change.
   */
  current: () => Model | undefined
  close: () => Promise<void>
}

/**
 * Loads the active model and follows promotions and rollbacks, in each process within a second plus
 * the time to load (0.1 s). A model that cannot be applied is logged once, and the previous one
 * stays active. While the database is unreachable, nothing changes.
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
    log.info({ version: version ?? null }, 'The active model changed.')
  }

  async function load(version: number): Promise<Model | undefined> {
    const kept = await findModelContent(pool, version)
    if (!kept) return undefined
    return loadModel(kept).catch((error: unknown) => {
      log.error(
        { err: error, version },
        'Cannot load the new model. The previous one stays active.',
      )
      return undefined
    })
  }

  const following = await follow(look, (error) =>
    log.warn({ err: error }, 'Could not read the active model from the database.'),
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

/** Wraps a model: if it throws on a message the result is NaN, and the error is logged once. */
export function guarded(model: Model, log: Pick<Logger, 'error'>): Model {
  let isLogged = false
  return {
    ...model,
    apply(facts, symbols) {
      try {
        return model.apply(facts, symbols)
      } catch (error) {
        if (!isLogged)
          log.error(
            { err: error, version: model.version },
            'The model failed on a message, which is judged by the rules alone.',
          )
        isLogged = true
        return NaN
      }
    },
  }
}
