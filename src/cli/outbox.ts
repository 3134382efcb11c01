import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import { listConsumers } from '../db/consumers.ts'
import { listBacklogs } from '../db/dead-letters.ts'
import { type FeedbackState, feedbackStates, listOutbox } from '../db/feedback-reports.ts'
import type { ReleasedState } from '../db/feedback-waiting.ts'
import { UsageError } from '../errors.ts'
import {
  releasedWords,
  releaseFeedbackReports,
  releaseLettersToPeople,
} from '../feedback/release-held.ts'
import { queueNames } from '../processes/queues.ts'
import { deadLetterQueue } from '../queue/define-queue.ts'
import { redriveDeadLetters } from '../queue/redrive.ts'

/** The subcommands of `outbox`. */
export type OutboxRequest =
  | { action: 'list'; state: FeedbackState | undefined }
  | { action: 'release' | 'resend'; what: 'feedback' | 'letters' | { to: string } }

const LINES_MAX = 1_000
const usage = 'Use "outbox list [STATE]" or "outbox release|resend [--to ADDRESS | --letters]".'

/**
 * Parses `list [STATE]`, or `release` or `resend` with `[--to ADDRESS | --letters]`.
 *
 * @throws UsageError
 */
export function parseOutbox(args: readonly string[]): OutboxRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { to: { type: 'string' }, letters: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [action, given, ...rest] = positionals
  const hasOptions = values.to !== undefined || values.letters
  if (rest.length > 0) throw new UsageError([usage])
  if (action === 'list' && !hasOptions) {
    const state = feedbackStates.find((name) => name === given)
    if (given === undefined || state !== undefined) return { action, state }
    throw new UsageError([`Unknown state "${given}". The states are ${feedbackStates.join(', ')}.`])
  }
  const isKnown = action === 'release' || action === 'resend'
  if (!isKnown || given !== undefined) throw new UsageError([usage])
  if (values.to !== undefined && values.letters) throw new UsageError([usage])
  if (values.to !== undefined) return { action, what: { to: values.to.toLowerCase() } }
  return { action, what: values.letters ? 'letters' : 'feedback' }
}

/**
 * Lists the newest feedback reports, releases held ones, or sends refused ones again. Changes get
 * an audit entry.
 */
export async function runOutbox(
  request: OutboxRequest,
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
): Promise<{ told: string; isDone: boolean }> {
  if (request.action === 'list') {
    const lines = await listOutbox(app.pool, { state: request.state }, LINES_MAX)
    return { told: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), isDone: true }
  }
  const { action, what } = request
  const from: ReleasedState = action === 'release' ? 'held' : 'refused'
  const told = (count: number, of: string) => {
    return { told: `${releasedWords(from, count, of)}\n`, isDone: true }
  }
  if (what === 'letters') {
    return told(await releaseLettersToPeople(app, { which: 'all', from }, null), 'letters')
  }
  if (what === 'feedback') {
    return told(await releaseFeedbackReports(app, { which: 'all', from }, null), 'feedback reports')
  }
  const consumer = (await listConsumers(app.pool, [what.to])).get(what.to)
  if (!consumer) return { told: `No consumer has the address ${what.to}.\n`, isDone: false }
  const which = { consumerId: consumer.id }
  return told(await releaseFeedbackReports(app, { which, from }, null), 'feedback reports')
}

/** The subcommands of `queue`. */
export type QueueRequest =
  | { action: 'list' }
  | { action: 'retry'; source: string | undefined }
  | { action: 'purge'; queue: string }

/** Parses `list`, `retry [QUEUE]` or `purge QUEUE`. */
export function parseQueue(args: readonly string[]): QueueRequest {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
  const [action, name, ...rest] = positionals
  const known = [...queueNames, deadLetterQueue]
  if (rest.length > 0 || (name !== undefined && !known.includes(name))) {
    throw new UsageError([`Name one of the queues ${known.join(', ')}.`])
  }
  if (action === 'list') return { action }
  if (action === 'retry') return { action, source: name }
  if (action === 'purge' && name !== undefined) return { action, queue: name }
  throw new UsageError(['Use "queue list", "queue retry [QUEUE]" or "queue purge QUEUE".'])
}

type Needs = Pick<App, 'boss' | 'pool' | 'clock'>

/** Lists the queues, retries dead letters, or deletes the waiting jobs of a queue. */
export async function runQueue(request: QueueRequest, app: Needs): Promise<string> {
  if (request.action === 'purge') {
    await app.boss.deleteQueuedJobs(request.queue)
    const told = `Deleted the waiting jobs of ${request.queue}.`
    // Changes from the command line get an audit entry, as those from the pages do.
    const entry = { at: app.clock(), reporterId: null, action: 'purge', detail: told } as const
    await insertAudit(app.pool, entry)
    return told
  }
  if (request.action === 'retry') {
    const which = request.source === undefined ? 'all' : { source: request.source }
    return `Returned ${await redriveDeadLetters(app, which, null)} dead letters to their queues.`
  }
  const backlogs = await listBacklogs(app.pool, [...queueNames, deadLetterQueue], app.clock())
  return table([
    ['queue', 'ready', 'deferred', 'oldest'],
    ...backlogs.map(({ name, ready, deferred, oldestJobSeconds }) => [
      name,
      String(ready),
      String(deferred),
      `${Math.round(oldestJobSeconds)} s`,
    ]),
  ])
}

function table(rows: readonly (readonly string[])[]): string {
  return rows
    .map(
      ([name = '', ...cells]) => name.padEnd(16) + cells.map((cell) => cell.padStart(10)).join(''),
    )
    .join('\n')
}
