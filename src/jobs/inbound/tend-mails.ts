import type { App } from '../../app.ts'
import { markMailsFailed } from '../../db/inbox.ts'
import { listDeadMailIds, listMailsWithJobs, listWaitingMails } from '../../db/mail-jobs.ts'
import { inTransaction } from '../../db/pool.ts'
import { handleInbound, takeMailed } from '../../queue/queues.ts'
import { send } from '../../queue/send.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'log'>

/** Marks mails as failed whose job has died. Redriving the job handles them all the same. */
export async function markDeadMails({ pool }: Pick<Needs, 'pool'>, since: Date): Promise<void> {
  const dead = await listDeadMailIds(pool, [handleInbound.name, takeMailed.name], since)
  if (dead.length > 0) await markMailsFailed(pool, dead)
}

/** Gives a job to mails older than the id `before` that wait without one. */
export async function requeueMails(
  { pool, boss, log }: Needs,
  before: string,
  limit: number,
): Promise<void> {
  const waiting = await listWaitingMails(pool, before, limit)
  for (const queue of [handleInbound, takeMailed]) {
    const isMailIn = queue === takeMailed
    const ids = waiting.filter((mail) => mail.isMailIn === isMailIn).map(({ mailId }) => mailId)
    if (ids.length === 0) continue
    const busy = new Set([
      ...(await listMailsWithJobs(pool, queue.name, ids)),
      ...(await listDeadMailIds(pool, [queue.name], new Date(0))),
    ])
    const orphans = ids.filter((id) => !busy.has(id)).map((mailId) => ({ mailId }))
    if (orphans.length === 0) continue
    const facts = { queue: queue.name, mails: orphans.length }
    log.warn(facts, 'Mails without a job were put in line again.')
    await inTransaction(pool, (tx) => send(boss, queue, orphans, tx))
  }
}
