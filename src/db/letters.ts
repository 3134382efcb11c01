import { uuidFloor } from '../world.ts'
import type { ReleasedState } from './feedback-waiting.ts'
import type { Db } from './pool.ts'
import { first, type Packed } from './rows.ts'

/** What a letter is about: an account, advice, a desk's answer, enrolling, mailed reports. */
type LetterKind = 'account' | 'advice' | 'answer' | 'enrollment' | 'mail-in'

/** Where a letter stands; drawn in `src/README.md`. */
export type LetterState = 'queued' | 'held' | 'sent' | 'bounced' | 'refused' | 'suppressed'

/** A mail of ours that is no feedback report. */
export type Letter = {
  id: string
  kind: LetterKind
  state: LetterState
  address: string
  /** To or about whom, as far as it has one. */
  reporterId: string | null
  reportId: string | null
  consumerId: string | null
  createdAt: Date
  finishedAt: Date | null
  /** The far server's last words. */
  reply: string | null
}

const columns = `id, kind, state, address, reporter_id as "reporterId", report_id as "reportId",
  consumer_id as "consumerId", created_at as "createdAt", finished_at as "finishedAt", reply`

/** Adds a letter that is to be sent. */
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
 * Deletes a letter that is not to be sent after all. Where it is, the same statement deletes
 * nothing, so that the time does not tell which it was.
 */
export async function removeLetter(tx: Db, id: string, isWithheld: boolean): Promise<void> {
  await tx.query(`delete from letters where id = $1 and $2`, [id, isWithheld])
}

/** One letter. */
export async function findLetter(db: Db, id: string): Promise<Letter | undefined> {
  return first(await db.query<Letter>(`select ${columns} from letters where id = $1`, [id]))
}

/** The exact copy of a letter, packed. */
export async function findLetterMessage(db: Db, id: string): Promise<Packed | undefined> {
  return first(await db.query<Packed>(`select encoding, content from letters where id = $1`, [id]))
}

/** The letters about a report, oldest first. */
export async function listLettersOf(db: Db, reportId: string): Promise<Letter[]> {
  const { rows } = await db.query<Letter>(
    `select ${columns} from letters where report_id = $1 order by id`,
    [reportId],
  )
  return rows
}

/** A page of letters, newest first; `before` is the last id of the page before. */
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

/** Letters older than the id `before` that wait to be sent, oldest first, but for `except`. */
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

/** Ends a letter that is still to be sent; false when another run had ended it. */
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

/** Marks a letter that came back; false when it had come back already. */
export async function markLetterBounced(tx: Db, id: string, reply: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update letters set state = 'bounced', reply = $2 where id = $1 and state <> 'bounced'`,
    [id, reply],
  )
  return rowCount === 1
}

/**
 * Puts letters back in line that are held, or that our mail server refused: one or all, at most
 * `limit`. Refused ones to a suppressed address stay. Their jobs are the caller's. Returns the ids.
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

/** Says whose a letter was that went to a stranger: the account was made by it. */
export async function setLetterReporter(tx: Db, id: string, reporterId: string): Promise<void> {
  await tx.query(`update letters set reporter_id = $2 where id = $1`, [id, reporterId])
}

/** The longest that a letter may have waited to be sent. */
const WAITING_MS = 7 * 86_400_000

/** What became of the letters that left for an address since an instant, oldest first. */
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
