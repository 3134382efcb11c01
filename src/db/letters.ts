import { uuidFloor } from '../world.ts'
import type { ReleasedState } from './feedback-waiting.ts'
import type { Db } from './pool.ts'
import { first, type Packed } from './rows.ts'

/**
 * The subject of a letter: an account, advice, a desk's answer, enrollment, or mailed-in reports.
 */
type LetterKind = 'account' | 'advice' | 'answer' | 'enrollment' | 'mail-in'

/** The state of a letter; see the diagram in `src/README.md`. */
export type LetterState = 'queued' | 'held' | 'sent' | 'bounced' | 'refused' | 'suppressed'

/** A mail from this program that is not a feedback report. */
export type Letter = {
  id: string
  kind: LetterKind
  state: LetterState
  address: string
  /** The reporter, report or consumer it concerns, if any. */
  reporterId: string | null
  reportId: string | null
  consumerId: string | null
  createdAt: Date
  finishedAt: Date | null
  /** The last reply of the receiving server. */
  reply: string | null
}

const columns = `id, kind, state, address, reporter_id as "reporterId", report_id as "reportId",
  consumer_id as "consumerId", created_at as "createdAt", finished_at as "finishedAt", reply`

/** Inserts a letter that is to be sent. */
export async function insertLetter(
  tx: Db,
  letter: Omit<Letter, 'state' | 'finishedAt' | 'reply'> & Packed,
): Promise<void> {
  await tx.query(
    `insert into letters (id, kind, state, address, reporter_id, report_id, consumer_id, created_at,
       encoding, content)
     values ($1, $2, 'queued', $3, $4, $5, $6, $7, $8, $9)`,
    [
      letter.id,
      letter.kind,
      letter.address,
      letter.reporterId,
      letter.reportId,
      letter.consumerId,
      letter.createdAt,
      letter.encoding,
      letter.content,
    ],
  )
}

/**
 * Deletes a letter that must not be sent. Otherwise the same statement deletes nothing, so that the
 * duration does not reveal which of the two happened.
 */
export async function removeLetter(tx: Db, id: string, isWithheld: boolean): Promise<void> {
  await tx.query(`delete from letters where id = $1 and $2`, [id, isWithheld])
}

/** Returns one letter. */
export async function findLetter(db: Db, id: string): Promise<Letter | undefined> {
  return first(await db.query<Letter>(`select ${columns} from letters where id = $1`, [id]))
}

/** Returns the exact copy of a letter, packed. */
export async function findLetterMessage(db: Db, id: string): Promise<Packed | undefined> {
  return first(await db.query<Packed>(`select encoding, content from letters where id = $1`, [id]))
}

/** Returns the letters about a report, oldest first. */
export async function listLettersOf(db: Db, reportId: string): Promise<Letter[]> {
  const { rows } = await db.query<Letter>(
    `select ${columns} from letters where report_id = $1 order by id`,
    [reportId],
  )
  return rows
}

/** Returns a page of letters, newest first; `before` is the last id of the previous page. */
export async function listLetters(
  db: Db,
  filter: { state?: LetterState | undefined; before?: string | undefined },
  limit: number,
): Promise<Letter[]> {
  const { rows } = await db.query<Letter>(
    `select ${columns} from letters
     where ($1::text is null or state = $1) and ($2::uuid is null or id < $2)
     order by id desc limit $3`,
    [filter.state ?? null, filter.before ?? null, limit],
  )
  return rows
}

/** Returns queued letters with ids below `before`, oldest first, without those in `except`. */
export async function listQueuedLetters(
  db: Db,
  before: string,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from letters where state = 'queued' and id < $1 and id <> all($2::uuid[])
     order by id limit $3`,
    [before, except, limit],
  )
  return rows.map(({ id }) => id)
}

/** Stores the result of sending a queued letter; false when another run did so before. */
export async function markLetter(
  tx: Db,
  id: string,
  outcome: { state: 'held' | 'sent' | 'refused' | 'suppressed'; at: Date; reply: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update letters set state = $2, finished_at = $3, reply = $4
     where id = $1 and state = 'queued'`,
    [id, outcome.state, outcome.at, outcome.reply],
  )
  return rowCount === 1
}

/** Marks a letter as bounced; false when it was marked before. */
export async function markLetterBounced(tx: Db, id: string, reply: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update letters set state = 'bounced', reply = $2 where id = $1 and state <> 'bounced'`,
    [id, reply],
  )
  return rowCount === 1
}

/**
 * Queues held or refused letters again: one or all, at most `limit`. Skips refused letters to a
 * suppressed address. The caller must create their jobs. Returns the ids.
 */
export async function releaseLetters(
  tx: Db,
  { which, from, now }: { which: { letterId: string } | 'all'; from: ReleasedState; now: Date },
  limit: number,
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from letters
     where state = $1 and ($2::uuid is null or id = $2)
       and ($1 = 'held' or not exists (select from suppressions
         where suppressions.address = lower(letters.address)
           and (until is null or until > $3)))
     order by id limit $4`,
    [from, which === 'all' ? null : which.letterId, now, limit],
  )
  const released = await tx.query<{ id: string }>(
    `update letters set state = 'queued', finished_at = null, reply = null
     where id = any($1::uuid[]) and state = $2 returning id`,
    [rows.map(({ id }) => id), from],
  )
  return released.rows.map(({ id }) => id)
}

/** Assigns a letter to the account that was created through it. */
export async function setLetterReporter(tx: Db, id: string, reporterId: string): Promise<void> {
  await tx.query(`update letters set reporter_id = $2 where id = $1`, [id, reporterId])
}

/** The longest time in milliseconds that a letter may wait before it is sent. */
const WAITING_MS = 7 * 86_400_000

/**
 * Returns the results of at most 1000 letters sent to an address since an instant, oldest first.
 */
export async function listLetterFates(
  db: Db,
  address: string,
  since: Date,
): Promise<{ state: 'sent' | 'bounced'; sentAt: Date }[]> {
  const { rows } = await db.query<{ state: 'sent' | 'bounced'; sentAt: Date }>(
    `select state, coalesce(finished_at, created_at) as "sentAt" from letters
     where state in ('sent', 'bounced') and id >= $2 and lower(address) = lower($1)
       and coalesce(finished_at, created_at) >= $3
     order by 2 limit 1000`,
    [address, uuidFloor(new Date(since.getTime() - WAITING_MS)), since],
  )
  return rows
}
