import sql from 'sql-template-tag'
import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

/** How long a test letter may take to come back. */
export const PROBE_DAYS = 14

/** A test letter that came back as a report, and what it showed. */
export type MailProbe = {
  letterId: string
  reportId: string
  /** The name of the host that received the letter from our mail server. */
  border: string | null
  /** The number of machines found above it. */
  relays: number
  cameAt: Date
}

const columns = sql`letter_id as "letterId", report_id as "reportId", border, relays,
  came_at as "cameAt"`

/** Stores that a letter came back; it counts once. Returns the first time that it came. */
export async function putProbe(tx: Db, reporterId: string, probe: MailProbe): Promise<MailProbe> {
  const { letterId, reportId, border, relays, cameAt } = probe
  const { rowCount } = await tx.query(sql`
    insert into mail_probes (reporter_id, letter_id, report_id, border, relays, came_at)
    values (${reporterId}, ${letterId}, ${reportId}, ${border}, ${relays}, ${cameAt})
    on conflict (reporter_id, letter_id) do nothing`)
  return rowCount === 1 ? probe : ((await findProbe(tx, reporterId, letterId)) ?? probe)
}

/** Returns what a letter showed that came back before. */
export function findProbe(
  db: Db,
  reporterId: string,
  letterId: string,
): Promise<MailProbe | undefined> {
  return rowOf(db)`select ${columns} from mail_probes
    where reporter_id = ${reporterId} and letter_id = ${letterId}`
}

/** Forgets the hosts that received letters for a reporter; the letters stay used. */
export async function forgetBorders(tx: Db, reporterId: string): Promise<void> {
  await tx.query(sql`update mail_probes set border = null where reporter_id = ${reporterId}`)
}

/** Deletes all but the latest `max` letters of a reporter. */
export async function trimProbes(tx: Db, reporterId: string, max: number): Promise<void> {
  await tx.query(sql`
    delete from mail_probes where reporter_id = ${reporterId} and letter_id in (
    select letter_id from mail_probes where reporter_id = ${reporterId}
    order by came_at desc, letter_id offset ${max})`)
}

/** Returns the letters of a reporter that came back, the latest first. */
export function listProbes(db: Db, reporterId: string): Promise<MailProbe[]> {
  return rowsOf(db)`select ${columns} from mail_probes where reporter_id = ${reporterId}
    order by came_at desc, letter_id`
}

/** Whether a reporter has sent at most one report, and never had a test letter. */
export async function isNewcomer(db: Db, reporterId: string): Promise<boolean> {
  const [reports, letters] = await Promise.all([
    rowsOf(db)`select id from reports where reporter_id = ${reporterId} limit 2`,
    rowsOf(db)`select id from letters where reporter_id = ${reporterId} and kind = 'probe' limit 1`,
  ])
  return reports.length < 2 && letters.length === 0
}

/** Returns the test letters that were written to a reporter since an instant, the latest first. */
export function listProbeLetters(
  db: Db,
  reporterId: string,
  since: Date,
): Promise<{ id: string; state: string; createdAt: Date }[]> {
  return rowsOf(db)`select id, state, created_at as "createdAt" from letters
    where reporter_id = ${reporterId} and kind = 'probe' and id >= ${uuidFloor(since)}
    order by id desc`
}

/** Returns the number of test letters that were written to an address since an instant. */
export async function countProbesTo(db: Db, address: string, since: Date): Promise<number> {
  const found = await rowOf(db)<{ count: number }>`
    select count(*)::integer as count from letters
    where address = ${address} and kind = 'probe' and id >= ${uuidFloor(since)}`
  return found?.count ?? 0
}
