import type { App } from '../../app.ts'
import { listDeadIds } from '../../db/dead-letters.ts'
import { markMailsFailed } from '../../db/inbox.ts'
import { handleInbound, takeMailed } from '../../queue/queues.ts'

/** Marks mails as failed whose job has died. Redriving the job handles them all the same. */
export async function markDeadMails({ pool }: Pick<App, 'pool'>, since: Date): Promise<void> {
  const dead = await listDeadIds(pool, 'mailId', [handleInbound.name, takeMailed.name], since)
  if (dead.length > 0) await markMailsFailed(pool, dead)
}
