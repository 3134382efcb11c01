import type { ActionContext } from '../actions.ts'
import { removeAnalyses } from '../db/analyses.ts'
import { removeMessages } from '../db/erasures.ts'
import { endHolding, findShadowBan, putShadowBan, removeShadowBan } from '../db/limits.ts'
import { listWithMessages, type MassAction } from '../db/mass-actions.ts'
import type { Db } from '../db/pool.ts'
import { eventNow, insertEvents } from '../db/report-events.ts'
import { findReporter } from '../db/reporters.ts'
import { listReportsByIds, markReports, type ReportState } from '../db/reports.ts'
import { insertSearchNews } from '../db/search.ts'
import { send } from '../queue/boss.ts'
import { analyzeReport } from '../reports/analyze-report.ts'
import { retractIn } from '../reports/change-report.ts'

type Context = Pick<ActionContext<'boss' | 'clock'>, 'boss' | 'clock'>

/**
 * Acts on some reports in a transaction, in the order of their ids. Returns those that it changed.
 */
type Step = (
  tx: Db,
  ids: readonly string[],
  action: MassAction,
  context: Context,
) => Promise<readonly string[]>

/** What an operator can do with many reports. */
export type MassEffect = {
  /** As shown in a list of actions. */
  label: string
  /** What will happen to each report, and to which none. */
  meaning: string
  run: Step
  /** Restores what `run` changed; without it, the action cannot be undone. */
  undo?: Step
  /** What undoing does. */
  undoMeaning?: string
}

async function retract(
  tx: Db,
  ids: readonly string[],
  { reporterId }: MassAction,
  context: Context,
): Promise<readonly string[]> {
  const by = { isReporter: false, administratorId: reporterId } as const
  const changed: string[] = []
  for (const id of ids) if (await retractIn(tx, context, id, by)) changed.push(id)
  return changed
}

/** Moves reports to `received` and queues their analysis; those without a message stay. */
async function analyzeAgain(
  tx: Db,
  { ids, from }: { ids: readonly string[]; from: readonly ReportState[] },
  { boss, clock }: Context,
): Promise<readonly string[]> {
  const readable = await listWithMessages(tx, ids)
  const changed = (await markReports(tx, readable, from, 'received')).toSorted()
  await removeAnalyses(tx, changed)
  await insertEvents(
    tx,
    changed.map((id) => eventNow(clock, id, 'redriven', [])),
  )
  const jobs = changed.map((reportId) => ({ reportId }))
  await send(boss, analyzeReport, jobs, tx)
  return changed
}

const judged: readonly ReportState[] = ['analyzed', 'forwarded', 'kept', 'failed']

async function deleteMessages(
  tx: Db,
  ids: readonly string[],
  _: MassAction,
  { clock }: Context,
): Promise<readonly string[]> {
  const stored = await listWithMessages(tx, ids)
  await removeMessages(tx, stored)
  await insertSearchNews(tx, stored, clock())
  return stored
}

async function release(
  tx: Db,
  ids: readonly string[],
  _: MassAction,
  { boss }: Context,
): Promise<readonly string[]> {
  const released = await endHolding(tx, ids, 'released')
  const jobs = released.map((reportId) => ({ reportId }))
  await send(boss, analyzeReport, jobs, tx)
  return released
}

async function banReporters(
  tx: Db,
  ids: readonly string[],
  { reporterId, reason }: MassAction,
  { clock }: Context,
): Promise<readonly string[]> {
  const changed: string[] = []
  for (const report of await listReportsByIds(tx, ids)) {
    const reporter = await findReporter(tx, report.reporterId)
    if (!reporter || reporter.role !== null) continue
    if (await findShadowBan(tx, reporter.id)) continue
    const ban = { reporterId: reporter.id, reason, imposedAt: clock(), imposedBy: reporterId }
    await putShadowBan(tx, ban)
    changed.push(report.id)
  }
  return changed
}

async function liftBans(tx: Db, ids: readonly string[]): Promise<readonly string[]> {
  const reports = await listReportsByIds(tx, ids)
  for (const { reporterId } of reports) await removeShadowBan(tx, reporterId)
  return ids
}

/** The actions, by their names in commands and forms. */
export const massEffects = {
  retract: {
    label: 'Retract',
    meaning:
      'Each report is retracted as wrong: its counts are reversed, unsent feedback is withdrawn, ' +
      'desks that were notified get a correction, and it counts against its reporter. ' +
      'Reports that are retracted already stay as they are.',
    run: retract,
    undo: (tx, ids, _, context) => analyzeAgain(tx, { ids, from: ['retracted'] }, context),
    undoMeaning: 'The reports are analyzed again and count again.',
  },
  'analyze-again': {
    label: 'Analyze again',
    meaning:
      'Each report is analyzed and judged again with the present rules, and the consequences ' +
      'follow from the new verdict. Reports that wait for their analysis, are retracted, or ' +
      'whose message was deleted stay as they are.',
    run: (tx, ids, _, context) => analyzeAgain(tx, { ids, from: judged }, context),
  },
  release: {
    label: 'Release held reports',
    meaning:
      'Held reports of shadow-banned reporters count from now on, and feedback may be sent. ' +
      'Other reports stay as they are.',
    run: release,
  },
  drop: {
    label: 'Discard held reports',
    meaning: 'Held reports of shadow-banned reporters never count. Other reports stay as they are.',
    run: (tx, ids) => endHolding(tx, ids, 'dropped'),
  },
  'shadow-ban': {
    label: 'Shadow-ban the reporters',
    meaning:
      'New reports of the reporters of these reports are held. Their reports until now stay as ' +
      'they are. People with a role are not banned.',
    run: banReporters,
    undo: liftBans,
    undoMeaning: 'The bans are removed. Reports held meanwhile stay held.',
  },
  'delete-messages': {
    label: 'Delete the messages',
    meaning:
      'The stored message of each report is deleted for good. The report, its analysis and its ' +
      'history stay. It cannot be analyzed or forwarded again.',
    run: deleteMessages,
  },
} satisfies Record<string, MassEffect>

export type MassKind = keyof typeof massEffects

/** The names of the actions. */
export const massKinds = Object.keys(massEffects) as [MassKind, ...MassKind[]]

/** Returns an action by its name. */
export function massEffectOf(kind: string): MassEffect {
  const effect = massKinds.find((name) => name === kind)
  if (effect === undefined) throw new Error('This kind of action no longer exists.')
  return massEffects[effect]
}
