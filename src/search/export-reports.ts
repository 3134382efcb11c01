import { setImmediate } from 'node:timers/promises'
import { insertAudit, type OperatorAction } from '../db/audit-log.ts'
import type { Pool } from '../db/pool.ts'
import { findRawMessage } from '../db/reports.ts'
import { concealKeys, concealKeysInSteps } from '../mail/conceal-keys.ts'
import { type FoundReport, listFoundReports } from '../db/search.ts'
import { csvLine } from '../mail/csv.ts'
import { listFound, openSearch } from './find-reports.ts'
import { type Clause, formatSearch } from './syntax.ts'

/** The formats of an export, with the media type and the maximum number of reports of each. */
export const exportFormats = {
  csv: { type: 'text/csv; charset=utf-8', reportsMax: 100_000 },
  jsonl: { type: 'application/jsonl', reportsMax: 100_000 },
  mbox: { type: 'application/mbox', reportsMax: 10_000 },
} as const

export type ExportFormat = keyof typeof exportFormats

const REPORTS_AT_ONCE = 500

/**
 * Exports the reports that a search finds, newest first, as pieces of a file. An audit entry is
 * written first, because an export shows personal data. `mbox` has the messages as received; those
 * that were deleted are left out.
 */
export async function* exportReports(
  pool: Pool,
  { clauses, format }: { clauses: readonly Clause[]; format: ExportFormat },
  by: OperatorAction,
): AsyncGenerator<Buffer> {
  const detail = `${format}: ${formatSearch(clauses) || 'all reports'}`
  await insertAudit(pool, { ...by, action: 'export reports', detail })
  if (format === 'csv') yield Buffer.from(csvLine(columns))
  const search = await openSearch(pool, clauses)
  let left: number = exportFormats[format].reportsMax
  let before: string | undefined
  while (left > 0) {
    const ids = await listFound(pool, search, { before, limit: Math.min(left, REPORTS_AT_ONCE) })
    if (ids.length === 0) return
    before = ids.at(-1)
    left -= ids.length
    const reports = await listFoundReports(pool, ids)
    if (format !== 'mbox') yield Buffer.from(concealKeys(reports.map(line(format)).join('')))
    else for (const { id, receivedAt } of reports) yield* mboxEntry(pool, id, receivedAt)
  }
}

const columns = [
  ...['id', 'received_at', 'kind', 'state', 'channel', 'author', 'subject', 'origin'],
  ...['network', 'verdict', 'reporter_id'],
]

function line(format: 'csv' | 'jsonl'): (report: FoundReport) => string {
  return (report) => {
    const values = [
      ...[report.id, report.receivedAt.toISOString(), report.kind, report.state, report.channel],
      ...[report.author, report.subject, report.originIp, report.networkName],
      ...[report.verdictClass, report.reporterId],
    ]
    if (format === 'csv') return csvLine(values)
    const named = columns.map((column, index) => [column, values[index] ?? null])
    return `${JSON.stringify(Object.fromEntries(named))}\n`
  }
}

/** An entry of an mbox file, with `>` in front of lines that begin like another entry (mboxrd). */
async function* mboxEntry(pool: Pool, id: string, receivedAt: Date): AsyncGenerator<Buffer> {
  const stored = await findRawMessage(pool, id)
  if (!stored) return
  const raw = await concealKeysInSteps(stored, setImmediate)
  const [weekday, day, month, year, time] = receivedAt.toUTCString().split(/,? /)
  const start = `From ${id} ${weekday} ${month} ${day} ${time} ${year}\n`
  const quoted = raw.toString('latin1').replaceAll(/^(?=>*From )/gm, '>')
  yield Buffer.from(`${start}${quoted}${quoted.endsWith('\n') ? '' : '\n'}\n`, 'latin1')
}
