import type { AnswerKind } from '../mail/verp.ts'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { first, type Packed } from './rows.ts'

/**
 * Takes the key of a mail for its own; false when a mail had it before. Waits for a rival that has
 * not ended yet.
 */
export async function claimInboundKey(
  tx: Db,
  claim: { keyHash: Buffer; mailId: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into inbound_keys (key_hash, mail_id, created_at) values ($1, $2, $3)
     on conflict (key_hash) do nothing`,
    [claim.keyHash, claim.mailId, claim.now],
  )
  return rowCount === 1
}

/** Forgets keys made before an instant. */
export async function removeInboundKeys(db: Db, before: Date): Promise<void> {
  await db.query(`delete from inbound_keys where created_at < $1`, [before])
}

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

/** How a mail was found to be about a mail of ours. */
export type MatchedBy = 'recipient' | 'envelope-id' | 'message-id' | 'return-path' | 'reference'

/** What handling a mail that came in found out and did. */
export type Filing = {
  kind: string
  /** The mail of ours that it is about, and how that was found. */
  matchedBy: MatchedBy | null
  reportId: string | null
  number: number | null
  letterId: string | null
  subject: string | null
  author: string | null
  messageId: string | null
  answer: AnswerKind | null
  ticket: string | null
  /** What its author wrote, without what is quoted. */
  said: string | null
  /** A sentence for administrators: what was done with it. */
  outcome: string
  /** Whether a person should see it. */
  needsLook: boolean
}

/** A mail that came in, as the inbox shows it. */
export type InboxMail = Omit<Filing, 'kind' | 'outcome'> & {
  id: string
  receivedAt: Date
  mailFrom: string
  rcptTo: string
  purpose: InboundPurpose
  state: 'received' | 'handled' | 'failed'
  kind: string | null
  outcome: string | null
  handledAt: Date | null
  handledBy: string | null
}

/** The shelves of the inbox: what wants a look, then by what a mail is. */
export const shelves = [
  'unread',
  'reply',
  'complaint',
  'acknowledgment',
  'auto-reply',
  'bounce',
  'loop',
  'unmatched',
  'failed',
] as const

/** One of them. */
export type Shelf = (typeof shelves)[number]

const columns = `id, received_at as "receivedAt", mail_from as "mailFrom", rcpt_to as "rcptTo",
  purpose, state, kind, matched_by as "matchedBy", report_id as "reportId", number,
  letter_id as "letterId", subject, author, message_id as "messageId", answer, ticket, said,
  outcome,
  needs_look as "needsLook", handled_at as "handledAt", handled_by as "handledBy"`

/** Keeps what became of a mail, whose handling this transaction has ended. */
export async function fileMail(tx: Db, id: string, filing: Filing): Promise<void> {
  await tx.query(
    `update inbound_mails set matched_by = $2, report_id = $3, number = $4, letter_id = $5,
       subject = $6, author = $7, message_id = $8, answer = $9, ticket = $10, outcome = $11,
       needs_look = $12, kind = $13, said = $14
     where id = $1`,
    [
      id,
      filing.matchedBy,
      filing.reportId,
      filing.number,
      filing.letterId,
      filing.subject,
      filing.author,
      filing.messageId,
      filing.answer,
      filing.ticket,
      filing.outcome,
      filing.needsLook,
      filing.kind,
      filing.said,
    ],
  )
}

// Each is what an index of its own holds, or a kind.
const conditions: Record<Shelf, string> = {
  unread: 'needs_look and handled_at is null',
  unmatched: `matched_by is null and state = 'handled' and purpose <> 'mail-in'`,
  failed: `state = 'failed'`,
  reply: `kind = 'reply'`,
  complaint: `kind = 'complaint'`,
  acknowledgment: `kind = 'acknowledgment'`,
  'auto-reply': `kind = 'auto-reply'`,
  bounce: `kind = 'bounce'`,
  loop: `kind = 'loop'`,
}

/** A page of a shelf, newest first; `before` is the last id of the page before. */
export async function listInbox(
  db: Db,
  { shelf, before }: { shelf: Shelf; before?: string | undefined },
  limit: number,
): Promise<InboxMail[]> {
  const { rows } = await db.query<InboxMail>(
    `select ${columns} from inbound_mails
     where ${conditions[shelf]} and ($1::uuid is null or id < $1)
     order by id desc limit $2`,
    [before ?? null, limit],
  )
  return rows
}

/** How many mails want a look; past `max` it stops counting. */
export async function countUnread(db: Db, max: number): Promise<number> {
  const { rows } = await db.query<{ unread: number }>(
    `select count(*)::int as unread
     from (select id from inbound_mails
       where needs_look and handled_at is null limit $1) as looked_for`,
    [max],
  )
  return rows[0]?.unread ?? 0
}

/** One mail, and its bytes. */
export async function findInboxMail(db: Db, id: string): Promise<(InboxMail & Packed) | undefined> {
  return first(
    await db.query<InboxMail & Packed>(
      `select ${columns}, encoding, content from inbound_mails where id = $1`,
      [id],
    ),
  )
}

/** All that came about one feedback report, oldest first, at most `limit`. */
export async function listThread(
  db: Db,
  { reportId, number }: FeedbackKey,
  limit: number,
): Promise<InboxMail[]> {
  const { rows } = await db.query<InboxMail>(
    `select ${columns} from inbound_mails where report_id = $1 and number = $2
     order by id limit $3`,
    [reportId, number, limit],
  )
  return rows
}

/** Keeps that somebody looked after a mail; false when somebody had. */
export async function markLookedAfter(
  tx: Db,
  id: string,
  { at, by }: { at: Date; by: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update inbound_mails set handled_at = $2, handled_by = $3
     where id = $1 and handled_at is null`,
    [id, at, by],
  )
  return rowCount === 1
}

/** Marks mails that could not be read as failed; their jobs are among the dead letters. */
export async function markMailsFailed(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.query(
    `update inbound_mails set state = 'failed',
       outcome = 'It could not be read: its job is among the dead letters.'
     where id = any($1::uuid[]) and state = 'received'`,
    [ids],
  )
}
