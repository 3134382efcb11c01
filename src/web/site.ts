import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import type { ReadCounterHealth } from '../counting/run-roll-ups.ts'
import { listBacklogs, type QueueBacklog } from '../db/dead-letters.ts'
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
import type { Packed } from '../db/rows.ts'
import type { ReadHealth } from '../health/read-health.ts'
import type { Preview } from '../feedback/compose-feedback.ts'
import type { ReadSample } from '../feedback/sample-report.ts'
import type { SenderWatch } from '../judging/sender-watch.ts'
import type { Callers } from '../outage/callers.ts'
import type { Outage } from '../outage/outage.ts'
import type { Spool } from '../outage/spool.ts'
import type { Credentials } from '../people/credentials.ts'
import type { FrontLookUps } from '../people/front-callers.ts'
import type { Limits } from '../people/limits.ts'
import type { FindMailboxUser } from '../people/mailbox-users.ts'
import type { Boss } from '../queue/boss.ts'
import { deadLetterQueue } from '../queue/define-queue.ts'
import type { Clock } from '../world.ts'
import type { ReadLines } from './api/bulk.ts'
import type { BodyPool } from './bodies/body-pool.ts'
import type { ReadBody, TakeBody } from './bodies/read-body.ts'
import type { Metrics } from './metrics.ts'
import type { Statistics } from './pages/published-months.ts'
import type { LookInto, TakeUpload } from './reporting/take-upload.ts'
import type { Submit } from './submit.ts'

/** The dependencies that the routes of one web process share. */
export type Site = App & {
  /** Without a trailing slash. If none is configured, it contains the port of the server. */
  publicUrl: string
  credentials: Credentials
  /** Whether the database is away, and what happens then. */
  outage: Outage
  callers: Callers
  spool: Spool
  /** Set if this is a front, which takes reports for another installation. */
  front?: Front
  /** Whether a request comes from a program on this machine without a proxy. */
  isTrusted: (req: IncomingMessage) => boolean
  /** The rate limits. Routes check them with `admit` in `web/limits.ts`. */
  limits: Limits
  /** The accounts of mailbox users for whom providers report. */
  mailboxUsers: FindMailboxUser
  submit: Submit
  /** Accepts files of any supported format that contain messages. */
  takeUpload: TakeUpload
  /** Shows what is in such files before they are submitted. */
  lookInto: LookInto
  readBody: ReadBody
  takeBody: TakeBody
  /** Reads bodies of visitors who are not signed in, who share a smaller part of the memory. */
  takeAnonymousBody: TakeBody
  /** Parses the contents of large bodies. */
  bodies: BodyPool
  readLines: ReadLines
  readQueues: ReadQueues
  readMail: ReadMail
  readCounterHealth: ReadCounterHealth
  /** Reads all conditions of health. */
  readHealth: ReadHealth
  /** The figures for the public. */
  statistics: Statistics
  metrics: Metrics
  /** Whether the process is stopping: it still answers, but is not ready. */
  isClosing: () => boolean
  /** Watches a user of the mail server about whom an event was reported. */
  noteSender: SenderWatch['note']
  /** Composes a feedback report as it would be sent now. */
  preview: Preview
  /** Reads the visible text of a message in a thread. */
  readText: ReadText
  /** Composes an invented feedback report. */
  readSample: ReadSample
}

/** What a front has instead of a database. */
export type Front = FrontLookUps & {
  /** Whether the main installation is away. */
  link: Outage
  /** Why it is away, and what to do; undefined while it answers. */
  obstacle: () => string | undefined
}

/** Returns the visible text of a packed message, at most 4,096 characters. */
export type ReadText = (message: Packed) => Promise<string>

/** The state of outgoing mail. */
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

const REMEMBERED_MS = 2_000

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
