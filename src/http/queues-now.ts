import type { Pool } from '../db/pool.ts'
import { listBacklogs, type QueueBacklog } from '../db/queue-health.ts'
import type { Boss } from '../queue/boss.ts'
import { deadLetterQueue, queues } from '../queue/queues.ts'
import type { Clock } from '../world.ts'

/** How a queue fares; `active` and `failed` are as old as a worker's last count, up to 30 s. */
export type QueueState = QueueBacklog & { active: number; failed: number }

/** Reads the state of every queue, the dead letters last. */
export type ReadQueues = () => Promise<readonly QueueState[]>

const REMEMBERED_MS = 2_000

/** A reader that asks the database at most every two seconds, however many ask. */
export function createReadQueues(app: { pool: Pool; boss: Boss; clock: Clock }): ReadQueues {
  let readAt = 0
  let reading: Promise<readonly QueueState[]> | undefined
  return () => {
    const now = app.clock()
    if (!reading || now.getTime() - readAt > REMEMBERED_MS) {
      readAt = now.getTime()
      reading = readQueues(app, now)
      reading.catch(() => (reading = undefined))
    }
    return reading
  }
}

async function readQueues(app: { pool: Pool; boss: Boss }, now: Date): Promise<QueueState[]> {
  const names = [...queues.map(({ name }) => name), deadLetterQueue]
  const [backlogs, counted] = await Promise.all([
    listBacklogs(app.pool, names, now),
    app.boss.getQueues(names),
  ])
  const countOf = new Map(counted.map((queue) => [queue.name, queue]))
  return backlogs.map((backlog) => ({
    ...backlog,
    active: countOf.get(backlog.name)?.activeCount ?? 0,
    failed: countOf.get(backlog.name)?.failedCount ?? 0,
  }))
}
