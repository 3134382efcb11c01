import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Mail that came in by SMTP, LMTP or a pipe. */
export type InboundMail = Packed & {
  id: string
  receivedAt: Date
  mailFrom: string
  rcptTo: string
  /** The feedback report it answers, by the VERP token of its recipient. */
  reportId: string | null
  number: number | null
}

/** Keeps a mail that came in. */
export async function insertInboundMail(tx: Db, mail: InboundMail): Promise<void> {
  await tx.query(
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, report_id, number, state,
       encoding, content)
     values ($1, $2, $3, $4, $5, $6, 'received', $7, $8)`,
    [
      mail.id,
      mail.receivedAt,
      mail.mailFrom,
      mail.rcptTo,
      mail.reportId,
      mail.number,
      mail.encoding,
      mail.content,
    ],
  )
}

/** A mail that is still to be handled. */
export async function findWaitingMail(db: Db, id: string): Promise<InboundMail | undefined> {
  const answer = await db.query<InboundMail>(
    `select id, received_at as "receivedAt", mail_from as "mailFrom", rcpt_to as "rcptTo",
       report_id as "reportId", number, encoding, content
     from inbound_mails where id = $1 and state = 'received'`,
    [id],
  )
  return first(answer)
}

/** Mails older than the id `before` that wait to be handled, oldest first, but for `except`. */
export async function listWaitingMails(
  db: Db,
  before: string,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from inbound_mails where state = 'received' and id < $1 and id <> all($2::uuid[])
     order by id limit $3`,
    [before, except, limit],
  )
  return rows.map(({ id }) => id)
}

/** Ends the handling of a mail; false when another run had ended it. */
export async function markInboundMail(tx: Db, id: string, kind: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update inbound_mails set state = 'handled', kind = $2 where id = $1 and state = 'received'`,
    [id, kind],
  )
  return rowCount === 1
}
