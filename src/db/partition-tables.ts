import { sqlState } from '../errors.ts'
import { type Db, inTransaction, type Pool } from './pool.ts'

/**
 * Makes a partition of a table where it lacks. `bounds` and what may follow them stand behind
 * `for values`: text of ours. Several processes may do so at once; none may be in a transaction.
 */
export async function createPartition(
  db: Db,
  table: string,
  name: string,
  bounds: string,
): Promise<void> {
  try {
    await db.query(`create table if not exists ${name} partition of ${table} for values ${bounds}`)
  } catch (error) {
    // "if not exists" looks before it waits: another process made it in the same moment.
    if (!madeMeanwhile.has(sqlState(error) ?? '')) throw error
  }
}

/** SQLSTATE of a table, or of its row in the catalog, that is there already. */
const madeMeanwhile = new Set(['42P07', '23505'])

/**
 * Drops a partition, and says whether it could. Never waits for a reader, nor makes one wait: a
 * partition that somebody is reading (a backup, say) is left for the next time.
 */
export async function dropPartition(pool: Pool, name: string): Promise<boolean> {
  try {
    await inTransaction(pool, async (tx) => {
      await tx.query(`set local lock_timeout = ${LOCK_MS_MAX}`)
      await tx.query(`drop table if exists ${name}`)
    })
    return true
  } catch (error) {
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error
    return false
  }
}

/** Longer, and those who wait behind us would feel it. */
const LOCK_MS_MAX = 200
const LOCK_NOT_AVAILABLE = '55P03'

/** The names of all partitions of these tables, in their order. */
export async function listPartitionNames(db: Db, tables: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select child.relname as name
     from pg_inherits
     join pg_class child on child.oid = inhrelid
     join pg_class parent on parent.oid = inhparent
     where parent.relname = any($1) and child.relkind = 'r'
       and parent.relnamespace = 'public'::regnamespace
     order by 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}
