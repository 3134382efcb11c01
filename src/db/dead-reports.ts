import type { Db } from './pool.ts'

/** Reports whose analysis went to the dead letters since an instant and waits there. */
export async function listDeadReportIds(db: Db, since: Date): Promise<string[]> {
  const { rows } = await db.query<{ reportId: string }>(
    `select data ->> 'reportId' as "reportId" from pgboss.job
     where name = 'dead-letter' and state < 'active' and created_on >= $1
       and source_name = 'analyze-report'`,
    [since],
  )
  return rows.map(({ reportId }) => reportId)
}
