import pg from 'pg'

/** Anything that runs a statement: the pool, or one connection inside a transaction. */
export type Db = Pick<pg.ClientBase, 'query'>

/** Where connections come from. */
export type Pool = pg.Pool

const INT8 = 20

/**
 * A pool of connections. 64-bit integers come back as numbers: all of ours are counts, sizes and AS
 * numbers, far below 2^53. Statements that are not waited for follow each other without a journey
 * between them. A lost idle connection is reported to `onLost` and replaced.
 */
export function createPool(
  connectionString: string,
  options: { connectionsMax: number; name: string; onLost: (error: Error) => void },
): Pool {
  const pool = new pg.Pool({
    connectionString,
    max: options.connectionsMax,
    application_name: options.name,
    connectionTimeoutMillis: 10_000,
    // Or who asks a machine that is gone would wait for its answer for ever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    idleTimeoutMillis: 60_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    } as pg.CustomTypesConfig,
  })
  pool.on('error', options.onLost)
  return pool
}

/**
 * Runs `work` in one transaction on one connection: committed when it returns, rolled back when it
 * throws. A connection whose rollback fails is thrown away.
 */
export async function inTransaction<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  const lost = (error: Error) => (broken = error)
  client.on('error', lost)
  try {
    // Not waited for: the first statements travel with it.
    const begun = client.query('begin')
    begun.catch(lost)
    const result = await work(client)
    await begun
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(lost)
    throw error
  } finally {
    client.removeListener('error', lost)
    client.release(broken)
  }
}
