import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import type { ReadCounterHealth } from '../counters/counter-health.ts'
import type { Preview } from '../feedback/preview-feedback.ts'
import type { Credentials } from '../intake/credentials.ts'
import type { Limits } from '../intake/limits/limits.ts'
import type { ReadMail } from './mail-now.ts'
import type { BodyPool } from './bodies/body-pool.ts'
import type { Metrics } from './metrics.ts'
import type { ReadQueues } from './queues-now.ts'
import type { ReadBody, TakeBody } from './read-body.ts'
import type { TakeUpload } from './reporting/take-upload.ts'
import type { ReadLines } from './api/read-lines.ts'
import type { Submit } from './submit.ts'

/** What the routes of one web process share. */
export type Site = App & {
  /** Without a trailing slash, with the port that is listened on when none was set. */
  publicUrl: string
  credentials: Credentials
  /** Whether a request comes from a program of this machine, with no proxy between. */
  isTrusted: (req: IncomingMessage) => boolean
  /** Who may do what how often; routes call `admit` of `http/limits`. */
  limits: Limits
  submit: Submit
  /** Takes files that hold messages, of whatever form. */
  takeUpload: TakeUpload
  readBody: ReadBody
  takeBody: TakeBody
  /** For who has not signed in: strangers share a smaller part of the memory. */
  takeStrangerBody: TakeBody
  /** Reads what large bodies hold. */
  bodies: BodyPool
  readLines: ReadLines
  readQueues: ReadQueues
  readMail: ReadMail
  readCounterHealth: ReadCounterHealth
  metrics: Metrics
  /** Whether the process is about to end: it still answers, but is not ready. */
  isClosing: () => boolean
  /** The mail that a feedback report would leave as now. */
  preview: Preview
}
