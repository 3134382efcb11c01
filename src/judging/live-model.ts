import { follow } from '../db/follow.ts'
import { findActiveModel, findModelContent } from '../db/models.ts'
import type { Pool } from '../db/pool.ts'
import type { Logger } from '../log.ts'
import { loadModel } from '../verdict/model/load-model.ts'
import type { Model } from '../verdict/model/model.ts'

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
