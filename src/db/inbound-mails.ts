import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** What the address of ours was given out for that a mail came to; `other` is read by people. */
export type InboundPurpose =
  'feedback-bounce' | 'feedback-answer' | 'letter-bounce' | 'letter-answer' | 'mail-in' | 'other'

/** Mail that came in by SMTP, LMTP or a pipe. */
export type InboundMail = Packed & {
  id: string
  receivedAt: Date
  mailFrom: string
  rcptTo: string
  purpose: InboundPurpose
  /** The feedback report it answers, by the token of its recipient. */
  reportId: string | null
  number: number | null
  /** The letter it answers, by the token of its recipient. */
  letterId: string | null
  /** Who reports by it, by the secret of its recipient. */
  reporterId: string | null
  /** The machine that handed it over; null from a pipe. */
  peerIp: string | null
}

/** Keeps a mail that came in. */
export async function insertInboundMail(tx: Db, mail: InboundMail): Promise<void> {
  await tx.query(
    `insert into inbound_mails (id, received_at, mail_from, rcpt_to, purpose, report_id, number,
       letter_id, reporter_id, peer_ip, state, encoding, content)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'received', $11, $12)`,
    [
      mail.id,
      mail.receivedAt,
      mail.mailFrom,
      mail.rcptTo,
      mail.purpose,
      mail.reportId,
      mail.number,
      mail.letterId,
      mail.reporterId,
      mail.peerIp,
      mail.encoding,
      mail.content,
    ],
  )
}

/** A mail that is still to be handled; one whose job had died may be handled yet. */
export async function findWaitingMail(db: Db, id: string): Promise<InboundMail | undefined> {
  const answer = await db.query<InboundMail>(
    `select id, received_at as "receivedAt", mail_from as "mailFrom", rcpt_to as "rcptTo", purpose,
       report_id as "reportId", number, letter_id as "letterId", reporter_id as "reporterId",
       host(peer_ip) as "peerIp", encoding, content
     from inbound_mails where id = $1 and state in ('received', 'failed')`,
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
): Promise<{ mailId: string; isMailIn: boolean }[]> {
  const { rows } = await db.query<{ mailId: string; isMailIn: boolean }>(
    `select id as "mailId", purpose = 'mail-in' as "isMailIn" from inbound_mails
     where state = 'received' and id < $1 and id <> all($2::uuid[])
     order by id limit $3`,
    [before, except, limit],
  )
  return rows
}

/** Ends the handling of a mail; false when another run had ended it. */
export async function markInboundMail(tx: Db, id: string, kind: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update inbound_mails set state = 'handled', kind = $2
     where id = $1 and state in ('received', 'failed')`,
    [id, kind],
  )
  return rowCount === 1
}
