import type { App } from '../../app.ts'
import { removeLettersOf, removeMailsOf, removeTraces } from '../../db/erased-mail.ts'
import { listReportsToErase } from '../../db/erased-reports.ts'
import { endErasure, type Erasure, findErasure, markErasure } from '../../db/erasures.ts'
import { type Db, inTransaction } from '../../db/pool.ts'
import { type Account, findAccount, removeReporter } from '../../db/reporters.ts'
import type { JobOutcome } from '../../queue/work.ts'
import { dropReports } from './drop-reports.ts'
import { keepReports } from './keep-reports.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>

/** Of one transaction: a kill loses no more. */
const REPORTS_AT_ONCE = 50
const MAILS_AT_ONCE = 200
/** Then the job comes again, so that others have their turn. */
const STEPS_MAX = 40
const WAIT_MS = 60_000
/** Desks that cannot be reached are not waited for longer. */
const PATIENCE_MS = 4 * 86_400_000
/** Whoever was let in before is in by then: a request may take three minutes to send its body. */
const LET_IN_MS = 5 * 60_000

/**
 * Erases an account in small steps, each of which is whole: any number of runs, killed anywhere,
 * come to the same end. Reports that somebody is still to be told of, or whose retraction is still
 * to be worked, are left for the next walk.
 */
export async function eraseAccount(
  { erasureId }: { erasureId: string },
  app: Needs,
): Promise<JobOutcome> {
  for (let step = 0; step < STEPS_MAX; step++) {
    const erasure = await findErasure(app.pool, erasureId)
    const account = erasure?.reporterId && (await findAccount(app.pool, erasure.reporterId))
    if (!erasure || !account) return 'done'
    const came = await inTransaction(app.pool, (tx) => walkOn(tx, erasure, account, app))
    if (came === 'on') continue
    if (came === 'waits') return later(erasureId, app, WAIT_MS)
    if (app.clock().getTime() - erasure.askedAt.getTime() < LET_IN_MS) {
      return later(erasureId, app, WAIT_MS)
    }
    await finish(erasure, account, app)
    return 'done'
  }
  return later(erasureId, app, 0)
}

function later(erasureId: string, app: Needs, afterMs: number): JobOutcome {
  return { putOff: new Date(app.clock().getTime() + afterMs), payload: { erasureId } }
}

/** One page of reports. `through`: the walk met the end, and nothing is left. */
async function walkOn(
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
  const done =
    erasure.how === 'keep'
      ? await keepReports(tx, reports, work)
      : await dropReports(tx, reports, work, app)
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

/** Mail, and last of all the account. */
async function finish(erasure: Erasure, account: Account, { pool, clock }: Needs): Promise<void> {
  const steps = [
    (tx: Db) => removeLettersOf(tx, account, MAILS_AT_ONCE),
    (tx: Db) => removeMailsOf(tx, account, MAILS_AT_ONCE),
  ]
  for (const step of steps) {
    while ((await inTransaction(pool, step)) > 0);
  }
  await inTransaction(pool, async (tx) => {
    await removeTraces(tx, account)
    await removeReporter(tx, account.id)
    await endErasure(tx, erasure.id, clock())
  })
}
