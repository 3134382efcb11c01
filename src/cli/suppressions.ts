import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import { listSuppressions, type Suppression } from '../db/suppressions.ts'
import { UsageError } from '../errors.ts'
import { liftSuppression, readAddress, suppressManually } from '../feedback/suppress.ts'
import { storableText } from '../mail/text.ts'

/** The subcommands of `suppressions`. */
export type SuppressionsRequest =
  | { action: 'list'; part: string | undefined }
  | { action: 'add'; address: string; detail: string; days: number | undefined }
  | { action: 'remove'; address: string }

/** The output, and whether the command succeeded. */
export type SuppressionsTold = { told: string; isDone: boolean }

const DAY_MS = 86_400_000
const DAYS_MAX = 3_650
const DETAIL_CHARS_MAX = 500
const ROWS_AT_ONCE = 500
const usage =
  'Use "suppressions list [PART]", "add ADDRESS --why TEXT [--days N]" or "remove ADDRESS".'

/**
 * Parses `list [PART]`, `add ADDRESS --why TEXT [--days N]` or `remove ADDRESS`.
 *
 * @throws UsageError
 */
export function parseSuppressions(args: readonly string[]): SuppressionsRequest {
  const options = { why: { type: 'string' }, days: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [action, given, ...rest] = positionals
  if (rest.length > 0) throw new UsageError([usage])
  if (action === 'list') return { action, part: given }
  const address = readAddress(given ?? '')
  if (action !== 'add' && action !== 'remove') throw new UsageError([usage])
  if (address === undefined)
    throw new UsageError([`"${given ?? ''}" is not a valid email address.`])
  if (action === 'remove') return { action, address }
  const detail = storableText(values.why?.trim() ?? '', DETAIL_CHARS_MAX)
  const faults = [
    ...(detail === '' ? ['Give a reason with --why TEXT.'] : []),
    ...(isDays(values.days) ? [] : [`--days must be a number from 1 to ${DAYS_MAX}.`]),
  ]
  if (faults.length > 0) throw new UsageError(faults)
  return { action, address, detail, days: values.days ? Number(values.days) : undefined }
}

function isDays(days: string | undefined): boolean {
  if (days === undefined) return true
  return /^[1-9]\d{0,3}$/.test(days) && Number(days) <= DAYS_MAX
}

/** Runs the subcommand and returns its output: one line per address. */
export async function runSuppressions(
  request: SuppressionsRequest,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<SuppressionsTold> {
  const deed = { at: app.clock(), reporterId: null }
  if (request.action === 'list') {
    const lines = await listAll(app, request.part)
    return { told: lines.map((line) => `${line}\n`).join(''), isDone: true }
  }
  const { address } = request
  if (request.action === 'remove') {
    const isDone = await inTransaction(app.pool, (tx) => liftSuppression(tx, address, deed))
    return {
      told: `${address} is ${isDone ? 'no longer' : 'not'} suppressed.\n`,
      isDone,
    }
  }
  const { detail, days } = request
  const until = days === undefined ? null : new Date(deed.at.getTime() + days * DAY_MS)
  await inTransaction(app.pool, (tx) => suppressManually(tx, { address, detail, until }, deed))
  return { told: `Suppressed ${address}. It gets no more mail.\n`, isDone: true }
}

async function listAll({ pool }: Pick<App, 'pool'>, part: string | undefined): Promise<string[]> {
  const lines: string[] = []
  let after: string | undefined
  for (;;) {
    const rows = await listSuppressions(pool, { after, part, limit: ROWS_AT_ONCE })
    lines.push(...rows.map(lineOf))
    if (rows.length < ROWS_AT_ONCE) return lines
    after = rows.at(-1)?.address
  }
}

function lineOf({ address, reason, status, detail, since, until }: Suppression): string {
  const day = (at: Date) => at.toISOString().slice(0, 10)
  const term = until ? `until ${day(until)}` : 'permanent'
  const code = status === null ? '' : ` (${status})`
  return `${address}  ${reason}${code}  since ${day(since)}, ${term}  ${detail}`
}
