import { uuidFloor } from '../world.ts'
import { createPartition, dropPartition, listPartitionNames } from './partition-tables.ts'
import type { Db, Pool } from './pool.ts'

/** The tables that are cut into weeks by the time inside their ids. */
export const partitionedTables = [
  'reports',
  'raw_messages',
  'analyses',
  'counted_reports',
  'reported_evidence',
  'campaigns',
  'campaign_days',
  'report_events',
  'feedback_reports',
  'feedback_messages',
  'feedback_answers',
  'inbound_mails',
  'letters',
  'unsubscribe_requests',
  'audit_log',
] as const

const WEEK_MS = 7 * 86_400_000
/** Thursday 1 January 1970 to the first Monday. */
const MONDAY_MS = 4 * 86_400_000

/** The Monday, 00:00 UTC, of the week that holds an instant. */
export function weekOf(at: Date): Date {
  return new Date(Math.floor((at.getTime() - MONDAY_MS) / WEEK_MS) * WEEK_MS + MONDAY_MS)
}

/**
 * Makes the partitions of the week of `from` and of the `weeks` that follow, where they lack.
 * Far ahead, because all changes of the schema must wait while a node is down. Several processes
 * may do so at once; none may be in a transaction.
 */
export async function ensurePartitions(db: Db, from: Date, weeks: number): Promise<void> {
  const present = new Set((await listPartitions(db)).map(({ name }) => name))
  for (let week = 0; week <= weeks; week++) {
    const start = new Date(weekOf(from).getTime() + week * WEEK_MS)
    for (const table of partitionedTables) {
      const name = partitionName(table, start)
      if (!present.has(name)) await createPartition(db, table, name, boundsOf(start))
    }
  }
}

/**
 * Drops the partitions whose last instant is before `before`, and returns their names. Never waits
 * for a reader: what somebody is reading is left for the next time.
 */
export async function dropPartitions(pool: Pool, before: Date): Promise<string[]> {
  const dropped: string[] = []
  for (const { name, start } of await listPartitions(pool)) {
    const isOld = start.getTime() + WEEK_MS <= before.getTime()
    if (isOld && (await dropPartition(pool, name))) dropped.push(name)
  }
  return dropped
}

function partitionName(table: string, start: Date): string {
  return `${table}_${start.toISOString().slice(0, 10).replaceAll('-', '')}`
}

function boundsOf(start: Date): string {
  const end = new Date(start.getTime() + WEEK_MS)
  return `from ('${uuidFloor(start)}') to ('${uuidFloor(end)}')`
}

async function listPartitions(db: Db): Promise<{ name: string; start: Date }[]> {
  return (await listPartitionNames(db, partitionedTables)).map((name) => {
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
    return { name, start: new Date(`${year}-${month}-${day}T00:00:00Z`) }
  })
}
