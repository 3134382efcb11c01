import { createHash } from 'node:crypto'
import { type ActionContext, defineAction, oneOf } from '../actions.ts'
import type { App } from '../app.ts'
import { removeAccountLinks } from '../db/accounts.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { insertAudit } from '../db/audit-log.ts'
import {
  anonymizeReport,
  endErasure,
  type Erasure,
  type ErasureWay,
  findErasure,
  insertErasure,
  listReportsToErase,
  markErasure,
  removeLettersOf,
  removeMailsOf,
  removeMessages,
  removeReports,
  removeTraces,
  replaceAnalysis,
  type ReportToErase,
} from '../db/erasures.ts'
import { withdrawFeedback } from '../db/feedback-waiting.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import {
  type Account,
  findAccount,
  markReporter,
  removeMailInAddress,
  holdReporters,
  removeReporter,
  type Reporter,
} from '../db/reporters.ts'
import { listRawMessages } from '../db/reports.ts'
import { pack, unpack } from '../db/rows.ts'
import { removeSessions, removeTokens } from '../db/sessions.ts'
import { removeWebhooksOf } from '../db/webhooks.ts'
import { DAY_MS } from '../durations.ts'
import { readMessage } from '../mail/message.ts'
import { createCodes } from '../evidence/codes.ts'
import { Concealer } from '../evidence/conceal.ts'
import { createIdentity } from '../evidence/identity.ts'
import { reconsiderPages } from '../pages/look-for-pages.ts'
import { accountInput, accountOf } from '../people/account-actions.ts'
import { mayClose } from '../people/accounts.ts'
import { send } from '../queue/boss.ts'
import type { JobOutcome } from '../queue/work.ts'
import { systemRandom, uuidv7 } from '../world.ts'
import { retractIn } from './change-report.ts'
import { eraseAccount, SAMPLE_DOMAIN } from './queues.ts'
import { settleReports } from './restore-reports.ts'
import { endUndo } from './undo-retraction.ts'

const TOKEN_BYTES = 24

type Begun = { id: string; token: string } | 'last-admin' | 'begun'

/**
 * Closes an account immediately and queues its erasure. Returns its id and the secret of the page
 * that shows the progress; `last-admin` when no administrator would remain, `begun` when another
 * request has already started the erasure.
 */
export async function beginErasure(
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
  reporter: Reporter,
  how: ErasureWay,
): Promise<Begun> {
  return inTransaction(app.pool, async (tx) => {
    const begun = await closeForErasure(tx, app, reporter, how)
    if (typeof begun === 'string') return begun
    const detail = startedErasure(how)
    const at = app.clock()
    await insertAudit(tx, { at, reporterId: null, action: 'erase account', detail })
    return begun
  })
}

function startedErasure(how: ErasureWay): string {
  const reports = how === 'keep' ? 'its reports are kept' : 'its reports are deleted'
  return `Erasure of an account started; ${reports}.`
}

async function closeForErasure(
  tx: Db,
  app: Pick<App, 'boss' | 'clock'>,
  reporter: Reporter,
  how: ErasureWay,
): Promise<Begun> {
  const now = app.clock()
  const token = systemRandom(TOKEN_BYTES).toString('base64url')
  const erasure = { id: uuidv7(now), anonymousId: uuidv7(now), how, askedAt: now }
  if (!(await mayClose(tx, reporter))) return 'last-admin'
  await holdReporters(tx, [reporter.id], 'change')
  if (!(await markReporter(tx, reporter.id, ['active', 'disabled'], 'erasing'))) return 'begun'
  await removeSessions(tx, reporter.id, undefined)
  await removeTokens(tx, reporter.id)
  await removeWebhooksOf(tx, reporter.id)
  await removeMailInAddress(tx, reporter.id)
  await removeAccountLinks(tx, reporter.id)
  const tokenHash = erasureHash(token)
  await insertErasure(tx, { ...erasure, reporterId: reporter.id, tokenHash })
  await send(app.boss, eraseAccount, [{ erasureId: erasure.id }], tx)
  return { id: erasure.id, token }
}

/**
 * Erases a person who asked for it in writing, with the same result as when they do it themselves.
 * The audit entry does not name the account, because it outlives it.
 */
export const eraseOnRequest = defineAction({
  name: 'account erase',
  summary:
    'erase the account and the data of a person; the reports are kept without names or removed',
  audit: 'erase account',
  role: 'administrator',
  asksPassword: true,
  deletesEvidence: () => true,
  input: accountInput.extend({
    how: oneOf(['keep', 'remove']).meta({ argument: 'keep|remove' }),
  }),
  async run(tx, { account: text, how }, context: ActionContext<'boss' | 'clock'>) {
    const account = await accountOf(tx, text)
    if (!account) return { unchanged: 'gone' }
    const begun = await closeForErasure(tx, context, account, how)
    if (begun === 'last-admin') return { unchanged: 'last-admin' }
    if (begun === 'begun') return { unchanged: 'gone' }
    return { done: 'started', id: begun.id, audit: `On request. ${startedErasure(how)}` }
  },
})

/** Returns the hash under which the page of an erasure is found. */
export function erasureHash(token: string): Buffer {
  return createHash('sha256').update(`signalpost erasure ${token}`).digest()
}

/** The erasure in progress. `isPatient`: whether to wait for feedback that is being sent. */
type ErasingWork = { erasure: Erasure; account: Account; isPatient: boolean; now: Date }

/**
 * Retracts reports on behalf of their reporter, and deletes those whose retraction is complete: the
 * counts are reversed, and the recipients of feedback are notified. Returns the number of deleted
 * reports.
 */
async function dropReports(
  tx: Db,
  reports: readonly ReportToErase[],
  { isPatient, now }: ErasingWork,
  app: Pick<App, 'boss' | 'clock'>,
): Promise<number> {
  for (const { id, state } of reports) {
    if (state !== 'retracted') await retractIn(tx, app, id, { isReporter: true })
  }
  const ready = reports.filter(
    ({ state, isCounted, hasUnsentFeedback }) =>
      state === 'retracted' && !isCounted && (!hasUnsentFeedback || !isPatient),
  )
  // Held feedback is sent only by an operator, so the erasure does not wait for it.
  for (const { id, hasFeedback } of ready) if (hasFeedback) await withdrawFeedback(tx, id, now)
  const ids = ready.map(({ id }) => id)
  await settleReports(tx, ids, null, now)
  if (ids.length > 0) await removeReports(tx, ids)
  return ids.length
}

const KEY_BYTES = 32

/**
 * Anonymizes reports: replaces the reporter by an anonymous one, deletes comment and message, and
 * redacts the person's addresses and names in the analysis. Counters, evidence and composed copies
 * contain no personal data of the reporter and stay; mails with originals are deleted. Returns the
 * number of anonymized reports.
 */
async function keepReports(
  tx: Db,
  reports: readonly ReportToErase[],
  { erasure, account, isPatient, now }: ErasingWork,
  { boss }: Pick<App, 'boss'>,
): Promise<number> {
  const ready = reports.filter((report) => !isPatient || !isStillNeeded(report))
  if (ready.length === 0) return 0
  for (const { id, hasFeedback } of ready) if (hasFeedback) await withdrawFeedback(tx, id, now)
  const ids = ready.map(({ id }) => id)
  await settleReports(tx, ids, null, now)
  const messages = new Map((await listRawMessages(tx, ids)).map((one) => [one.id, one]))
  const analyses = new Map((await listPackedAnalyses(tx, ids)).map((one) => [one.id, one]))
  for (const { id, author, subject } of ready) {
    const message = messages.get(id)
    const concealer = concealerOf(account.email, message && (await unpack(message)))
    const plain = (text: string | null) => (text === null ? null : concealer.people(text))
    const plainReport = { author: plain(author), subject: plain(subject), at: now }
    await anonymizeReport(tx, id, { anonymousId: erasure.anonymousId, ...plainReport })
    const analysis = analyses.get(id)
    if (!analysis) continue
    const found: unknown = JSON.parse((await unpack(analysis)).toString())
    const packed = await pack(Buffer.from(JSON.stringify(concealed(found, concealer))))
    await replaceAnalysis(tx, id, { packed, judgment: concealed(analysis.judgment, concealer) })
  }
  await removeMessages(tx, ids)
  await reconsiderPages(tx, boss, ids)
  return ids.length
}

/** Whether the message is still needed for its analysis or for feedback. */
function isStillNeeded({ state, hasFeedback, hasUnsentFeedback }: ReportToErase): boolean {
  return state === 'received' || hasUnsentFeedback || (state === 'analyzed' && !hasFeedback)
}

/**
 * Returns a redactor whose random key is discarded after use: equal values can still be recognized
 * as equal, but not restored.
 */
function concealerOf(email: string, raw: Buffer | undefined): Concealer {
  const identity = createIdentity(raw ? readMessage(raw).header.fields : [], { addresses: [email] })
  return new Concealer({ identity, codes: createCodes(systemRandom(KEY_BYTES)) })
}

/** Returns a copy in which people are concealed in all nested strings. */
function concealed(value: unknown, concealer: Concealer): unknown {
  if (typeof value === 'string') return concealer.people(value, { keepsDomain: true })
  if (Array.isArray(value)) return value.map((one) => concealed(one, concealer))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, concealed(one, concealer)]),
  )
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/** Maximum number of reports per transaction, so that an interrupted run loses little work. */
const REPORTS_AT_ONCE = 50
const MAILS_AT_ONCE = 200
/**
 * Maximum number of transactions per run; the job then continues later, so that other jobs get a
 * turn.
 */
const STEPS_MAX = 40
const WAIT_MS = 60_000
/** Time in milliseconds to wait for feedback to unreachable abuse desks. */
const PATIENCE_MS = 4 * DAY_MS
/**
 * Time in milliseconds after which requests authorized before the erasure have ended: a client may
 * take three minutes to send a body.
 */
const AUTHORIZED_MS = 5 * 60_000

/**
 * Erases an account in small transactions: interrupted and repeated runs reach the same result.
 * Reports whose feedback is still being sent, or whose retraction is in progress, wait for the next
 * pass.
 */
export async function runEraseAccount(
  { erasureId }: { erasureId: string },
  app: Needs,
): Promise<JobOutcome> {
  for (let step = 0; step < STEPS_MAX; step++) {
    const erasure = await findErasure(app.pool, erasureId)
    const account = erasure?.reporterId && (await findAccount(app.pool, erasure.reporterId))
    if (!erasure || !account) return 'done'
    const came = await inTransaction(app.pool, (tx) => eraseNextPage(tx, erasure, account, app))
    if (came === 'on') continue
    if (came === 'waits') return later(erasureId, app, WAIT_MS)
    if (app.clock().getTime() - erasure.askedAt.getTime() < AUTHORIZED_MS) {
      return later(erasureId, app, WAIT_MS)
    }
    await finish(erasure, account, app)
    return 'done'
  }
  return later(erasureId, app, 0)
}

function later(erasureId: string, app: Needs, afterMs: number): JobOutcome {
  return { postponedTo: new Date(app.clock().getTime() + afterMs), payload: { erasureId } }
}

/**
 * Processes one page of reports. `on`: another page follows. `waits`: the pass is complete, but
 * some reports remain. `through`: no reports remain.
 */
async function eraseNextPage(
  tx: Db,
  erasure: Erasure,
  account: Account,
  app: Needs,
): Promise<'on' | 'waits' | 'through'> {
  const page = { after: erasure.afterId, limit: REPORTS_AT_ONCE }
  const reports = await listReportsToErase(tx, account.id, page)
  const now = app.clock()
  const isPatient = now.getTime() - erasure.askedAt.getTime() < PATIENCE_MS
  const work = { erasure, account, isPatient, now }
  const retracted = reports.filter(({ state }) => state === 'retracted').map(({ id }) => id)
  // Their desks are notified first; the next pass continues with them.
  const ended = new Set(await endUndo(tx, retracted, app, now))
  const ready = reports.filter(({ id }) => !ended.has(id))
  const done =
    erasure.how === 'keep'
      ? await keepReports(tx, ready, work, app)
      : await dropReports(tx, ready, work, app)
  const last = reports.at(-1)
  if (last && reports.length === REPORTS_AT_ONCE) {
    await markErasure(tx, erasure.id, { state: 'under-way', done, afterId: last.id })
    return 'on'
  }
  const [left] = await listReportsToErase(tx, account.id, { after: null, limit: 1 })
  const state = left ? 'waiting' : 'under-way'
  await markErasure(tx, erasure.id, { state, done, afterId: null })
  return left ? 'waits' : 'through'
}

/** Deletes letters and inbound mail, and finally the account. */
async function finish(erasure: Erasure, account: Account, { pool, clock }: Needs): Promise<void> {
  const steps = [
    (tx: Db) => removeLettersOf(tx, account, MAILS_AT_ONCE),
    (tx: Db) => removeMailsOf(tx, account, MAILS_AT_ONCE),
  ]
  for (const step of steps) {
    while ((await inTransaction(pool, step)) > 0);
  }
  await inTransaction(pool, async (tx) => {
    await holdReporters(tx, [account.id], 'change')
    await removeTraces(tx, account)
    await removeReporter(tx, account.id)
    await endErasure(tx, erasure.id, clock())
    if (!account.email.endsWith(`@${SAMPLE_DOMAIN}`)) return
    // Loaded only for a trial.
    const { removeSampleTraces } = await import('./sample-traces.ts')
    await removeSampleTraces(tx)
  })
}
