import sql from 'sql-template-tag'
import { WEEK_MS } from '../durations.ts'
import { uuidFloor } from '../world.ts'
import type { ReleasedState } from './feedback-waiting.ts'
import type { Db } from './pool.ts'
import { preparedRowsOf } from './prepared.ts'
import { changesAny, type Packed, rowOf, rowsOf, valuesOf } from './rows.ts'

/**
 * The subject of a letter: an account, advice, enrollment, mailed-in reports, news about reports,
 * the way that mail takes to the reporter, or a monthly summary. Old letters about one answer of a
 * desk have the kind `answer`.
 */
type LetterKind =
  | 'account'
  | 'advice'
  | 'answer'
  | 'enrollment'
  | 'mail-in'
  | 'news'
  | 'probe'
  | 'summary'

/** The state of a letter; see the diagram in `src/README.md`. */
export type LetterState = 'queued' | 'held' | 'sent' | 'bounced' | 'refused' | 'suppressed'

/** A mail from this program that is not a feedback report. */
export type Letter = {
  id: string
  kind: LetterKind
  state: LetterState
  address: string
  /** The reporter, report or consumer that the letter is about, if any. */
  reporterId: string | null
  reportId: string | null
  consumerId: string | null
  createdAt: Date
  finishedAt: Date | null
  /** The last reply of the receiving server. */
  reply: string | null
}

const columns = sql`id, kind, state, address, reporter_id as "reporterId", report_id as "reportId",
  consumer_id as "consumerId", created_at as "createdAt", finished_at as "finishedAt", reply`

/** The keys of a letter, sealed, and when they expire; null for never. */
export type SealedKeys = { sealedKeys: Buffer | null; keysExpireAt: Date | null }

/** Inserts a letter that is to be sent. Its content has masks in place of its keys. */
export async function insertLetter(
  tx: Db,
  letter: Omit<Letter, 'state' | 'finishedAt' | 'reply'> & Packed & SealedKeys,
): Promise<void> {
  await tx.query(sql`
    insert into letters (id, kind, state, address, reporter_id, report_id, consumer_id, created_at,
      encoding, content, is_masked, sealed_keys, keys_expire_at)
    values (${letter.id}, ${letter.kind}, 'queued', ${letter.address}, ${letter.reporterId},
      ${letter.reportId}, ${letter.consumerId}, ${letter.createdAt}, ${letter.encoding},
      ${UNREADABLE}::bytea || ${letter.content}::bytea, true, ${letter.sealedKeys},
      ${letter.keysExpireAt})`)
}

/**
 * Deletes a letter if it is withheld. Otherwise runs the same statement without effect, so that the
 * duration does not reveal which of the two happened.
 */
export async function removeLetter(tx: Db, id: string, isWithheld: boolean): Promise<void> {
  await tx.query(sql`delete from letters where id = ${id} and ${isWithheld}`)
}

export function findLetter(db: Db, id: string): Promise<Letter | undefined> {
  return rowOf(db)`select ${columns} from letters where id = ${id}`
}

/** The copy of a letter, packed: with masks in place of its keys, except in old rows. */
export type LetterCopy = Packed & SealedKeys & { isMasked: boolean }

/**
 * The first byte of masked content. An earlier version cannot unpack it, and leaves the letter to
 * this one: during an upgrade it would otherwise send the masks.
 */
const UNREADABLE = Buffer.of(0)

export const letterContent = sql`case when is_masked then substring(content from 2)
  else content end as content`

const copyColumns = sql`encoding, ${letterContent}, is_masked as "isMasked",
  sealed_keys as "sealedKeys", keys_expire_at as "keysExpireAt"`

export function findLetterMessage(db: Db, id: string): Promise<LetterCopy | undefined> {
  return rowOf(db)`select ${copyColumns} from letters where id = ${id}`
}

/** Returns letters that are not masked yet, with their copies, oldest first. */
export function listUnmaskedLetters(
  db: Db,
  limit: number,
): Promise<(Pick<Letter, 'id' | 'state'> & LetterCopy)[]> {
  return rowsOf(db)`select id, state, ${copyColumns} from letters
    where not is_masked order by id limit ${limit}`
}

/**
 * Stores the masked copy of a letter, and its keys if it is not sent yet; false if it was sent or
 * masked in the meantime.
 */
export function maskLetter(
  db: Db,
  { id, state, ...copy }: Pick<Letter, 'id' | 'state'> & Packed & Pick<SealedKeys, 'sealedKeys'>,
): Promise<boolean> {
  return changesAny(db)`
    update letters set encoding = ${copy.encoding},
      content = ${UNREADABLE}::bytea || ${copy.content}::bytea, is_masked = true,
      sealed_keys = ${copy.sealedKeys}
    where id = ${id} and state = ${state} and not is_masked`
}

/** Deletes the keys that have expired; the letters remain. */
export async function removeExpiredKeys(db: Db, now: Date): Promise<void> {
  await db.query(sql`
    update letters set sealed_keys = null
    where sealed_keys is not null and keys_expire_at <= ${now}`)
}

/** Returns a page of letters, newest first; `before` is the last id of the previous page. */
export function listLetters(
  db: Db,
  filter: { state?: LetterState | undefined; before?: string | undefined },
  limit: number,
): Promise<Letter[]> {
  return rowsOf(db)`select ${columns} from letters
    where (${filter.state}::text is null or state = ${filter.state}::text)
      and (${filter.before}::uuid is null or id < ${filter.before}::uuid)
    order by id desc limit ${limit}`
}

/** Returns queued letters with ids below `before`, oldest first, without those in `except`. */
export function listQueuedLetters(
  db: Db,
  before: string,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  return valuesOf(db)`
    select id from letters where state = 'queued' and id < ${before}
      and id <> all(${except}::uuid[])
    order by id limit ${limit}`
}

/** Stores the result of sending a queued letter; false when another run did so before. */
export function markLetter(
  tx: Db,
  id: string,
  outcome: { state: 'held' | 'sent' | 'refused' | 'suppressed'; at: Date; reply: string | null },
): Promise<boolean> {
  return changesAny(tx)`
    update letters set state = ${outcome.state}, finished_at = ${outcome.at},
      reply = ${outcome.reply},
      sealed_keys = case when ${outcome.state} in ('sent', 'suppressed') then null
        else sealed_keys end
    where id = ${id} and state = 'queued'`
}

/** Marks a letter as bounced; false when it was marked before. */
export function markLetterBounced(tx: Db, id: string, reply: string): Promise<boolean> {
  return changesAny(tx)`
    update letters set state = 'bounced', reply = ${reply}, sealed_keys = null
    where id = ${id} and state <> 'bounced'`
}

/** Selects held or refused letters: one, those about some reports, or all. */
export type HeldLetters = { letterId: string } | { reportIds: readonly string[] } | 'all'

/**
 * Queues held or refused letters again, at most `limit`. Skips refused letters to a suppressed
 * address. The caller must create their jobs. Returns the letters.
 */
export async function releaseLetters(
  tx: Db,
  { which, from, now }: { which: HeldLetters; from: ReleasedState; now: Date },
  limit: number,
): Promise<Pick<Letter, 'id' | 'reportId'>[]> {
  const letterId = which !== 'all' && 'letterId' in which ? which.letterId : null
  const reportIds = which !== 'all' && 'reportIds' in which ? which.reportIds : null
  const { rows } = await tx.query<{ id: string }>(sql`
    select id from letters
    where state = ${from} and (${letterId}::uuid is null or id = ${letterId}::uuid)
      and (${reportIds}::uuid[] is null or report_id = any(${reportIds}::uuid[]))
      and (${from} = 'held' or not exists (select from suppressions
        where suppressions.address = lower(letters.address)
          and (until is null or until > ${now})))
    order by id limit ${limit}`)
  return rowsOf(tx)`
    update letters set state = 'queued', finished_at = null, reply = null
    where id = any(${rows.map(({ id }) => id)}::uuid[]) and state = ${from}
    returning id, report_id as "reportId"`
}

/** Assigns a letter to the account that was created through it. */
export async function setLetterReporter(tx: Db, id: string, reporterId: string): Promise<void> {
  await tx.query(sql`update letters set reporter_id = ${reporterId} where id = ${id}`)
}

/** The longest time in milliseconds that a letter may wait before it is sent. */
const WAITING_MS = WEEK_MS

/** Returns the states of at most 1000 letters sent to an address since an instant, oldest first. */
export function listLetterResults(
  db: Db,
  address: string,
  since: Date,
): Promise<{ state: 'sent' | 'bounced'; sentAt: Date }[]> {
  return rowsOf(db)`
    select state, coalesce(finished_at, created_at) as "sentAt" from letters
    where state in ('sent', 'bounced')
      and id >= ${uuidFloor(new Date(since.getTime() - WAITING_MS))}
      and lower(address) = lower(${address})
      and coalesce(finished_at, created_at) >= ${since}
    order by 2 limit 1000`
}

/** Returns what is not sent yet by state; `id` is the oldest letter of each. */
export function listWaitingLetters(
  db: Db,
): Promise<{ state: 'queued' | 'held'; mails: number; since: Date; id: string }[]> {
  return preparedRowsOf(db)`
    select state, count(*)::int as mails, min(created_at) as since, min(id::text) as id
    from letters where state in ('queued', 'held') group by state order by 3`
}
