import { z } from 'zod'
import { type ActionContext, defineAction, type Outcome, textField, isId } from '../actions.ts'
import { endHolding, listHeldReports, putShadowBan, removeShadowBan } from '../db/shadow-bans.ts'
import type { Db } from '../db/pool.ts'
import { findReport } from '../db/reports.ts'
import { accountOf } from '../people/account-actions.ts'
import { refusal } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import { analyzeReport } from './queues.ts'

const REASON_CHARS_MAX = 500

/**
 * Bans a reporter: new reports are answered, analyzed and shown as usual, but have no effect on
 * others.
 */
export const banReporter = defineAction({
  name: 'bans add',
  summary: 'hold the reports of an account',
  audit: 'shadow ban',
  role: 'analyst',
  input: z.object({
    email: textField(320, refusal('refused.account')).meta({ argument: 'ACCOUNT' }),
    reason: textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' }),
  }),
  async run(tx, { email, reason }, { at, reporterId }) {
    const reporter = await accountOf(tx, email)
    if (!reporter) {
      return { problems: [{ field: 'email', message: refusal('refused.no-account') }] }
    }
    const { id } = reporter
    if (reporter.role !== null) {
      const message = refusal('refused.has-role')
      return { problems: [{ field: 'email', message }] }
    }
    await putShadowBan(tx, { reporterId: id, reason, imposedAt: at, imposedBy: reporterId })
    return { done: 'banned', audit: `${id}: ${reason}`, id }
  },
})

/** Lifts a ban: new reports count again; reports already held stay held. */
export const liftBan = defineAction({
  name: 'bans remove',
  summary: 'remove the shadow ban of an account',
  audit: 'lift shadow ban',
  role: 'analyst',
  input: z.object({ reporter: z.uuid() }),
  async run(tx, { reporter }) {
    const isLifted = await removeShadowBan(tx, reporter)
    return isLifted ? { done: 'lifted', audit: reporter } : { unchanged: 'nothing' }
  },
})

/** Held reports: one, or all of a reporter. */
const held = z.object({ reporter: z.uuid(), report: z.string().optional() })

/** The maximum number of held reports released or dropped in a transaction, and by one action. */
const AT_ONCE = 100
const IN_ONE_GO_MAX = 10_000

/**
 * Releases held reports. Their reporters see no change; a job adds the effects that were held back.
 */
export const releaseHeldReports = defineAction({
  name: 'bans release',
  summary: 'release held reports',
  audit: 'release reports',
  role: 'analyst',
  input: held,
  async run(tx, which, { boss, count }: ActionContext<'boss'>) {
    return endStep(tx, which, { how: 'released', count }, async (ids) => {
      await send(
        boss,
        analyzeReport,
        ids.map((reportId) => ({ reportId })),
        tx,
      )
    })
  },
})

/** Drops held reports: they never count. Their reporters see no change. */
export const dropHeldReports = defineAction({
  name: 'bans drop',
  summary: 'discard held reports',
  audit: 'drop reports',
  role: 'analyst',
  input: held,
  run: (tx, which, { count }) => endStep(tx, which, { how: 'dropped', count }),
})

async function endStep<How extends 'released' | 'dropped'>(
  tx: Db,
  { reporter, report }: z.output<typeof held>,
  { how, count }: { how: How; count: number },
  follow?: (ids: readonly string[]) => Promise<void>,
): Promise<Outcome<How>> {
  if (report !== undefined && !(await isOf(tx, report, reporter))) {
    const message = refusal('refused.not-held')
    return { problems: [{ field: 'report', message }] }
  }
  const page = { reporterId: reporter, before: undefined, limit: AT_ONCE }
  const ids =
    report === undefined ? (await listHeldReports(tx, page)).map(({ id }) => id) : [report]
  const ended = await endHolding(tx, ids, how)
  if (ended.length === 0) return { done: how, count: 0 }
  await follow?.(ended)
  const audit = report ?? `${ended.length} of ${reporter}`
  return {
    done: how,
    count: ended.length,
    audit,
    isPartial: ids.length === AT_ONCE && count + AT_ONCE < IN_ONE_GO_MAX,
  }
}

async function isOf(tx: Db, reportId: string, reporterId: string): Promise<boolean> {
  if (!isId(reportId)) return false
  return (await findReport(tx, reportId))?.reporterId === reporterId
}
