import type { Db } from './pool.ts'
import type { ReportKind } from './reports.ts'

/** What a reporter says now of a message that the same reporter had reported before. */
export type KindChange = {
  reportId: string
  kind: ReportKind
  comment: string | null
  /** Whether what the reporter says is to have no effect on others. */
  isShadowed: boolean
}

/** The start of the sentence with which an administrator's retraction stands in a story. */
export const OVERRULED = 'An administrator took it back.'

/** What reports stand for. */
export async function listToChange(db: Db, ids: readonly string[]): Promise<Standing[]> {
  const { rows } = await db.query<Standing>(
    `select id, kind, state = 'retracted' as "isRetracted", shadow is not null as "isShadowed"
     from reports where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** What a report stands for. */
export type Standing = { id: string; kind: ReportKind; isRetracted: boolean; isShadowed: boolean }

/**
 * Puts a report back to `received`, as what its reporter says now. Returns false, changing nothing,
 * when it stands for that already, or when an administrator took it back; a mail server may learn
 * such a message again. A report that has effect is held from now on where `isShadowed`.
 */
export async function changeKind(
  tx: Db,
  { reportId, kind, comment, isShadowed }: KindChange,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update reports set kind = $2, comment = coalesce($3, comment), state = 'received',
       shadow = case when $5 and (shadow is null or shadow = 'released') then 'held'
         else shadow end
     where id = $1 and (state = 'retracted' or kind <> $2)
       and (state <> 'retracted' or channel = 'learn' or not exists (
         select from report_events
         where report_id = $1 and event = 'retracted' and starts_with(detail, $4)))`,
    [reportId, kind, comment, OVERRULED, isShadowed],
  )
  return rowCount === 1
}

/**
 * Moves reports from one of the states `from` to `to`, unless they were changed to another kind
 * than the one they were judged as, or held or released meanwhile; returns the ids it moved.
 * Released reports have effect from now on.
 */
export async function markJudged(
  tx: Db,
  reports: readonly { id: string; kind: ReportKind; hasEffect: boolean }[],
  from: readonly string[],
  to: 'analyzed' | 'kept',
): Promise<string[]> {
  if (reports.length === 0) return []
  const read = reports.map(({ id, kind, hasEffect }) => [id, `${kind} ${hasEffect}`])
  const { rows } = await tx.query<{ id: string }>(
    `update reports set state = $3, shadow = nullif(shadow, 'released')
     where id = any($1::uuid[]) and state = any($2::text[])
       and kind || ' ' || (coalesce(shadow, 'released') = 'released') = $4::jsonb ->> id::text
     returning id`,
    [reports.map(({ id }) => id), from, to, JSON.stringify(Object.fromEntries(read))],
  )
  return rows.map(({ id }) => id)
}

/** Marks analyzed reports as forwarded whose complaint was sent before they were changed. */
export async function markSentBefore(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.query(
    `update reports set state = 'forwarded'
     where id = any($1::uuid[]) and state = 'analyzed' and exists (
       select from feedback_reports
       where report_id = reports.id and kind = 'complaint' and state in ('sent', 'merged'))
       and not exists (
       select from feedback_reports
       where report_id = reports.id and state in ('queued', 'waiting', 'held', 'shadowed'))`,
    [ids],
  )
}
