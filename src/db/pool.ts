import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { DatabaseUnfit, reasonOf, sqlState } from '../errors.ts'

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

/**
 * For how long a connection keeps its server: always, or, behind a pooler such as pgbouncer in
 * transaction mode, only for one transaction.
 */
export type Pooling = 'session' | 'transaction'

const CONNECT_MS = 5_000
const ANSWER_MS = 2_000
/** One is enough while nobody else uses the pooler. */
const ROUNDS = 25

/**
 * Finds out how connections are pooled. A second connection takes the server that the first one
 * gave back: then the first one gets another, and a prepared statement must follow it there.
 *
 * @throws DatabaseUnfit behind a pooler that loses prepared statements or knows no transactions
 * @throws what the database or `pg` throws while the database is away
 */
export async function findPooling(databaseUrl: string): Promise<Pooling> {
  return withClient(databaseUrl, async (first) => {
    const { rows } = await first.query<Served>(SERVED)
    // A pooler makes up the process that it tells of; PostgreSQL tells the truth.
    if (rows[0]?.pid === processOf(first)) return 'session'
    return withClient(databaseUrl, async (second) => {
      for (let round = 0; round < ROUNDS; round++) {
        if (await changesServer(first, second)) return 'transaction'
      }
      return 'session'
    })
  })
}

type Served = { pid: number }
const SERVED = 'select pg_backend_pid() as pid'

/** Whether `first` is served by another process while `second` holds a transaction open. */
async function changesServer(first: pg.Client, second: pg.Client): Promise<boolean> {
  const name = `pooling ${processOf(first)}`
  const serve = () => first.query<Served>({ name, text: SERVED })
  try {
    const before = await serve()
    // All servers are taken by sessions: nothing can be found out.
    if (!(await inTime(second.query('begin')))) return false
    await second.query({ name, text: `${SERVED}, 'the same name for another statement'` })
    const after = await inTime(serve())
    // Without an answer the transaction has the only server.
    return after?.rows[0]?.pid !== before.rows[0]?.pid
  } catch (error) {
    throw sqlState(error) === undefined ? error : unfit(error)
  } finally {
    await inTime(second.query('rollback').catch(() => undefined))
  }
}

function unfit(cause: unknown): DatabaseUnfit {
  return new DatabaseUnfit(
    `The database is behind a connection pooler that does not keep prepared statements ` +
      `(${reasonOf(cause)}). Use pgbouncer 1.21 or newer with max_prepared_statements above 0, ` +
      `or set pool_mode = session.`,
    { cause },
  )
}

async function inTime<T>(query: Promise<T>): Promise<T | undefined> {
  query.catch(() => undefined)
  return Promise.race([query, wait(ANSWER_MS, undefined, { ref: false })])
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'signalpost pooling',
    connectionTimeoutMillis: CONNECT_MS,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await inTime(client.end().catch(() => undefined))
  }
}

/** The process that the other side says serves this connection. */
function processOf(client: pg.Client): number | null {
  return (client as pg.Client & { processID: number | null }).processID
}
