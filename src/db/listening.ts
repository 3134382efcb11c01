import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
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
