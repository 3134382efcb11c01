import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { listConsumers } from '../../db/consumers.ts'
import { type FeedbackState, feedbackStates, listOutbox } from '../../db/feedback-reports.ts'
import { UsageError } from '../../errors.ts'
import type { ReleasedState } from '../../db/feedback-held.ts'
import {
  releasedWords,
  releaseFeedbackReports,
  releaseLettersToPeople,
} from '../../feedback/release-held.ts'

/** What `outbox` was asked to do. */
export type OutboxRequest =
  | { action: 'list'; state: FeedbackState | undefined }
  | { action: 'release' | 'resend'; what: 'feedback' | 'letters' | { to: string } }

const LINES_MAX = 1_000
const usage = 'Say "outbox list [STATE]" or "outbox release|resend [--to ADDRESS | --letters]".'

/**
 * Reads `list [STATE]`, or `release` or `resend` with `[--to ADDRESS | --letters]`.
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
    throw new UsageError([`There is no state "${given}"; there are ${feedbackStates.join(', ')}.`])
  }
  const isKnown = action === 'release' || action === 'resend'
  if (!isKnown || given !== undefined) throw new UsageError([usage])
  if (values.to !== undefined && values.letters) throw new UsageError([usage])
  if (values.to !== undefined) return { action, what: { to: values.to.toLowerCase() } }
  return { action, what: values.letters ? 'letters' : 'feedback' }
}

/**
 * Lists the newest feedback reports, lets what is held leave, or sends again what was refused, and
 * writes that down.
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
  if (!consumer) return { told: `Nobody at ${what.to} is told anything.\n`, isDone: false }
  const which = { consumerId: consumer.id }
  return told(await releaseFeedbackReports(app, { which, from }, null), 'feedback reports')
}
