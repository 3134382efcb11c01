import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import { type HeldChoice, type ReleasedState, releaseFeedback } from '../db/feedback-waiting.ts'
import { releaseLetters } from '../db/letters.ts'
import { inTransaction } from '../db/pool.ts'
import { sendLetter } from '../letters/send-letter.ts'
import { send } from '../queue/boss.ts'
import { forwardReport } from './forward-report.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

const AT_ONCE = 500

/**
 * Releases held feedback reports, or sends refused ones again. Each transaction queues a batch with
 * its jobs and an audit entry. Returns the number of queued reports; a repeated call returns 0.
 */
export async function releaseFeedbackReports(
  app: Needs,
  { which, from }: { which: HeldChoice; from: ReleasedState },
  administratorId: string | null,
): Promise<number> {
  return inSteps((limit) =>
    inTransaction(app.pool, async (tx) => {
      const keys = await releaseFeedback(tx, { which, from, now: app.clock() }, limit)
      await send(app.boss, forwardReport, keys, tx)
      await note(tx, app, { administratorId, from, count: keys.length, what: 'feedback reports' })
      return keys.length
    }),
  )
}

/** Releases held letters, or sends refused ones again: one or all. Returns how many. */
export async function releaseLettersToPeople(
  app: Needs,
  { which, from }: { which: { letterId: string } | 'all'; from: ReleasedState },
  administratorId: string | null,
): Promise<number> {
  return inSteps((limit) =>
    inTransaction(app.pool, async (tx) => {
      const ids = await releaseLetters(tx, { which, from, now: app.clock() }, limit)
      const jobs = ids.map((letterId) => ({ letterId }))
      await send(app.boss, sendLetter, jobs, tx)
      await note(tx, app, { administratorId, from, count: ids.length, what: 'letters' })
      return ids.length
    }),
  )
}

/** The sentence for the audit log and the command line. */
export function releasedWords(from: ReleasedState, count: number, what: string): string {
  const done = from === 'held' ? 'were released' : 'were queued to be sent again'
  return `${count} ${from} ${what} ${done}.`
}

async function inSteps(step: (limit: number) => Promise<number>): Promise<number> {
  let released = 0
  for (;;) {
    const done = await step(AT_ONCE)
    released += done
    if (done < AT_ONCE) return released
  }
}

type Released = {
  administratorId: string | null
  from: ReleasedState
  count: number
  what: string
}

async function note(
  tx: Parameters<typeof insertAudit>[0],
  { clock }: Pick<Needs, 'clock'>,
  { administratorId, from, count, what }: Released,
): Promise<void> {
  if (count === 0) return
  const action = from === 'held' ? 'release' : 'resend'
  const detail = releasedWords(from, count, what)
  await insertAudit(tx, { at: clock(), reporterId: administratorId, action, detail })
}
