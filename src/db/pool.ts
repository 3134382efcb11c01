import pg from 'pg'
import { DatabaseUnsuitable, reasonOf, sqlState } from '../errors.ts'
import { inTime } from '../world.ts'

/** Anything that runs statements: the pool, or one connection in a transaction. */
export type Db = Pick<pg.ClientBase, 'query'>

export type Pool = pg.Pool

/**
 * Time in milliseconds after which an unused connection is closed. A new one costs the server more
 * than hundreds of statements, because all of them are prepared again.
 */
export const IDLE_MS_MAX = 600_000

const INT8 = 20
const BYTEA = 17

/**
 * Creates a pool of connections. It returns 64-bit integers as numbers, because all of them are
 * counts, sizes and AS numbers far below 2^53. Statements are pipelined: one can be sent before the
 * previous one is answered. A lost idle connection is reported to `onLost` and replaced.
 */
export function createPool(
  connectionString: string,
  options: {
    connectionsMax: number
    name: string
    onLost: (error: Error) => void
    /** Settings of each session, as `-c name=value`. */
    settings?: string
    /**
     * Whether the server ends each transaction that waits a minute for its process. A process that
     * hangs would otherwise keep its locks, and others would wait for it. Not behind a pooler in
     * transaction mode, which applies a setting to whichever session it uses next.
     */
    endsIdle?: boolean
  },
): Pool {
  const pool = new pg.Pool({
    connectionString,
    options: options.settings,
    max: options.connectionsMax,
    application_name: options.name,
    connectionTimeoutMillis: 10_000,
    // Without keepalive, a query to a server that is gone would wait forever.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    idleTimeoutMillis: IDLE_MS_MAX,
    // Ends the statements prepared for past weeks.
    maxLifetimeSeconds: 86_400,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        (format === 'binary' ? undefined : parsers.get(oid)) ?? pg.types.getTypeParser(oid, format),
    } as pg.CustomTypesConfig,
  })
  pool.on('error', options.onLost)
  pool.on('connect', (client) => {
    // If the connection is lost, the next statement fails too. Nothing else listens while the pool
    // hands a new connection over.
    client.on('error', () => undefined)
    if (options.endsIdle) {
      client.query(`set idle_in_transaction_session_timeout = '60s'`).catch(() => undefined)
    }
  })
  return pool
}

const parsers = new Map<number, (text: string) => unknown>([
  [INT8, Number],
  [BYTEA, parseBytea],
])

const parseEscaped = pg.types.getTypeParser(BYTEA)
/** Longer bytes get memory of their own. */
const SHARED_BYTES_MAX = 1_024

/**
 * Parses bytes as PostgreSQL writes them. Long bytes do not share memory with others: a thread that
 * gets them would otherwise get a copy of all of that memory, 64 KB.
 */
function parseBytea(text: string): unknown {
  if (!text.startsWith('\\x')) return parseEscaped(text)
  const length = text.length / 2 - 1
  if (length <= SHARED_BYTES_MAX) return Buffer.from(text.slice(2), 'hex')
  const bytes = Buffer.allocUnsafeSlow(length)
  bytes.write(text.slice(2), 'hex')
  return bytes
}

/** Runs `work` on one connection, to which it can send many statements at once. */
export async function onConnection<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    return await work(client)
  } finally {
    client.release()
  }
}

/**
 * A transaction on one connection. It ends with a commit that succeeds, or with the rollback; later
 * statements are refused, because the connection may serve another transaction.
 */
export type Transaction = {
  tx: Db
  /** Throws if the connection is known to be lost, and with it the locks. */
  check: () => Promise<void>
  commit: () => Promise<void>
  rollback: () => Promise<void>
}

/**
 * Begins a transaction. Its `rollback` never rejects, and closes the connection if it fails.
 *
 * @throws the error of connecting
 */
export async function beginTransaction(pool: Pool): Promise<Transaction> {
  const client = await pool.connect()
  let broken: Error | undefined
  const lost = (error: Error) => (broken = error)
  client.on('error', lost)
  // Not awaited, so that the first statements are sent together with it.
  const begun = client.query('begin')
  begun.catch(lost)
  let isOver = false
  const query = (...given: Parameters<Pool['query']>) => {
    if (isOver) throw endedError()
    return client.query(...given)
  }
  const release = () => {
    client.removeListener('error', lost)
    client.release(broken)
  }
  return {
    tx: { query: query as Db['query'] },
    async check() {
      await begun
      if (broken) throw new Error('Connection terminated unexpectedly', { cause: broken })
    },
    async commit() {
      isOver = true
      await begun
      await client.query('commit')
      release()
    },
    async rollback() {
      isOver = true
      await client.query('rollback').catch(lost)
      release()
    },
  }
}

/** Returns the error of a statement that comes after the end of its transaction. */
export function endedError(): Error {
  return new Error('The transaction has ended.')
}

/**
 * Runs `work` in one transaction on one connection: commits when it returns, rolls back when it
 * throws. Closes the connection if the rollback fails.
 */
export async function inTransaction<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const { tx, commit, rollback } = await beginTransaction(pool)
  try {
    const result = await work(tx)
    await commit()
    return result
  } catch (error) {
    await rollback()
    throw error
  }
}

/**
 * How long a connection uses the same server process: permanently, or, behind a pooler such as
 * pgbouncer in transaction mode, only for one transaction.
 */
export type Pooling = 'session' | 'transaction'

const POOLING = { name: 'signalpost pooling', waitMs: 5_000 }
const ANSWER_MS = 2_000
/** Maximum number of attempts. One suffices while no other client uses the pooler. */
const ROUNDS = 25

/**
 * Detects how connections are pooled. A second connection takes over the server process that the
 * first one released; the first one then gets another, where its prepared statement must still
 * work.
 *
 * @throws DatabaseUnsuitable when a pooler loses prepared statements, or does not support
 *   transactions
 * @throws the error of the database or of `pg` when the database is unavailable
 */
export async function findPooling(databaseUrl: string): Promise<Pooling> {
  return withClient(databaseUrl, POOLING, async (first) => {
    const { rows } = await first.query<Served>(SERVED)
    // A pooler reports a made-up process id at connection; PostgreSQL reports the real one.
    if (rows[0]?.pid === processOf(first)) return 'session'
    return withClient(databaseUrl, POOLING, async (second) => {
      for (let round = 0; round < ROUNDS; round++) {
        if (await changesServer(first, second, round)) return 'transaction'
      }
      return 'session'
    })
  })
}

type Served = { pid: number }
const SERVED = 'select pg_backend_pid() as pid'

/**
 * Whether another process serves `first` while `second` holds a transaction open.
 *
 * @param round gives each attempt a statement of its own, which no earlier attempt has left in a
 *   server process
 */
async function changesServer(first: pg.Client, second: pg.Client, round: number): Promise<boolean> {
  const name = `pooling ${processOf(first)} ${round}`
  const serve = () => first.query<Served>({ name, text: SERVED })
  try {
    const before = await serve()
    // All server processes are in use by other sessions, so the pooling cannot be detected.
    if (!(await inTime(second.query('begin'), ANSWER_MS, undefined))) return false
    await second.query({ name, text: `${SERVED}, 'the same name for another statement'` })
    const after = await inTime(serve(), ANSWER_MS, undefined)
    // Without an answer, the transaction must be using the only server process.
    return after?.rows[0]?.pid !== before.rows[0]?.pid
  } catch (error) {
    const state = sqlState(error)
    // A database that stops, or that is full, is not unfit.
    throw state === undefined || /^5[37]/.test(state) ? error : unfit(error)
  } finally {
    await inTime(
      second.query('rollback').catch(() => undefined),
      ANSWER_MS,
      undefined,
    )
  }
}

function unfit(cause: unknown): DatabaseUnsuitable {
  return new DatabaseUnsuitable(
    `The database is behind a connection pooler that does not keep prepared statements ` +
      `(${reasonOf(cause)}). Use pgbouncer 1.21 or newer with max_prepared_statements above 0, ` +
      `or set pool_mode = session.`,
    { cause },
  )
}

/**
 * Runs `work` on a connection of its own. Connecting and each statement take `waitMs` at most, also
 * if the server hangs.
 *
 * @throws the error of the database or of `pg`
 */
export async function withClient<T>(
  url: string,
  { name, waitMs }: { name: string; waitMs: number },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: waitMs,
    query_timeout: waitMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await inTime(
      client.end().catch(() => undefined),
      ANSWER_MS,
      undefined,
    )
  }
}

/** Returns the process id that the server reported at connection. */
function processOf(client: pg.Client): number | null {
  return (client as pg.Client & { processID: number | null }).processID
}
