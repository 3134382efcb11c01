import type { Pool } from '../../src/db/pool.ts'

/** Returns a pool whose connections break when a statement chosen by `isFatal` is sent. */
export function breaking(pool: Pool, isFatal: (text: string) => boolean): Pool {
  const connect = async () => {
    const client = await pool.connect()
    const { query } = client
    return Object.assign(Object.create(client) as typeof client, {
      query(statement: string | { text: string }, ...more: unknown[]) {
        const text = (typeof statement === 'string' ? statement : statement.text).trimStart()
        if (!isFatal(text)) return Reflect.apply(query, client, [statement, ...more]) as unknown
        // Simulates a crash of the process: the connection is cut without a rollback.
        const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
        connection.stream.destroy()
        return Promise.reject(new Error('Killed.'))
      },
    })
  }
  return Object.assign(Object.create(pool) as Pool, { connect })
}

/**
 * Lists the advisory locks that are held. The server keeps those of a cut connection until it
 * notices the cut.
 */
export async function listAdvisoryLocks(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select objid from pg_locks
     where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  )
  return rows
}
