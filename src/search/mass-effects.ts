import type { ActionContext, InputProblem } from '../actions.ts'
import { reputationKey } from '../counting/reputation-reader.ts'
import { listOrigins, removeAnalyses } from '../db/analyses.ts'
import { removeMessages } from '../db/erasures.ts'
import {
  hastenFeedback,
  releaseFeedback,
  type ReleasedState,
  withdrawFeedback,
} from '../db/feedback-waiting.ts'
import { releaseLetters } from '../db/letters.ts'
import { endHolding, findShadowBan, putShadowBan, removeShadowBan } from '../db/shadow-bans.ts'
import { findExempted, keepExemption, listExemptions, removeExemption } from '../db/listings.ts'
import type { MassAction } from '../db/mass-actions.ts'
import { removeMassRecords } from '../db/mass-records.ts'
import type { Db } from '../db/pool.ts'
import { eventNow, insertEvents } from '../db/report-events.ts'
import { findReporter } from '../db/reporters.ts'
import {
  listReportsByIds,
  listWithMessages,
  markCorrected,
  markReports,
  type ReportState,
} from '../db/reports.ts'
import { findMarks, removeMark, setMark } from '../db/reputations.ts'
import { insertSearchNews } from '../db/search.ts'
import { forwardReport } from '../feedback/queues.ts'
import { sendingProblems, sendLetter } from '../letters/queues.ts'
import { reconsiderPages } from '../pages/look-for-pages.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { retractable, retractIn } from '../reports/change-report.ts'
import { analyzeReport } from '../reports/queues.ts'
import { listReopenable } from '../reports/reopen-reports.ts'
import { recordReports, type Restored, restoreReports } from '../reports/restore-reports.ts'
import type { CorrectedClass } from '../verdict/verdict.ts'

type Context = Pick<ActionContext<'boss' | 'clock' | 'config'>, 'boss' | 'clock' | 'config'>

/**
 * Acts on some reports in a transaction, in the order of their ids. Returns those that it changed;
 * with what it changed besides the report, if it is that.
 */
type Step = (
  tx: Db,
  ids: readonly string[],
  action: MassAction,
  context: Context,
) => Promise<readonly string[] | ReadonlyMap<string, string>>

/** Restores what a step changed: given are the reports, with what it changed besides each. */
type UndoStep = (
  tx: Db,
  changed: ReadonlyMap<string, string | null>,
  action: MassAction,
  context: Context,
) => Promise<ReadonlyMap<string, Restored>>

export type MassEffect = {
  run: Step
  /** Why the action cannot start. */
  problems?: (config: Context['config']) => readonly InputProblem[]
  /** Restores what `run` changed; without it, the action cannot be undone. */
  undo?: UndoStep
  /** Whether it deletes something: then the page asks for the password again. */
  deletes?: true
}

/** Changes those of the reports that are in one of the states `from`, and records them before. */
async function changeRecorded(
  tx: Db,
  { ids, from }: { ids: readonly string[]; from: readonly ReportState[] },
  { id: actionId }: MassAction,
  { clock }: Context,
  change: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const recorded = await recordReports(tx, actionId, { ids, from }, clock())
  const changed = await change(recorded)
  const others = recorded.filter((id) => !changed.includes(id))
  await removeMassRecords(tx, actionId, others)
  return changed
}

const restoreRecorded: UndoStep = (tx, changed, { id, kind }, context) =>
  restoreReports(tx, [...changed.keys()], { id, isRetraction: kind === 'retract' }, context)

const retract: Step = (tx, ids, action, context) => {
  const by = { isReporter: false, administratorId: action.reporterId } as const
  return changeRecorded(tx, { ids, from: retractable }, action, context, async (ready) => {
    const changed: string[] = []
    for (const id of ready) if (await retractIn(tx, context, id, by)) changed.push(id)
    return changed
  })
}

const judged: readonly ReportState[] = ['analyzed', 'forwarded', 'kept', 'failed']

/**
 * Moves judged reports to `received` with `mark`, and queues their analysis: their counts, evidence
 * and consequences follow from the new verdict. Those without a message stay.
 */
async function judgeAgain(
  tx: Db,
  { ids, phrases }: { ids: readonly string[]; phrases: readonly Phrase[] },
  action: MassAction,
  context: Context,
  mark: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { boss, clock } = context
  const readable = await listWithMessages(tx, ids)
  return changeRecorded(tx, { ids: readable, from: judged }, action, context, async (ready) => {
    const changed = (await mark(ready)).toSorted()
    for (const id of changed) await withdrawFeedback(tx, id, clock())
    await removeAnalyses(tx, changed)
    await insertEvents(
      tx,
      changed.map((id) => eventNow(clock, id, 'redriven', phrases)),
    )
    const jobs = changed.map((reportId) => ({ reportId }))
    await send(boss, analyzeReport, jobs, tx)
    return changed
  })
}

const analyzeAgain: Step = (tx, ids, action, context) =>
  judgeAgain(tx, { ids, phrases: [] }, action, context, (ready) =>
    markReports(tx, ready, judged, 'received'),
  )

/** Judges kept complaints again, if their messages may still be forwarded. */
const judgeKept: Step = async (tx, ids, action, context) => {
  const kept = await listReopenable(tx, ids, context.clock(), context)
  return judgeAgain(tx, { ids: kept, phrases: [phrase('more-known')] }, action, context, (ready) =>
    markReports(tx, ready, ['kept'], 'received'),
  )
}

function correction(as: CorrectedClass): MassEffect {
  return {
    run: (tx, ids, action, context) =>
      judgeAgain(tx, { ids, phrases: [phrase('judged-by-person')] }, action, context, (ready) =>
        markCorrected(tx, ready, judged, as),
      ),
    undo: restoreRecorded,
  }
}

async function deleteMessages(
  tx: Db,
  ids: readonly string[],
  _: MassAction,
  { boss, clock }: Context,
): Promise<readonly string[]> {
  const stored = await listWithMessages(tx, ids)
  await removeMessages(tx, stored)
  await reconsiderPages(tx, boss, stored)
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
): Promise<ReadonlyMap<string, string>> {
  const changed = new Map<string, string>()
  for (const report of await listReportsByIds(tx, ids)) {
    const reporter = await findReporter(tx, report.reporterId)
    if (!reporter || reporter.role !== null) continue
    if (await findShadowBan(tx, reporter.id)) continue
    const ban = { reporterId: reporter.id, reason, imposedAt: clock(), imposedBy: reporterId }
    await putShadowBan(tx, ban)
    changed.set(report.id, reporter.id)
  }
  return changed
}

/**
 * Returns a step that undoes what an action set, unless someone has set something else since then.
 */
function unset(remove: (tx: Db, subject: string, by: SetBy) => Promise<boolean>): UndoStep {
  return async (tx, changed, { reporterId, reason, startedAt }) => {
    const restored = new Map<string, Restored>()
    for (const [id, subject] of changed) {
      const isMine =
        subject !== null && (await remove(tx, subject, { reporterId, reason, startedAt }))
      restored.set(id, isMine ? 'undone' : 'overtaken')
    }
    return restored
  }
}

/** Who set something with which reason, and since when. */
type SetBy = Pick<MassAction, 'reporterId' | 'reason' | 'startedAt'>

const liftBans = unset(async (tx, subject, by) => {
  const ban = await findShadowBan(tx, subject)
  const isMine = ban && isSetBy(by, { ...ban, at: ban.imposedAt, reporterId: ban.imposedBy })
  return isMine === true && removeShadowBan(tx, subject)
})

function isSetBy(
  { reporterId, reason, startedAt }: SetBy,
  set: { at: Date; reporterId: string | null; reason: string },
): boolean {
  return set.at >= startedAt && set.reporterId === reporterId && set.reason === reason
}

const releasable: readonly ReleasedState[] = ['held', 'refused']
/** More than the reports of a step have; a report has at most 255 feedback reports. */
const MAILS_MAX = 50_000

async function sendAgain(
  tx: Db,
  reportIds: readonly string[],
  _: MassAction,
  { boss, clock }: Context,
): Promise<readonly string[]> {
  const changed = new Set<string>()
  for (const from of releasable) {
    const selection = { which: { reportIds }, from, now: clock() }
    const feedback = await releaseFeedback(tx, selection, MAILS_MAX)
    await send(boss, forwardReport, feedback, tx)
    const letters = await releaseLetters(tx, selection, MAILS_MAX)
    const jobs = letters.map(({ id: letterId }) => ({ letterId }))
    await send(boss, sendLetter, jobs, tx)
    for (const { reportId } of [...feedback, ...letters]) if (reportId) changed.add(reportId)
  }
  return reportIds.filter((id) => changed.has(id))
}

async function firstOfEachOrigin(tx: Db, ids: readonly string[]) {
  const origins = await listOrigins(tx, ids)
  const sorted = origins.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return [...Map.groupBy(sorted, ({ ip }) => ip).values()].flatMap((its) => its.slice(0, 1))
}

async function exemptOrigins(
  tx: Db,
  ids: readonly string[],
  { reporterId, reason }: MassAction,
  { clock }: Context,
): Promise<ReadonlyMap<string, string>> {
  const now = clock()
  const origins = await firstOfEachOrigin(tx, ids)
  const ips = origins.map(({ ip }) => ip)
  const exempted = await findExempted(tx, ips, now)
  const others = origins.filter(({ ip }) => !exempted.has(ip))
  const how = { reason, reporterId, createdAt: now, expiresAt: null }
  for (const { ip: name } of others) await keepExemption(tx, { name, ...how })
  return new Map(others.map(({ id, ip }) => [id, ip]))
}

const endExemptions = unset(async (tx, subject, by) => {
  const [set] = await listExemptions(tx, { after: '', limit: 1, name: subject })
  return (
    set !== undefined && isSetBy(by, { ...set, at: set.createdAt }) && removeExemption(tx, subject)
  )
})

function keyOf({ ip: name }: { ip: string }): bigint {
  return reputationKey({ kind: 'address', name })
}

async function listByHand(
  tx: Db,
  ids: readonly string[],
  { reporterId, reason }: MassAction,
  { clock }: Context,
): Promise<ReadonlyMap<string, string>> {
  const now = clock()
  const origins = await firstOfEachOrigin(tx, ids)
  const marks = await findMarks(tx, origins.map(keyOf))
  const marked = new Set(
    marks.flatMap(({ key, untilAt }) => (untilAt === null || untilAt > now ? [key] : [])),
  )
  const others = origins.filter((origin) => !marked.has(keyOf(origin)))
  const how = { kind: 'address', mark: 'listed', reason, reporterId } as const
  for (const origin of others) {
    const key = keyOf(origin)
    await setMark(tx, { ...how, key, name: origin.ip, setAt: now, untilAt: null })
  }
  return new Map(others.map(({ id, ip }) => [id, ip]))
}

const removeMarks = unset(async (tx, subject, by) => {
  const key = keyOf({ ip: subject })
  const [set] = await findMarks(tx, [key])
  const isMine = set?.mark === 'listed' && isSetBy(by, { ...set, at: set.setAt })
  return isMine && (await removeMark(tx, key)) !== undefined
})

/** The actions, by their names in commands and forms. */
export const massEffects = {
  retract: {
    run: retract,
    undo: restoreRecorded,
  },
  'analyze-again': {
    run: analyzeAgain,
    undo: restoreRecorded,
  },
  'judge-kept': {
    run: judgeKept,
    undo: restoreRecorded,
  },
  'correct-spam': correction('spam'),
  'correct-phishing': correction('phishing'),
  'correct-malware': correction('malware'),
  'correct-marketing': correction('marketing'),
  'correct-legitimate': correction('legitimate'),
  'forward-now': {
    run: (tx, ids, _, { clock }) => hastenFeedback(tx, ids, clock()),
  },
  'send-again': {
    run: sendAgain,
    problems: sendingProblems,
  },
  'list-origin': {
    run: listByHand,
    undo: removeMarks,
  },
  'exempt-origin': {
    run: exemptOrigins,
    undo: endExemptions,
  },
  release: {
    run: release,
  },
  drop: {
    run: (tx, ids) => endHolding(tx, ids, 'dropped'),
    deletes: true,
  },
  'shadow-ban': {
    run: banReporters,
    undo: liftBans,
  },
  'delete-messages': {
    run: deleteMessages,
    deletes: true,
  },
} satisfies Record<string, MassEffect>

export type MassKind = keyof typeof massEffects

export const massKinds = Object.keys(massEffects) as [MassKind, ...MassKind[]]

export function isDeletion(kind: MassKind): boolean {
  return massEffectOf(kind).deletes === true
}

/** Whether an action deletes evidence, which a second person must confirm if the site wants it. */
export function deletesEvidence(kind: unknown): boolean {
  return kind === 'delete-messages'
}

export function massEffectOf(kind: string): MassEffect {
  const effect = massKinds.find((name) => name === kind)
  if (effect === undefined) throw new Error('This kind of action no longer exists.')
  return massEffects[effect]
}
