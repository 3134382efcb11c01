import { z } from 'zod'
import { defineAction, oneOf, wholeNumber } from '../actions.ts'
import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import { follow } from '../db/follow.ts'
import {
  findModel,
  findModelContent,
  insertModel,
  type NewModel,
  promoteModel,
  rollBackModel,
  setPromotesModels,
} from '../db/models.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { WEEK_MS } from '../durations.ts'
import { CallerError, reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { refusal } from '../phrase.ts'
import { emptyFacts, factDefinitions } from '../verdict/facts/facts.ts'
import { unusableFeatures } from '../verdict/model/features.ts'
import { loadModel, uncalibrated } from '../verdict/model/load-model.ts'
import { type KeptModel, type Model, ModelFault } from '../verdict/model/model.ts'
import type { Clock } from '../world.ts'

const VERSION_MAX = 999_999_999
const FILE_BYTES_MAX = 256 * 1024 * 1024
const STRANGE_SHOWN = 5

export const modelVersion = wholeNumber(1, VERSION_MAX).meta({ argument: 'V' })

/** Maximum age of a test at a promotion. */
const TEST_AGE_MAX_MS = WEEK_MS

/**
 * Makes a model the active one, after checking that it can be applied, and that it was tested on
 * the newest mail of the site, so that the operator could see the figures.
 */
export const promoteVersion = defineAction({
  name: 'models promote',
  summary: 'make a model the active one',
  audit: 'promote model',
  role: 'operator',
  input: z.object({ version: modelVersion }),
  async run(tx, { version }, by) {
    const why = await faultOfVersion(tx, version)
    if (why !== undefined) return { problems: [{ message: refusal('refused.model', { why }) }] }
    const test = (await findModel(tx, version))?.ownTest
    if (!test || by.at.getTime() - Date.parse(test.testedAt) > TEST_AGE_MAX_MS) {
      return { problems: [{ message: refusal('refused.model-untested', { version }) }] }
    }
    const promoted = await promoteModel(tx, version, by)
    if (!promoted) throw noSuchVersion()
    const { before } = promoted
    const audit = before === undefined ? String(version) : `${version} instead of ${before}`
    return { done: 'promoted', audit }
  },
})

export function noSuchVersion(): CallerError {
  return new CallerError(404, refusal('refused.no-version'))
}

async function faultOfVersion(tx: Db, version: number): Promise<string | undefined> {
  const kept = await findModelContent(tx, version)
  if (!kept) throw noSuchVersion()
  try {
    return faultOf(loadModel(kept))
  } catch (error) {
    if (error instanceof ModelFault) return error.message
    throw error
  }
}

/** Allows or forbids that a model trained at night is promoted without an operator. */
export const allowPromotion = defineAction({
  name: 'models automatic',
  summary: 'promote models trained at night if they are no worse, or leave that to operators',
  audit: 'set automatic models',
  role: 'operator',
  input: z.object({ automatic: oneOf(['on', 'off']).meta({ argument: 'on|off' }) }),
  async run(tx, { automatic }) {
    if (!(await setPromotesModels(tx, automatic === 'on'))) return { unchanged: 'same' }
    return { done: automatic, audit: automatic }
  },
})

export const rollBackPromotion = defineAction({
  name: 'models rollback',
  summary: 'undo the last promotion',
  audit: 'roll back model',
  role: 'operator',
  input: z.object({}),
  async run(tx) {
    const done = await rollBackModel(tx)
    if (!done) return { unchanged: 'nothing' }
    const { from, to } = done
    if (to === null) {
      const text = `Rolled back version ${from}. No model is active now.`
      return { done: 'rolled-back', audit: `${from}: no model is active`, text }
    }
    const text = `Rolled back version ${from}. Version ${to} is active again.`
    return { done: 'rolled-back', audit: `${from} to ${to}`, text }
  },
})

/** Stores a model of CatBoost as a candidate. */
export const importModel = defineAction({
  name: 'models import',
  summary: 'store a model of CatBoost, in its JSON format',
  audit: 'add model',
  role: 'operator',
  input: z.object({
    content: z
      .string({ error: 'Give a file name.' })
      .meta({ argument: 'FILE.json', fileBytesMax: FILE_BYTES_MAX }),
    format: oneOf(['catboost']),
  }),
  async run(tx, { content, format }, { at }) {
    const kept = {
      ...({ version: 0, format, calibration: uncalibrated } as const),
      content: Buffer.from(content),
    }
    const features = featuresOf(kept)
    const problem = (message: string) => ({ problems: [{ field: 'content', message }] })
    if (features instanceof ModelFault) return problem(features.message)
    const strange = unusableFeatures(features, factDefinitions)
    if (strange.length > 0) {
      const shown = strange.slice(0, STRANGE_SHOWN).join(', ')
      return problem(`The model uses unknown features: ${shown}.`)
    }
    const origin = `imported from CatBoost, ${features.length} features`
    const version = await insertModel(tx, { ...kept, report: null, origin, trainedAt: at })
    const next = `Test it with "signalpost models test ${version}" before you promote it.`
    const text = `Saved as version ${version}. ${next}`
    return { done: 'imported', audit: `${version}: ${origin}`, text }
  },
})

function featuresOf(kept: KeptModel): readonly string[] | ModelFault {
  try {
    return loadModel(kept).features
  } catch (error) {
    if (error instanceof ModelFault) return error
    throw error
  }
}

/**
 * Returns what is wrong with the features of a model, or with its result for empty facts; undefined
 * if it is valid.
 */
function faultOf(model: Model): string | undefined {
  const [strange] = unusableFeatures(model.features, factDefinitions)
  if (strange !== undefined) return `The model uses the unknown feature ${strange}.`
  try {
    const { probability } = model.apply(emptyFacts(), [])
    return probability >= 0 && probability <= 1
      ? undefined
      : 'The result of the model is not a probability.'
  } catch (error) {
    return `The model fails on a test message: ${reasonOf(error)}`
  }
}

/** Stores a trained model as a candidate, with an audit entry, and returns its version. */
export async function keepModel(pool: Pool, model: NewModel, by: OperatorAction): Promise<number> {
  return inTransaction(pool, async (tx) => {
    const version = await insertModel(tx, model)
    const detail = `${version}: ${model.origin}`
    await insertAudit(tx, { ...by, action: 'add model', detail })
    return version
  })
}

/** Promotes a model that was trained at night, with an audit entry. */
export function promoteAutomatically(
  { pool, clock }: { pool: Pool; clock: Clock },
  version: number,
): Promise<void> {
  const by = { at: clock(), reporterId: null }
  return inTransaction(pool, async (tx) => {
    await promoteModel(tx, version, by)
    await insertAudit(tx, { ...by, action: 'promote model', detail: `${version}: automatically` })
  })
}

/** Reverts the last promotion without an operator, with an audit entry. */
export function rollBackAutomatically(
  { pool, clock }: { pool: Pool; clock: Clock },
  detail: string,
): Promise<void> {
  return inTransaction(pool, async (tx) => {
    await rollBackModel(tx)
    const by = { at: clock(), reporterId: null }
    await insertAudit(tx, { ...by, action: 'roll back model', detail })
  })
}

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
  let isClosed = false

  async function take(version: number | undefined): Promise<void> {
    if (version === undefined && !model) return
    const next = version === undefined ? undefined : await load(version)
    if (isClosed) return
    if (version !== undefined && !next) return
    model = next && guarded(next, log)
    log.info({ version: version ?? null }, 'The active model changed.')
  }

  async function load(version: number): Promise<Model | undefined> {
    const kept = await findModelContent(pool, version)
    if (!kept) return undefined
    try {
      return loadModel(kept)
    } catch (error) {
      log.error(
        { err: error, version },
        'Cannot load the new model. The previous one stays active.',
      )
      return undefined
    }
  }

  const following = await follow(pool, 'model', {
    load: take,
    onFailure: (err) => log.warn({ err }, 'Could not read the active model from the database.'),
  })
  return {
    current: () => model,
    async close() {
      isClosed = true
      await following.close()
      model = undefined
    },
  }
}

/** Wraps a model: if it throws on a message the probability is NaN. The error is logged once. */
export function guarded(model: Model, log: Pick<Logger, 'error'>): Model {
  let isLogged = false
  return {
    ...model,
    apply(facts, symbols, text) {
      try {
        return model.apply(facts, symbols, text)
      } catch (error) {
        if (!isLogged)
          log.error(
            { err: error, version: model.version },
            'The model failed on a message, which is judged by the rules alone.',
          )
        isLogged = true
        return { probability: NaN, isSure: false, isPhishing: false }
      }
    },
  }
}
