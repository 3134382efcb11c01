import { expect } from 'vitest'
import type { TestDatabase } from './database.ts'
import { spamMessage } from './messages.ts'

/** A report that was acknowledged; `mark` makes its message unique. */
export type AcceptedReport = { id: string; mark: string }

/** Reports a message; returns the id, or undefined if it was not accepted. */
export async function postReport(
  { url }: { url: string },
  token: string,
  mark: string,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const options = { method: 'POST', headers, body: spamMessage(mark) }
  const answer = await fetch(`${url}/api/v1/reports`, options)
  const { id } = (await answer.json()) as { id?: string }
  return answer.status === 202 || answer.status === 200 ? id : undefined
}

/** Each message has one report and one job, and each id is that of its report or an alias. */
export async function expectOnce(
  { pool }: TestDatabase,
  accepted: readonly AcceptedReport[],
  prefix: string,
): Promise<void> {
  const { rows: reports } = await pool.query<{ id: string; mark: string }>(
    `
    select id, replace(subject, 'Cheap watches ', '') as mark from reports
    where subject like $1`,
    [`%${prefix}%`],
  )
  const { rows: aliases } = await pool.query<{ id: string; reportId: string }>(
    'select id, report_id as "reportId" from report_aliases',
  )
  const { rows: jobs } = await pool.query<{ id: string }>(`
    select data ->> 'reportId' as id from pgboss.job where name = 'analyze-report'`)
  const aliasOf = new Map(aliases.map(({ id, reportId }) => [id, reportId]))
  const idOf = new Map(reports.map(({ id, mark }) => [mark, id]))
  const marks = new Set(accepted.map(({ mark }) => mark))
  expect([reports.length, idOf.size]).toEqual([marks.size, marks.size])
  for (const { id, mark } of accepted) expect(aliasOf.get(id) ?? id).toBe(idOf.get(mark))
  const counted = jobs.filter(({ id }) => reports.some((one) => one.id === id))
  expect(counted.length).toBe(marks.size)
}
