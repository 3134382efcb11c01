import type { Mark } from '../reputation/reputation.ts'
import type { SubjectKind } from '../reputation/subject.ts'
import { insertAudit } from './audit-log.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What an administrator says of a subject by hand. */
export type ReputationMark = {
  key: bigint
  kind: SubjectKind
  name: string
  mark: Mark
  reason: string
  /** Null: it was said at the command line. */
  reporterId: string | null
  setAt: Date
  /** Null: until it is lifted. */
  untilAt: Date | null
}

type TextRow = Omit<ReputationMark, 'key'> & { key: string }

const columns = `key::text as key, kind, name, mark, reason, reporter_id as "reporterId",
  set_at as "setAt", until_at as "untilAt"`

/** The marks of keys, also those that hold no more, in no order. */
export async function findMarks(db: Db, keys: readonly bigint[]): Promise<ReputationMark[]> {
  const { rows } = await db.query<TextRow>({
    name: 'find-marks',
    text: `select ${columns} from reputation_marks where key = any($1::bigint[])`,
    values: [keys.map(String)],
  })
  return rows.map(({ key, ...row }) => ({ ...row, key: BigInt(key) }))
}

/** All marks that hold at an instant, the newest first; at most `limit`. */
export async function listMarks(db: Db, now: Date, limit: number): Promise<ReputationMark[]> {
  const { rows } = await db.query<TextRow>(
    `select ${columns} from reputation_marks where until_at is null or until_at > $1
     order by set_at desc, reputation_marks.key limit $2`,
    [now, limit],
  )
  return rows.map(({ key, ...row }) => ({ ...row, key: BigInt(key) }))
}

/** Sets the mark of a subject, in place of one that it has, and writes it down. */
export async function setMark(tx: Db, mark: ReputationMark): Promise<void> {
  const row = [
    ...[String(mark.key), mark.kind, mark.name, mark.mark, mark.reason],
    ...[mark.reporterId, mark.setAt, mark.untilAt],
  ]
  const { text, params } = values([row])
  await tx.query(
    `insert into reputation_marks (key, kind, name, mark, reason, reporter_id, set_at, until_at)
     values ${text}
     on conflict (key) do update set mark = excluded.mark, reason = excluded.reason,
       reporter_id = excluded.reporter_id, set_at = excluded.set_at, until_at = excluded.until_at`,
    params,
  )
  const until = mark.untilAt ? ` until ${mark.untilAt.toISOString()}` : ''
  await insertAudit(tx, {
    at: mark.setAt,
    reporterId: mark.reporterId,
    action: 'mark reputation',
    detail: `${mark.kind} ${mark.name}: ${mark.mark}${until}. ${mark.reason}`,
  })
}

/** Lifts the mark of a subject and writes it down; false when it has none. */
export async function liftMark(
  tx: Db,
  key: bigint,
  deed: { at: Date; reporterId: string | null },
): Promise<boolean> {
  const { rows } = await tx.query<{ kind: string; name: string; mark: string }>(
    `delete from reputation_marks where key = $1 returning kind, name, mark`,
    [String(key)],
  )
  for (const { kind, name, mark } of rows) {
    const detail = `${kind} ${name}: no longer ${mark}`
    await insertAudit(tx, { ...deed, action: 'unmark reputation', detail })
  }
  return rows.length > 0
}
