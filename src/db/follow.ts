import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { sqlState } from '../errors.ts'
import type { Db } from './pool.ts'

/** A dedicated connection that receives notifications of the database. */
export type Listening = { db: Db; close: () => Promise<void> }

const CONNECT_MS = 5_000
const QUERY_MS = 1_000
const CLOSE_MS = 1_000

/**
 * Opens a connection, sets up its subscriptions with `begin`, and calls `onNews` for each
 * notification until it is closed. Calls `onLost` once when the connection breaks. A connection
 * that stopped responding is detected at its next query.
 *
 * @throws when the database cannot be reached
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
      // A connection that stopped responding does not confirm its end.
      ;(client as pg.Client & { unref: () => void }).unref()
      await Promise.race([client.end(), wait(CLOSE_MS, undefined, { ref: false })]).catch(
        () => null,
      )
    },
  }
}

/**
 * Interval of polling in milliseconds: less than half of the two seconds in which a change must
 * take effect.
 */
const LOOK_MS = 800

/**
 * Polls the database: calls `look` now, and again 0.8 s after each call ends, until it is closed. A
 * failed call changes nothing; `onFailure` receives the first error of a series.
 *
 * @throws what the first call throws
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
/** Connection errors, too many connections, shutdown, startup, read-only standby. */
const awayState = /^(08...|53[0-9]{3}|57P0[1-5]|25006)$/
const lostWords =
  /connection terminated|not queryable|timeout exceeded when trying to connect|client was closed/i

/**
 * Whether an error means that the database is unavailable or overloaded, so that the same request
 * may succeed later. Recognizes SQLSTATE classes 08 and 53, codes 57P01 to 57P05 and 25006, socket
 * errors, and the messages of `pg` that have no code.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  if (state !== undefined) return awayState.test(state)
  if ('code' in error && typeof error.code === 'string') return lostSocket.has(error.code)
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return lostWords.test(error.message)
}
