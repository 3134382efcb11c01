import type { IncomingMessage } from 'node:http'
import type { WebApp } from '../app.ts'
import type { ReadCounterHealth } from '../counting/run-roll-ups.ts'
import type { Packed } from '../db/rows.ts'
import type { ReadLastKnown } from '../health/last-known.ts'
import type { ReadHealth } from '../health/read-health.ts'
import type { Preview } from '../feedback/compose-feedback.ts'
import type { ReadSample } from '../feedback/sample-report.ts'
import type { ReadWritten } from '../judging/rule-versions.ts'
import type { SenderWatch } from '../judging/sender-watch.ts'
import type { Callers } from '../outage/callers.ts'
import type { AdvisesProbe } from '../letters/probe-letter.ts'
import type { Outage } from '../outage/outage.ts'
import type { Spool } from '../outage/spool.ts'
import type { Credentials } from '../people/credentials.ts'
import type { FrontLookUps } from '../people/front-callers.ts'
import type { Limits } from '../people/limits.ts'
import type { FindMailboxUser } from '../people/mailbox-users.ts'
import type { ReadLines } from './bodies/read-lines.ts'
import type { BodyPool } from './bodies/body-pool.ts'
import type { ReadBody, TakeBody } from './bodies/read-body.ts'
import type { Metrics } from './metrics.ts'
import type { Statistics } from './pages/published-months.ts'
import type { LookInto, TakeUpload } from './reporting/take-upload.ts'
import type { Submit } from './submit.ts'
import type { ReadMail, ReadQueues } from './read-backlogs.ts'

/** The dependencies that the routes of one web process share. */
export type Site = WebApp & {
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
  /** Whether a request reaches a trial instance, which only this machine can use. */
  isTrial: (req: IncomingMessage) => boolean
  /** The rate limits. Routes check them with `admit` in `web/limits.ts`. */
  limits: Limits
  /** The accounts of mailbox users for whom providers report. */
  mailboxUsers: FindMailboxUser
  /** Whether a test letter would show how mail comes to a reporter. */
  advisesProbe: AdvisesProbe
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
  readHealth: ReadHealth
  /** What is known while the database hangs. */
  readLastKnown: ReadLastKnown
  /** The figures for the public. */
  statistics: Statistics
  metrics: Metrics
  /** Whether the process is stopping: it still answers, but is not ready. */
  isClosing: () => boolean
  /** Watches a user of the mail server about whom an event was reported. */
  noteSender: SenderWatch['note']
  /** Composes a feedback report as it would be sent now. */
  preview: Preview
  readText: ReadText
  /** Reads the texts of a message that rules can match, in a thread. */
  readWritten: ReadWritten
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
