import sql from 'sql-template-tag'
import type { AnswerKind } from '../mail/verp.ts'
import { shardOf } from '../world.ts'
import type { FeedbackKey } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { isOneOfIds, numbered, prepared } from './prepared.ts'
import { changesAny, excluded, rowOf, rowsOf } from './rows.ts'

/**
 * How an answer arrived: from its web page, by a mail program's one-click request, by mail, or
 * entered by an operator.
 */
export type AnswerWay = 'link' | 'one-click' | 'mail' | 'operator'

/** An abuse desk's answer to one feedback report. */
export type FeedbackAnswer = FeedbackKey & {
  answer: AnswerKind
  how: AnswerWay
  at: Date
  /** The desk's own words; untrusted text. */
  said: string | null
  mailId: string | null
}

/** Stores an answer; false when the same answer is stored already. */
export function insertAnswer(tx: Db, answer: FeedbackAnswer): Promise<boolean> {
  return changesAny(tx)`
    insert into feedback_answers (report_id, shard, number, answer, how, at, said, mail_id)
    values (${answer.reportId}, ${shardOf(answer.reportId)}, ${answer.number}, ${answer.answer},
      ${answer.how}, ${answer.at}, ${answer.said}, ${answer.mailId})
    on conflict (report_id, number, answer, shard) do nothing`
}

/** Returns the answers to the feedback reports of several reports, oldest first. */
export function listAnswers(db: Db, reportIds: readonly string[]): Promise<FeedbackAnswer[]> {
  return rowsOf(db)`
    select report_id as "reportId", number, answer, how, at, said, mail_id as "mailId"
    from feedback_answers where ${isOneOfIds('report_id', reportIds)} order by at, number, answer`
}

/** A correction: an abuse desk answered that it is not responsible for a block of addresses. */
export type ContactCorrection = {
  cidr: string
  /** The address of the desk, in lower case. */
  address: string
  /** The report that the desk answered. */
  reportId: string | null
  reason: string
  since: Date
  until: Date
}

const columns = sql`cidr::text, address, report_id as "reportId", reason, since, until`

/** Stores a correction; it replaces an earlier one for the same address and block. */
export async function keepCorrection(tx: Db, correction: ContactCorrection): Promise<void> {
  const { cidr, address, reportId, reason, since, until } = correction
  await tx.query(sql`
    insert into contact_corrections (cidr, address, report_id, reason, since, until)
    values (${cidr}, ${address.toLowerCase()}, ${reportId}, ${reason}, ${since}, ${until})
    on conflict (cidr, address) do update set ${excluded`report_id, reason, since, until`}`)
}

/**
 * Returns, by IP address, the mail addresses (in lower case) of the desks that answered that they
 * are not responsible for it.
 */
export async function listDisowned(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Set<string>>> {
  const disowned = new Map<string, Set<string>>()
  if (ips.length === 0) return disowned
  const { rows } = await db.query<{ at: number; address: string }>(prepared`
    select asked.at, address from ${numbered(ips, 'inet')} as asked (ip, at)
    join contact_corrections on cidr >>= asked.ip where until > ${now}`)
  for (const { at, address } of rows) {
    const ip = ips[at - 1] ?? ''
    disowned.set(ip, (disowned.get(ip) ?? new Set()).add(address))
  }
  return disowned
}

/**
 * Returns a page of corrections by block and address; `after` is the last one of the previous page.
 */
export function listCorrections(
  db: Db,
  page: { after: Pick<ContactCorrection, 'cidr' | 'address'> | undefined; limit: number },
): Promise<ContactCorrection[]> {
  return rowsOf(db)`
    select ${columns} from contact_corrections
    where ${page.after?.cidr}::cidr is null or (contact_corrections.cidr,
      address) > (${page.after?.cidr}::cidr, ${page.after?.address}::text)
    order by contact_corrections.cidr, address limit ${page.limit}`
}

/** Whether an unexpired correction by a desk overlaps a block. */
export async function isDisownedWithin(
  db: Db,
  { cidr, address }: Pick<ContactCorrection, 'cidr' | 'address'>,
  now: Date,
): Promise<boolean> {
  const { rows } = await db.query(sql`select 1 from contact_corrections
    where cidr && ${cidr}::cidr and address = ${address.toLowerCase()} and until > ${now} limit 1`)
  return rows.length > 0
}

/** Deletes a correction and returns it; undefined when there is none. */
export function removeCorrection(
  tx: Db,
  { cidr, address }: Pick<ContactCorrection, 'cidr' | 'address'>,
): Promise<ContactCorrection | undefined> {
  return rowOf(tx)`
      delete from contact_corrections where cidr = ${cidr}::cidr
        and address = ${address.toLowerCase()}
      returning ${columns}`
}
