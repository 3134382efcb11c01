import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { listConsumers } from '../../db/consumers.ts'
import { type FeedbackState, feedbackStates, listOutbox } from '../../db/feedback-reports.ts'
import { UsageError } from '../../errors.ts'
import { releaseHeld, releaseHeldLetters } from '../../feedback/release-held.ts'

/** What `outbox` was asked to do. */
export type OutboxRequest =
  | { action: 'list'; state: FeedbackState | undefined }
  | { action: 'release'; what: 'feedback' | 'letters' }
  | { action: 'release'; what: { to: string } }

const LINES_MAX = 1_000
const usage = 'Say "outbox list [STATE]" or "outbox release [--to ADDRESS | --letters]".'

/**
 * Reads `list [STATE]` or `release [--to ADDRESS | --letters]`.
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
  if (action !== 'release' || given !== undefined) throw new UsageError([usage])
  if (values.to !== undefined && values.letters) throw new UsageError([usage])
  if (values.to !== undefined) return { action, what: { to: values.to.toLowerCase() } }
  return { action, what: values.letters ? 'letters' : 'feedback' }
}

/** Lists the newest feedback reports, or lets what is held leave and writes that down. */
export async function runOutbox(
  request: OutboxRequest,
  app: Pick<App, 'pool' | 'boss' | 'clock'>,
): Promise<{ told: string; isDone: boolean }> {
  if (request.action === 'list') {
    const lines = await listOutbox(app.pool, { state: request.state }, LINES_MAX)
    return { told: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), isDone: true }
  }
  const { what } = request
  if (what === 'letters') {
    return released(await releaseHeldLetters(app, 'all', null), 'letters')
  }
  if (what === 'feedback') return released(await releaseHeld(app, 'all', null), 'feedback reports')
  const consumer = (await listConsumers(app.pool, [what.to])).get(what.to)
  if (!consumer) return { told: `Nobody at ${what.to} is told anything.\n`, isDone: false }
  return released(await releaseHeld(app, { consumerId: consumer.id }, null), 'feedback reports')
}

function released(count: number, what: string): { told: string; isDone: boolean } {
  return { told: `${count} held ${what} were released.\n`, isDone: true }
}
