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
  listChangedItems,
  listMassItems,
  markMassAction,
  markMassItems,
  type MassAction,
} from '../db/mass-actions.ts'
import { insertAudit } from '../db/audit-log.ts'
import { listRecorded, listUnsettled, markSettled } from '../db/mass-records.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { refusal } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import type { JobOutcome } from '../queue/work.ts'
import { settleReports, UNDO_MS } from '../reports/restore-reports.ts'
import { endLateUndos } from '../reports/undo-retraction.ts'
import { uuidv7 } from '../world.ts'
import { listFound, openSearch } from './find-reports.ts'
import {
  isDeletion,
  massEffectOf,
  type MassKind,
  massKinds,
  deletesEvidence,
} from './mass-effects.ts'
import { actOnReports } from './queues.ts'
import { parseSearch, SEARCH_CHARS_MAX } from './syntax.ts'

/** Maximum number of reports of one action. */
export const MASS_MAX = 100_000
const SELECTED_MAX = 500
const PER_MINUTE = 3_000
const PER_MINUTE_MAX = 6_000
/** Time in milliseconds between two steps. */
const STEP_MS = 1_000
const STEPS_A_MINUTE = 60

const notIds: InputProblem = { field: 'ids', message: refusal('refused.ids') }

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
      q: textField(SEARCH_CHARS_MAX, refusal('refused.search'))
        .optional()
        .meta({ option: 'search' }),
      ids: z.array(z.string()).max(SELECTED_MAX).optional().meta({ option: 'ids', value: 'A,B' }),
      reason: textField(500, refusal('refused.reason')).meta({ option: 'why' }),
      speed: wholeNumber(1, PER_MINUTE_MAX).optional().meta({ option: 'per-minute', value: 'N' }),
    }),
    async run(
      tx,
      { kind, q, ids = [], reason, speed },
      context: ActionContext<'boss' | 'clock' | 'config' | 'pool'>,
    ) {
      const problems = massEffectOf(kind).problems?.(context.config) ?? []
      if (problems.length > 0) return { problems }
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
  const message = refusal('refused.search-wide')
  return { problems: [{ message, field: 'q' }] }
}

const idInput = z.object({
  id: z.uuid({ error: refusal('refused.no-action') }).meta({ argument: 'ID' }),
})

/** Ends an action early. What it changed so far stays, and can be undone. */
export const stopMassAction = defineAction({
  name: 'reports stop',
  summary: 'end an action on reports early',
  audit: 'mass action',
  role: 'operator',
  input: idInput,
  async run(tx, { id }, { at }) {
    const move = { from: ['running', 'undoing'], to: 'stopped', endedAt: at } as const
    const isStopped = await markMassAction(tx, id, move)
    return isStopped ? { done: 'stopped', audit: `stopped: ${id}` } : { unchanged: 'over' }
  },
})

/** When undoing an action has to begin. */
export function undoUntil({ startedAt }: Pick<MassAction, 'startedAt'>): Date {
  return new Date(startedAt.getTime() + UNDO_MS)
}

/** Whether an action can be undone at an instant; if it is under way, undoing ends it. */
export function mayUndo({ kind, state, startedAt, settledAt }: MassAction, now: Date): boolean {
  const isInTime = settledAt === null && now < undoUntil({ startedAt })
  const isOpen = ['running', 'done', 'stopped'].includes(state)
  return isInTime && isOpen && massEffectOf(kind).undo !== undefined
}

/** Restores what an action changed, if it began less than an hour ago. */
export const undoMassAction = defineAction({
  name: 'reports undo',
  summary: 'undo an action on reports, within an hour',
  audit: 'mass action',
  role: 'operator',
  input: idInput,
  async run(tx, { id }, { at, boss, reporterId: undoneBy }: ActionContext<'boss'>) {
    const action = await holdMassAction(tx, id)
    if (!action || !mayUndo(action, at)) {
      return { problems: [{ message: refusal('refused.no-undo') }] }
    }
    const move = { from: [action.state], to: 'undoing', endedAt: null, undoneBy } as const
    await markMassAction(tx, id, move)
    await send(boss, actOnReports, [{ actionId: id }], tx)
    return { done: 'undoing', audit: `undo: ${id}`, id }
  },
})

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

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
  const count = await (isUndo ? undoSome : doSome)(tx, action, limit, app)
  if (count === limit) return false
  const endedAt = app.clock()
  const move = isUndo
    ? ({ from: ['undoing'], to: 'undone', endedAt } as const)
    : ({ from: ['running'], to: 'done', endedAt } as const)
  const isOver = await markMassAction(tx, id, move)
  if (isUndo) await auditUndone(tx, action, endedAt)
  return isOver
}

async function doSome(tx: Db, action: MassAction, limit: number, app: Needs): Promise<number> {
  const ids = await listMassItems(tx, action.id, limit)
  const changed = await massEffectOf(action.kind).run(tx, ids, action, app)
  const subjects = 'size' in changed ? changed : new Map<string, string>()
  const its = new Set('size' in changed ? changed.keys() : changed)
  const outcomes = ids.map((id) => [id, its.has(id) ? 'changed' : 'unchanged'] as const)
  await markMassItems(tx, action.id, new Map(outcomes), subjects)
  return ids.length
}

async function undoSome(tx: Db, action: MassAction, limit: number, app: Needs): Promise<number> {
  const changed = await listChangedItems(tx, action.id, limit)
  const restored = await massEffectOf(action.kind).undo?.(tx, changed, action, app)
  if (restored) await markMassItems(tx, action.id, restored)
  return changed.size
}

/** Writes what was undone into the audit log, and what could not be undone. */
async function auditUndone(tx: Db, { id, undoneBy }: MassAction, at: Date): Promise<void> {
  const { undone, notified, overtaken, gone } = await countMassItems(tx, id)
  const left = [
    ...(notified > 0 ? [`${notified} restored after an abuse team was notified`] : []),
    ...(overtaken > 0 ? [`${overtaken} left to a later decision`] : []),
    ...(gone > 0 ? [`${gone} deleted`] : []),
  ]
  const detail = [`undone: ${id}, ${undone} restored`, ...left].join('; ')
  await insertAudit(tx, { at, reporterId: undoneBy, action: 'mass action', detail })
}

const SETTLED_AT_ONCE = 500

/** Makes actions final, the oldest first, so that what they say about reporters keeps its order. */
export async function runSettleActions(app: Pick<App, 'pool' | 'boss' | 'clock'>): Promise<void> {
  await endLateUndos(app)
  const before = new Date(app.clock().getTime() - UNDO_MS)
  for (const { id, isOver } of await listUnsettled(app.pool, before)) {
    while (await inTransaction(app.pool, (tx) => settleSome(tx, id, app)));
    if (isOver) await markSettled(app.pool, id, app.clock())
  }
}

/** Returns whether there may be more. */
async function settleSome(tx: Db, id: string, { clock }: Pick<App, 'clock'>): Promise<boolean> {
  const action = await holdMassAction(tx, id)
  if (action?.state === 'undoing') return false
  const ids = await listRecorded(tx, id, SETTLED_AT_ONCE)
  await settleReports(tx, ids, id, clock())
  return ids.length === SETTLED_AT_ONCE
}

export async function describeMassAction(db: Db, id: string) {
  const action = await findMassAction(db, id)
  return (
    action && { action, effect: massEffectOf(action.kind), counts: await countMassItems(db, id) }
  )
}
