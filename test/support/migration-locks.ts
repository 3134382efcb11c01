import type pg from 'pg'

/** A table that a migration locked against writers or readers, and for how long. */
export type HeldLock = { table: string; mode: string; ms: number }

/** Lock modes that make statements of the service wait. */
const blocking = [
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
] as const

/**
 * Runs the statements of a migration in one transaction, and returns the tables that existed before
 * and were locked, each until the end of the transaction.
 */
export async function locksOf(
  client: pg.Client,
  statements: readonly string[],
  { rollsBack = false } = {},
): Promise<HeldLock[]> {
  const { rows: present } = await client.query<{ oid: number }>(
    `select oid::int from pg_class where relkind in ('r', 'p')`,
  )
  const oids = present.map(({ oid }) => oid)
  const since = new Map<string, HeldLock>()
  await client.query('begin')
  for (const statement of statements) {
    const before = performance.now()
    await client.query(statement)
    const { rows } = await client.query<{ table: string; mode: string }>(
      `select relation::regclass::text as table, mode from pg_locks
       where pid = pg_backend_pid() and relation::int = any($1) and mode = any($2)`,
      [oids, blocking],
    )
    for (const { table, mode } of rows) {
      // The statement may have held the lock from its beginning.
      if (!since.has(table)) since.set(table, { table, mode, ms: before })
    }
  }
  await client.query(rollsBack ? 'rollback' : 'commit')
  const end = performance.now()
  return [...since.values()].map((lock) => ({ ...lock, ms: end - lock.ms }))
}
