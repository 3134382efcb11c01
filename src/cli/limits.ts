import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { type LimitChange, listRateLimits, type RateLimit } from '../db/limits.ts'
import { UsageError } from '../errors.ts'
import { changeLimit } from '../people/limits.ts'

/** The subcommands of `limits`. */
export type LimitsRequest =
  | { action: 'list' }
  | { action: 'set'; name: string; change: Partial<LimitChange> }

/** The output, and whether the command succeeded. */
export type LimitsTold = { told: string; isDone: boolean }

const behaviors: readonly RateLimit['behavior'][] = ['refuse', 'shadow', 'off']
const usage =
  'Use "limits list" or "limits set NAME [--attempts N] [--seconds N] [--behavior BEHAVIOR]".'

/**
 * Parses `list`, or `set NAME` with the changes.
 *
 * @throws UsageError
 */
export function parseLimits(args: readonly string[]): LimitsRequest {
  const text = { type: 'string' } as const
  const options = { attempts: text, seconds: text, behavior: text }
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [action, name, ...rest] = positionals
  const isChange = Object.keys(values).length > 0
  if (action === 'list' && name === undefined && !isChange) return { action }
  if (action !== 'set' || name === undefined || rest.length > 0 || !isChange) {
    throw new UsageError([usage])
  }
  const behavior = behaviors.find((one) => one === values.behavior)
  if (values.behavior !== undefined && !behavior) {
    throw new UsageError([`--behavior must be one of ${behaviors.join(', ')}.`])
  }
  const change = {
    ...(values.attempts !== undefined && { attemptsMax: numberOf('attempts', values.attempts) }),
    ...(values.seconds !== undefined && { windowMs: numberOf('seconds', values.seconds) * 1_000 }),
    ...(behavior && { behavior }),
  }
  return { action, name, change }
}

function numberOf(option: string, given: string): number {
  if (/^\d{1,10}(\.\d{1,3})?$/.test(given)) return Number(given)
  throw new UsageError([`--${option} must be a number.`])
}

/** Runs the subcommand and returns its output: one line per limit, or the error. */
export async function runLimits(
  request: LimitsRequest,
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
): Promise<LimitsTold> {
  if (request.action === 'list') {
    const limits = await listRateLimits(pool)
    return { told: limits.map(lineOf).join(''), isDone: true }
  }
  const { name, change } = request
  const faults = await changeLimit(pool, name, change, { at: clock(), reporterId: null })
  if (faults.length > 0) return { told: `${faults.join('\n')}\n`, isDone: false }
  const changed = (await listRateLimits(pool)).find((one) => one.name === name)
  return { told: changed ? lineOf(changed) : '', isDone: true }
}

function lineOf({ name, attempt, keyKind, windowMs, attemptsMax, behavior }: RateLimit): string {
  const much = `${attemptsMax} in ${windowMs / 1_000} s`
  return `${name}  ${attempt} by ${keyKind}: ${much}, ${behavior}\n`
}
