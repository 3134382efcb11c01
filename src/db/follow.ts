import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { sqlState } from '../errors.ts'
import type { Db } from './pool.ts'

/** A connection of its own that hears what the database is told. */
export type Listening = { db: Db; close: () => Promise<void> }

const CONNECT_MS = 5_000
const QUERY_MS = 1_000
const CLOSE_MS = 1_000

/**
 * Opens a connection, makes it listen by `begin`, and calls `onNews` for each notification, until
 * it is closed. `onLost` is called once when it breaks; a connection that goes silent breaks at its
 * next query.
 *
 * @throws when the database is away
 */
export async function openListening(
  databaseUrl: string,
  name: string,
  hooks: { begin: (db: Db) => Promise<void>; onNews: () => void; onLost: () => void },
): Promise<Listening> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    keepAlive: true,
  })
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    hooks.onLost()
  }
  client.on('error', over)
  client.on('end', over)
  client.on('notification', hooks.onNews)
  try {
    await client.connect()
    await hooks.begin(client)
  } catch (error) {
    isOver = true
    await client.end().catch(() => undefined)
    throw error
  }
  return {
    db: client,
    close: async () => {
      isOver = true
      // One that went silent never says good-bye.
      ;(client as pg.Client & { unref: () => void }).unref()
      await Promise.race([client.end(), wait(CLOSE_MS, undefined, { ref: false })]).catch(
        () => null,
      )
    },
  }
}

/** How often what is followed is looked at: half of the two seconds that a change may take. */
const LOOK_MS = 800

/**
 * Follows what stands in the database: looks now, and again 0.8 s after each look, until it is
 * closed. A look that fails changes nothing; `onFailure` hears of the first of a row.
 *
 * @throws what the first look throws
 */
export async function follow(
  look: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Promise<{ close: () => Promise<void> }> {
  let isClosed = false
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let looking = look()
  await looking

  function lookLater(): void {
    timer = setTimeout(() => {
      looking = lookOnce()
    }, LOOK_MS)
    timer.unref()
  }

  async function lookOnce(): Promise<void> {
    try {
      await look()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    if (!isClosed) lookLater()
  }

  lookLater()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}

const lostSocket = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
/** Connection trouble, too many connections, shutting down, starting up, read-only standby. */
const awayState = /^(08...|53[0-9]{3}|57P0[1-5]|25006)$/
const lostWords =
  /connection terminated|not queryable|timeout exceeded when trying to connect|client was closed/i

/**
 * Whether an error says that the database is away or cannot take more just now: the same request
 * may succeed a little later. PostgreSQL's SQLSTATE classes 08, 53 and 57P, the socket's own
 * errors, and the sentences of `pg` that carry no code.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  if (state !== undefined) return awayState.test(state)
  if ('code' in error && typeof error.code === 'string') return lostSocket.has(error.code)
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return lostWords.test(error.message)
}
