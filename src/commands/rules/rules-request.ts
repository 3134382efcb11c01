import { parseArgs } from 'node:util'
import { UsageError } from '../../errors.ts'
import { dryRunReports } from '../../verdict/rules/dry-run.ts'

/** What `rules` was asked to do; a file is given by its path, `-` is standard input. */
export type RulesRequest =
  | { action: 'list' }
  | { action: 'history' }
  | { action: 'facts' }
  | { action: 'show'; version: number | undefined }
  | { action: 'check'; file: string }
  | { action: 'diff'; file: string }
  | { action: 'dry-run'; file: string; last: number }
  | { action: 'apply'; file: string; note: string }
  | { action: 'rollback'; version: number }

/**
 * Reads what stands after `rules`.
 *
 * @throws UsageError
 */
export function parseRules(args: readonly string[]): RulesRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { last: { type: 'string' }, note: { type: 'string' } },
  })
  const [action, given, ...rest] = positionals
  const { last, note } = values
  if (last !== undefined && action !== 'dry-run') refuse('--last is for "rules dry-run".')
  if (note !== undefined && action !== 'apply') refuse('--note is for "rules apply".')
  if (rest.length > 0) refuse(`What is "${rest[0]}"? Nothing stands there.`)
  switch (action) {
    case 'list':
    case 'history':
    case 'facts':
      if (given !== undefined) refuse(`What is "${given}"? Nothing stands there.`)
      return { action }
    case 'show':
      return { action, version: given === undefined ? undefined : versionOf(given) }
    case 'rollback':
      return { action, version: versionOf(given) }
    case 'check':
    case 'diff':
      return { action, file: fileOf(given) }
    case 'dry-run':
      return { action, file: fileOf(given), last: lastOf(last) }
    case 'apply':
      return { action, file: fileOf(given), note: note ?? '' }
    default:
      return refuse('Say what to do with the rules.')
  }
}

function fileOf(given: string | undefined): string {
  return given ?? refuse('Which file? "-" is standard input.')
}

function versionOf(given: string | undefined): number {
  if (given !== undefined && /^\d{1,9}$/.test(given)) return Number(given)
  return refuse('A version is a number; "rules history" lists them, 0 is what the program brings.')
}

function lastOf(given: string | undefined): number {
  if (given === undefined) return dryRunReports.usual
  const last = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (last >= 1 && last <= dryRunReports.max) return last
  return refuse(`--last is a number from 1 to ${dryRunReports.max}.`)
}

function refuse(problem: string): never {
  throw new UsageError([problem])
}
