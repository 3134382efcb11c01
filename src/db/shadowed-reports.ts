import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import type { NewReport, Report, ReportState } from './reports.ts'
import { first } from './values.ts'

/** A report as its reporter may see it, whether it was put aside or not. */
export type OwnedReport = Report & { isShadowed: boolean }

/** A report that was put aside, for administrators. */
export type ShadowedReport = Report & { isDropped: boolean }

const columns = `id, reporter_id as "reporterId", channel, kind, state,
  received_at as "receivedAt", message_bytes as "messageBytes", author, subject,
  message_id as "messageId", dated_at as "datedAt", comment,
  received_via::text[] as "receivedVia", rebuilt_from as "rebuiltFrom"`

/** One report by its id, put aside or not: one question, so that both take as long. */
export async function findOwnedReport(db: Db, id: string): Promise<OwnedReport | undefined> {
  return first(
    await db.query<OwnedReport>(
      `select ${columns}, false as "isShadowed" from reports where id = $1
       union all
       select ${columns}, true as "isShadowed" from shadowed_reports where id = $1`,
      [id],
    ),
  )
}

/** Where reports stand for their reporters, put aside or not. */
export async function listOwnedStates(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; state: ReportState }[]> {
  const { rows } = await db.query<{ id: string; state: ReportState }>(
    `select id, state from reports where id = any($1::uuid[])
     union all
     select id, state from shadowed_reports where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** The packed bytes of one report, put aside or not. */
export async function findOwnedMessage(db: Db, id: string): Promise<Packed | undefined> {
  return first(
    await db.query<Packed>(
      `select encoding, content from raw_messages where id = $1
       union all
       select encoding, content from shadowed_messages where id = $1`,
      [id],
    ),
  )
}

/** Moves reports that were put aside on to `to`, as `markReports` does; returns those it moved. */
export async function markShadowed(
  tx: Db,
  ids: readonly string[],
  from: readonly ReportState[],
  to: 'kept' | 'retracted',
): Promise<Pick<Report, 'id' | 'kind'>[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<Pick<Report, 'id' | 'kind'>>(
    `update shadowed_reports set state = $3
     where id = any($1::uuid[]) and state = any($2::text[])
     returning id, kind`,
    [ids, from, to],
  )
  return rows
}

/**
 * A page of what is put aside and not dropped, newest first, of one reporter or of all; `before` is
 * the last id of the page before. What its reporter took back is not among it.
 */
export async function listHeldReports(
  db: Db,
  page: { reporterId: string | undefined; before: string | undefined; limit: number },
): Promise<Report[]> {
  const { rows } = await db.query<Report>(
    `select ${columns} from shadowed_reports
     where ($1::uuid is null or reporter_id = $1) and ($2::uuid is null or id < $2)
       and not is_dropped and state <> 'retracted'
     order by id desc limit $3`,
    [page.reporterId ?? null, page.before ?? null, page.limit],
  )
  return rows
}

/**
 * Moves reports that were put aside to the others, as if they had just been received, and returns
 * their ids. Those that were dropped or taken back meanwhile stay.
 */
export async function moveShadowedBack(tx: Db, ids: readonly string[]): Promise<NewReport[]> {
  const { rows } = await tx.query<NewReport>(
    `delete from shadowed_reports
     where id = any($1::uuid[]) and not is_dropped and state <> 'retracted'
     returning ${columns}`,
    [ids],
  )
  const moved = rows.map(({ id }) => id)
  await tx.query(
    `insert into raw_messages (id, encoding, content)
     select id, encoding, content from shadowed_messages where id = any($1::uuid[])`,
    [moved],
  )
  await tx.query(`delete from shadowed_messages where id = any($1::uuid[])`, [moved])
  // What its reporter was told in the meantime.
  await tx.query(
    `delete from report_events where report_id = any($1::uuid[]) and event = 'analyzed'`,
    [moved],
  )
  return rows
}

/**
 * Gives up reports that were put aside. Their reporters see them all the same, and their messages:
 * one that is gone before its time would tell.
 */
export async function dropShadowed(tx: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update shadowed_reports set is_dropped = true
     where id = any($1::uuid[]) and not is_dropped
     returning id`,
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Several reports that were put aside, in no order. */
export async function listShadowedByIds(db: Db, ids: readonly string[]): Promise<Report[]> {
  const { rows } = await db.query<Report>(
    `select ${columns} from shadowed_reports where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** Puts reports aside that had been received as usual. */
export async function moveAside(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const names = `id, reporter_id, channel, kind, state, received_at, message_bytes, author, subject,
    message_id, dated_at, comment, received_via, rebuilt_from`
  await tx.query(
    `insert into shadowed_reports (${names})
     select ${names} from reports where id = any($1::uuid[])`,
    [ids],
  )
  await tx.query(
    `insert into shadowed_messages (id, encoding, content)
     select id, encoding, content from raw_messages where id = any($1::uuid[])`,
    [ids],
  )
  await tx.query(`delete from reports where id = any($1::uuid[])`, [ids])
  await tx.query(`delete from raw_messages where id = any($1::uuid[])`, [ids])
}
