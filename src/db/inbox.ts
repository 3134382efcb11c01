import sql, { type Sql } from 'sql-template-tag'
import type { AnswerKind } from '../mail/verp.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { changesAny, type Packed, rowOf, rowsOf, valuesOf } from './rows.ts'

/**
 * Claims the key of a mail; false when another mail has it. Waits for a concurrent transaction that
 * is claiming it.
 */
export function claimInboundKey(
  tx: Db,
  claim: { keyHash: Buffer; mailId: string; now: Date },
): Promise<boolean> {
  return changesAny(tx)`
    insert into inbound_keys (key_hash, mail_id, created_at) values (${claim.keyHash},
      ${claim.mailId}, ${claim.now})
    on conflict (key_hash) do nothing`
}

/** The purpose for which the receiving address was issued. Mails to `other` are read by people. */
export type InboundPurpose =
  | 'feedback-bounce'
  | 'feedback-answer'
  | 'letter-bounce'
  | 'letter-answer'
  | 'mail-in'
  | 'trap'
  | 'feedback-loop'
  | 'other'

/** A mail received by SMTP, LMTP or a pipe. */
export type InboundMail = Packed & {
  id: string
  receivedAt: Date
  mailFrom: string
  rcptTo: string
  purpose: InboundPurpose
  /** The feedback report it answers, from the token in the recipient address. */
  reportId: string | null
  number: number | null
  /** The letter it answers, from the token in the recipient address. */
  letterId: string | null
  /** The reporter who sent it, from the secret in the recipient address. */
  reporterId: string | null
  /** The address of the SMTP or LMTP client; null for a pipe. */
  peerIp: string | null
}

export async function insertInboundMail(tx: Db, mail: InboundMail): Promise<void> {
  await tx.query(sql`
    insert into inbound_mails (id, received_at, mail_from, rcpt_to, purpose, report_id, number,
      letter_id, reporter_id, peer_ip, state, encoding, content)
    values (${mail.id}, ${mail.receivedAt}, ${mail.mailFrom}, ${mail.rcptTo}, ${mail.purpose},
      ${mail.reportId}, ${mail.number}, ${mail.letterId}, ${mail.reporterId}, ${mail.peerIp},
      'received', ${mail.encoding}, ${mail.content})`)
}

/** Returns a mail that is not handled yet, or whose handling failed. */
export function findWaitingMail(db: Db, id: string): Promise<InboundMail | undefined> {
  return rowOf(db)`
    select id, received_at as "receivedAt", mail_from as "mailFrom", rcpt_to as "rcptTo", purpose,
      report_id as "reportId", number, letter_id as "letterId", reporter_id as "reporterId",
      host(peer_ip) as "peerIp", encoding, content
    from inbound_mails where id = ${id} and state in ('received', 'failed')`
}

/** Returns unhandled mails with ids below `before`, oldest first, without those in `except`. */
export function listWaitingMails(
  db: Db,
  before: string,
  except: readonly string[],
  limit: number,
): Promise<{ mailId: string; purpose: InboundPurpose }[]> {
  return rowsOf(db)`
    select id as "mailId", purpose from inbound_mails
    where state = 'received' and id < ${before} and id <> all(${except}::uuid[])
    order by id limit ${limit}`
}

/** Marks a mail as handled; false when another run did so before. */
export function markInboundMail(tx: Db, id: string, kind: string): Promise<boolean> {
  return changesAny(tx)`
    update inbound_mails set state = 'handled', kind = ${kind}
    where id = ${id} and state in ('received', 'failed')`
}

/** Deletes mails that are not handled yet, and returns the ids of those that were there. */
export function removeInboundMails(tx: Db, ids: readonly string[]): Promise<string[]> {
  return valuesOf(tx)`
    delete from inbound_mails
    where id = any(${ids}::uuid[]) and state in ('received', 'failed') returning id`
}

/** How a received mail was matched to a mail that this program sent. */
export type MatchedBy = 'recipient' | 'envelope-id' | 'message-id' | 'return-path' | 'reference'

export type Filing = {
  kind: string
  /** How the mail was matched. The next three fields identify the sent mail. */
  matchedBy: MatchedBy | null
  reportId: string | null
  number: number | null
  letterId: string | null
  subject: string | null
  author: string | null
  messageId: string | null
  answer: AnswerKind | null
  ticket: string | null
  /** The text that the author wrote, without quotations. */
  said: string | null
  phrases: readonly Phrase[]
  /** Whether a person should read it. */
  needsLook: boolean
}

export type InboxMail = Omit<Filing, 'kind' | 'phrases'> & {
  id: string
  receivedAt: Date
  mailFrom: string
  rcptTo: string
  purpose: InboundPurpose
  state: 'received' | 'handled' | 'failed'
  kind: string | null
  /** Null until the mail is handled. */
  phrases: readonly Phrase[] | null
  handledAt: Date | null
}

/** The filters of the inbox: unread mails, then by kind or state. */
export const inboxFilters = [
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

export type InboxFilter = (typeof inboxFilters)[number]

const columns = sql`id, received_at as "receivedAt", mail_from as "mailFrom", rcpt_to as "rcptTo",
  purpose, state, kind, matched_by as "matchedBy", report_id as "reportId", number,
  letter_id as "letterId", subject, author, message_id as "messageId", answer, ticket, said,
  phrases, needs_look as "needsLook",
  handled_at as "handledAt"`

/** Stores the result of a mail, in the transaction that handles it. */
export async function fileMail(tx: Db, id: string, filing: Filing): Promise<void> {
  await tx.query(sql`
    update inbound_mails set matched_by = ${filing.matchedBy}, report_id = ${filing.reportId},
      number = ${filing.number}, letter_id = ${filing.letterId},
      subject = ${filing.subject}, author = ${filing.author}, message_id = ${filing.messageId},
      answer = ${filing.answer}, ticket = ${filing.ticket},
      phrases = ${JSON.stringify(filing.phrases)}::jsonb,
      needs_look = ${filing.needsLook}, kind = ${filing.kind}, said = ${filing.said}
    where id = ${id}`)
}

// Each condition is the predicate of a partial index, or a value of the indexed `kind`.
const conditions: Record<InboxFilter, Sql> = {
  unread: sql`needs_look and handled_at is null`,
  unmatched: sql`matched_by is null and state = 'handled' and purpose <> 'mail-in'`,
  failed: sql`state = 'failed'`,
  reply: sql`kind = 'reply'`,
  complaint: sql`kind = 'complaint'`,
  acknowledgment: sql`kind = 'acknowledgment'`,
  'auto-reply': sql`kind = 'auto-reply'`,
  bounce: sql`kind = 'bounce'`,
  loop: sql`kind = 'loop'`,
}

/** Returns a page of mails, newest first. Each condition can use an index. */
export function listInbox(
  db: Db,
  { filter, before }: { filter: InboxFilter; before?: string | undefined },
  limit: number,
): Promise<InboxMail[]> {
  return rowsOf(db)`
    select ${columns} from inbound_mails
    where ${conditions[filter]} and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc limit ${limit}`
}

export function findInboxMail(db: Db, id: string): Promise<(InboxMail & Packed) | undefined> {
  return rowOf(db)<InboxMail & Packed>`
      select ${columns}, encoding, content from inbound_mails where id = ${id}`
}

/** Returns the mails about one feedback report, oldest first, at most `limit`. */
export function listThread(
  db: Db,
  { reportId, number }: FeedbackKey,
  limit: number,
): Promise<InboxMail[]> {
  return rowsOf(db)`
    select ${columns} from inbound_mails where report_id = ${reportId} and number = ${number}
    order by id limit ${limit}`
}

/** Marks a mail as dealt with by an operator; false when it was marked before. */
export function markHandled(
  tx: Db,
  id: string,
  { at, by }: { at: Date; by: string | null },
): Promise<boolean> {
  return changesAny(tx)`
    update inbound_mails set handled_at = ${at}, handled_by = ${by}
    where id = ${id} and handled_at is null`
}

/** Marks mails as failed; their jobs are among the dead letters. */
export async function markMailsFailed(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.query(sql`update inbound_mails set state = 'failed',
      phrases = ${JSON.stringify([phrase('inbound-failed')])}::jsonb
    where id = any(${ids}::uuid[]) and state = 'received'`)
}
