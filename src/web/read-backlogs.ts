import { listBacklogs, type QueueBacklog } from '../db/jobs.ts'
import {
  countWaitingMail,
  findMailRelay,
  listMailTotals,
  type MailKind,
  type MailRelay,
  type MailTotal,
  type WaitingMail,
} from '../db/mail-relay.ts'
import type { Pool } from '../db/pool.ts'
import { allQueues, listQueueControls } from '../db/queue-controls.ts'
import type { Boss } from '../queue/boss.ts'
import { deadLetterQueue } from '../queue/define-queue.ts'
import type { Clock } from '../world.ts'

export type MailNow = {
  relay: MailRelay
  totals: readonly MailTotal[]
  waiting: readonly WaitingMail[]
  /** The number of refused mails, which can be sent again. */
  refused: Readonly<Record<MailKind, number>>
}

export type ReadMail = () => Promise<MailNow>

/** Creates a function that reads the state of outgoing mail from the database on each call. */
export function createReadMail({ pool }: { pool: Pool }): ReadMail {
  return async () => {
    const [relay, totals, waiting] = await Promise.all([
      findMailRelay(pool),
      listMailTotals(pool),
      countWaitingMail(pool),
    ])
    return { relay, totals, ...waiting }
  }
}

/** The state of a queue; `active` and `failed` are a worker's last counts, up to 30 s old. */
export type QueueState = QueueBacklog & { active: number; failed: number; isPaused: boolean }

/** Reads the state of every queue, the dead letters last. */
export type ReadQueues = () => Promise<readonly QueueState[]>

const REMEMBERED_MS = 2000

/** Creates a reader that queries the database at most every two seconds. */
export function createReadQueues(
  app: { pool: Pool; boss: Boss; clock: Clock },
  queueNames: readonly string[],
): ReadQueues {
  const names = [...queueNames, deadLetterQueue]
  let readAt = 0
  let reading: Promise<readonly QueueState[]> | undefined
  return () => {
    const now = app.clock()
    if (!reading || now.getTime() - readAt > REMEMBERED_MS) {
      readAt = now.getTime()
      reading = readQueues(app, names, now)
      reading.catch(() => (reading = undefined))
    }
    return reading
  }
}

async function readQueues(
  app: { pool: Pool; boss: Boss },
  names: readonly string[],
  now: Date,
): Promise<QueueState[]> {
  const [backlogs, controls, counted] = await Promise.all([
    listBacklogs(app.pool, names, now),
    listQueueControls(app.pool),
    app.boss.getQueues([...names]),
  ])
  const paused = new Set(controls.flatMap(({ queue, pausedAt }) => (pausedAt ? [queue] : [])))
  const countOf = new Map(counted.map((queue) => [queue.name, queue]))
  return backlogs.map((backlog) => ({
    ...backlog,
    active: countOf.get(backlog.name)?.activeCount ?? 0,
    failed: countOf.get(backlog.name)?.failedCount ?? 0,
    isPaused: paused.has(backlog.name) || paused.has(allQueues),
  }))
}
