import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import { type HeldChoice, releaseFeedback } from '../db/feedback-held.ts'
import { listLetters, releaseLetters } from '../db/letters.ts'
import { inTransaction } from '../db/pool.ts'
import { forwardReport, sendLetter } from '../queue/queues.ts'
import { send } from '../queue/send.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock'>

const AT_ONCE = 500

/**
 * Lets held feedback reports leave: each is put in line with its job, and who did it is written
 * down, in one transaction a step. Returns how many; a second time there are none.
 */
export async function releaseHeld(
  app: Needs,
  which: HeldChoice,
  administratorId: string | null,
): Promise<number> {
  return inSteps((limit) =>
    inTransaction(app.pool, async (tx) => {
      const keys = await releaseFeedback(tx, which, limit)
      await send(app.boss, forwardReport, keys, tx)
      await note(tx, app, administratorId, `${keys.length} held feedback reports`)
      return keys.length
    }),
  )
}

/** The same for letters: one, or all that are held. */
export async function releaseHeldLetters(
  app: Needs,
  which: { letterId: string } | 'all',
  administratorId: string | null,
): Promise<number> {
  return inSteps((limit) =>
    inTransaction(app.pool, async (tx) => {
      const held =
        which === 'all' ? await listLetters(tx, { state: 'held' }, limit) : [{ id: which.letterId }]
      const ids = await releaseLetters(
        tx,
        held.map(({ id }) => id),
      )
      const jobs = ids.map((letterId) => ({ letterId }))
      await send(app.boss, sendLetter, jobs, tx)
      await note(tx, app, administratorId, `${ids.length} held letters`)
      return ids.length
    }),
  )
}

async function inSteps(step: (limit: number) => Promise<number>): Promise<number> {
  let released = 0
  for (;;) {
    const done = await step(AT_ONCE)
    released += done
    if (done < AT_ONCE) return released
  }
}

async function note(
  tx: Parameters<typeof insertAudit>[0],
  { clock }: Pick<Needs, 'clock'>,
  reporterId: string | null,
  what: string,
): Promise<void> {
  if (what.startsWith('0 ')) return
  const detail = `${what} were released.`
  await insertAudit(tx, { at: clock(), reporterId, action: 'release', detail })
}
