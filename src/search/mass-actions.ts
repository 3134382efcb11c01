import { z } from 'zod'
import {
  type Action,
  type ActionContext,
  defineAction,
  isId,
  type InputProblem,
  oneOf,
  textField,
  wholeNumber,
} from '../actions.ts'
import type { App } from '../app.ts'
import {
  countMassItems,
  findMassAction,
  holdMassAction,
  insertMassAction,
  listMassItems,
  markMassAction,
  markMassItems,
  type MassAction,
} from '../db/mass-actions.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { send } from '../queue/boss.ts'
import { defineQueue } from '../queue/define-queue.ts'
import type { JobOutcome } from '../queue/work.ts'
import { uuidv7 } from '../world.ts'
import { listFound, openSearch } from './find-reports.ts'
import {
  isDeletion,
  massEffectOf,
  type MassKind,
  massKinds,
  deletesEvidence,
} from './mass-effects.ts'
import { parseSearch, SEARCH_CHARS_MAX } from './syntax.ts'

/** Does an action on many reports, some at a time. */
export const actOnReports = defineQueue({
  name: 'act-on-reports',
  payload: z.object({ actionId: z.uuid() }),
  attempts: { retryLimit: 20, retryDelay: 5, retryDelayMax: 600, expireInSeconds: 60 },
})

/** Maximum number of reports of one action. */
export const MASS_MAX = 100_000
const SELECTED_MAX = 500
const PER_MINUTE = 3_000
const PER_MINUTE_MAX = 6_000
/** Time in milliseconds during which an action can be undone, and between two steps. */
export const UNDO_MS = 3_600_000
const STEP_MS = 1_000
const STEPS_A_MINUTE = 60

const notIds: InputProblem = { field: 'ids', message: 'Select reports by their ids.' }

/** Acts on the selected reports, or on all that a search finds at this moment. */
export const startMassAction = defineStart(
  { name: 'reports act', summary: 'act on all reports that a search finds' },
  massKinds.filter((kind) => !isDeletion(kind)),
)

/** Does the same with the actions that delete something. */
export const startDeletion = defineStart(
  {
    name: 'reports delete',
    summary: 'delete the messages of all reports that a search finds, or drop held reports',
    asksPassword: true,
    deletesEvidence: ({ kind }) => deletesEvidence(kind),
  },
  massKinds.filter(isDeletion),
)

function defineStart(
  about: Pick<Action, 'name' | 'summary' | 'asksPassword' | 'deletesEvidence'>,
  kinds: readonly MassKind[],
) {
  return defineAction({
    ...about,
    audit: 'mass action',
    role: 'operator',
    input: z.object({
      kind: oneOf(kinds as [MassKind, ...MassKind[]]).meta({ argument: 'ACTION' }),
      q: textField(SEARCH_CHARS_MAX, 'Enter a search.').optional().meta({ option: 'search' }),
      ids: z.array(z.string()).max(SELECTED_MAX).optional().meta({ option: 'ids', value: 'A,B' }),
      reason: textField(500, 'Please give a reason.').meta({ option: 'why' }),
      speed: wholeNumber(1, PER_MINUTE_MAX).optional().meta({ option: 'per-minute', value: 'N' }),
    }),
    messages: {
      started: (count: number) => `The action on ${count} reports has started.`,
      none: 'No reports found. Nothing was done.',
    },
    async run(
      tx,
      { kind, q, ids = [], reason, speed },
      context: ActionContext<'boss' | 'clock' | 'pool'>,
    ) {
      const reports = ids.length > 0 ? await selected(ids) : await foundBy(context.pool, q ?? '')
      if ('problems' in reports) return reports
      const count = reports.ids.length
      if (count === 0) return { unchanged: 'none' }
      const query = ids.length > 0 ? null : (q ?? '')
      const id = uuidv7(context.at)
      const by = { reporterId: context.reporterId, startedAt: context.at }
      const perMinute = speed ?? PER_MINUTE
      await insertMassAction(tx, { id, kind, query, reason, perMinute, ...by }, reports.ids)
      await send(context.boss, actOnReports, [{ actionId: id }], tx)
      const which = query === null ? 'selected' : `found by ${query || 'no condition'}`
      return { done: 'started', count, id, audit: `${kind}, ${count} reports ${which}: ${reason}` }
    },
  })
}

type Chosen = { ids: string[] } | { problems: readonly InputProblem[] }

async function selected(given: readonly string[]): Promise<Chosen> {
  return given.every(isId) ? { ids: [...new Set(given)] } : { problems: [notIds] }
}

async function foundBy(pool: Pool, q: string): Promise<Chosen> {
  const parsed = parseSearch(q)
  if ('problems' in parsed) {
    return { problems: parsed.problems.map((message) => ({ message, field: 'q' })) }
  }
  const search = await openSearch(pool, parsed.clauses)
  const ids = await listFound(pool, search, { before: undefined, limit: MASS_MAX + 1 })
  if (ids.length <= MASS_MAX) return { ids }
  const message = 'The search finds more than 100,000 reports. Add conditions, such as days.'
  return { problems: [{ message, field: 'q' }] }
}

const idInput = z.object({ id: z.uuid({ error: 'Unknown action.' }).meta({ argument: 'ID' }) })

/** Ends an action early. What it changed so far stays, and can be undone. */
export const stopMassAction = defineAction({
  name: 'reports stop',
  summary: 'end an action on reports early',
  audit: 'mass action',
  role: 'operator',
  input: idInput,
  messages: { stopped: 'Action stopped.', over: 'This action has already ended.' },
  async run(tx, { id }, { at }) {
    const move = { from: ['running', 'undoing'], to: 'stopped', endedAt: at } as const
    const isStopped = await markMassAction(tx, id, move)
    return isStopped ? { done: 'stopped', audit: `stopped: ${id}` } : { unchanged: 'over' }
  },
})

/** Whether an action can be undone at an instant. */
export function mayUndo({ kind, state, startedAt }: MassAction, now: Date): boolean {
  const isInTime = now.getTime() - startedAt.getTime() < UNDO_MS
  return isInTime && ['done', 'stopped'].includes(state) && massEffectOf(kind).undo !== undefined
}

/** Restores what an action changed, if it began less than an hour ago. */
export const undoMassAction = defineAction({
  name: 'reports undo',
  summary: 'undo an action on reports, within an hour',
  audit: 'mass action',
  role: 'operator',
  input: idInput,
  messages: { undoing: 'The action is being undone.' },
  async run(tx, { id }, { at, boss }: ActionContext<'boss'>) {
    const action = await holdMassAction(tx, id)
    if (!action || !mayUndo(action, at)) {
      return { problems: [{ message: 'This action cannot be undone, or no longer.' }] }
    }
    const move = { from: [action.state], to: 'undoing', endedAt: null } as const
    await markMassAction(tx, id, move)
    await send(boss, actOnReports, [{ actionId: id }], tx)
    return { done: 'undoing', audit: `undo: ${id}`, id }
  },
})

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

/**
 * Does the next step of an action, or undoes one, and continues a second later. The reports of a
 * step and their outcome are stored together, so that a step that was interrupted has no effect.
 */
export async function runActOnReports(
  { actionId }: z.infer<typeof actOnReports.payload>,
  app: Needs,
): Promise<JobOutcome> {
  const isOver = await inTransaction(app.pool, (tx) => step(tx, actionId, app))
  if (isOver) return 'done'
  return { postponedTo: new Date(app.clock().getTime() + STEP_MS), payload: { actionId } }
}

async function step(tx: Db, id: string, app: Needs): Promise<boolean> {
  const action = await holdMassAction(tx, id)
  const isUndo = action?.state === 'undoing'
  if (!action || !(isUndo || action.state === 'running')) return true
  const limit = Math.ceil(action.perMinute / STEPS_A_MINUTE)
  const ids = await listMassItems(tx, id, { outcome: isUndo ? 'changed' : null, limit })
  const { run, undo = run } = massEffectOf(action.kind)
  const changed = await (isUndo ? undo : run)(tx, ids, action, app)
  if (isUndo) await markMassItems(tx, id, ids, 'undone')
  else {
    const others = ids.filter((one) => !changed.includes(one))
    await markMassItems(tx, id, changed, 'changed')
    await markMassItems(tx, id, others, 'unchanged')
  }
  if (ids.length === limit) return false
  const endedAt = app.clock()
  const move = isUndo
    ? ({ from: ['undoing'], to: 'undone', endedAt } as const)
    : ({ from: ['running'], to: 'done', endedAt } as const)
  return markMassAction(tx, id, move)
}

/** An action with its progress. */
export async function describeMassAction(db: Db, id: string) {
  const action = await findMassAction(db, id)
  return (
    action && { action, effect: massEffectOf(action.kind), counts: await countMassItems(db, id) }
  )
}
