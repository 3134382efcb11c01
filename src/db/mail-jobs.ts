import type { Db } from './pool.ts'

/** Mails whose job in one of the queues is among the dead letters, since an instant or later. */
export async function listDeadMailIds(
  db: Db,
  queues: readonly string[],
  since: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ mailId: string }>(
    `select data ->> 'mailId' as "mailId" from pgboss.job
     where name = 'dead-letter' and state < 'active' and created_on >= $1
       and source_name = any($2::text[]) and data ? 'mailId'`,
    [since, queues],
  )
  return rows.map(({ mailId }) => mailId)
}

/** Those mails that have an unfinished job in a queue. */
export async function listMailsWithJobs(
  db: Db,
  name: string,
  mailIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ mailId: string }>(
    `select distinct data ->> 'mailId' as "mailId" from pgboss.job
     where name = $1 and state <= 'active' and data ->> 'mailId' = any($2::text[])`,
    [name, mailIds],
  )
  return new Set(rows.map(({ mailId }) => mailId))
}

/** Mails older than the id `before` that wait to be handled, oldest first. */
export async function listWaitingMails(
  db: Db,
  before: string,
  limit: number,
): Promise<{ mailId: string; isMailIn: boolean }[]> {
  const { rows } = await db.query<{ mailId: string; isMailIn: boolean }>(
    `select id as "mailId", purpose = 'mail-in' as "isMailIn" from inbound_mails
     where state = 'received' and id < $1 order by id limit $2`,
    [before, limit],
  )
  return rows
}
