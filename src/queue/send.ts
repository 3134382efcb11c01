import type { Db } from '../db/pool.ts'
import { type Boss, preparedBossDb } from './boss.ts'
import type { QueueDefinition } from './queues.ts'

/**
 * Adds jobs in the transaction that makes them necessary: both are kept, or neither. Nobody takes
 * them before `startAfter`.
 */
export async function send<Payload extends object>(
  boss: Boss,
  queue: QueueDefinition<Payload>,
  payloads: readonly Payload[],
  tx: Db,
  { startAfter }: { startAfter?: Date } = {},
): Promise<void> {
  if (payloads.length === 0) return
  await boss.insert(
    queue.name,
    payloads.map((data) => (startAfter ? { data, startAfter } : { data })),
    { db: preparedBossDb(tx), returnId: false },
  )
}
