import connectPgSimple from 'connect-pg-simple'
import type { Request } from 'express'
import session, { type SessionData, type Store } from 'express-session'
import type { Pool } from '../../db/pool.ts'
import { updateSession } from '../../db/sessions.ts'

const PRUNE_SECONDS = 15 * 60

/**
 * Sessions in the database. One that was ended while a request of it was under way stays ended:
 * else whoever keeps a slow request open could outlive a new password.
 */
export function createSessionStore(pool: Pool, warn: () => void): Store {
  const PgStore = connectPgSimple(session)
  class SessionStore extends PgStore {
    readonly #kept = new WeakSet<SessionData>()

    override createSession(req: Request, data: SessionData) {
      const found = super.createSession(req, data)
      this.#kept.add(found)
      return found
    }

    override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
      if (!this.#kept.has(data)) {
        this.#kept.add(data)
        return void super.set(id, data, done)
      }
      updateSession(pool, id, data).then(
        () => this.touch(id, data, () => done?.()),
        (error: unknown) => done?.(error),
      )
    }
  }
  return new SessionStore({
    pool,
    tableName: 'sessions',
    createTableIfMissing: false,
    pruneSessionInterval: PRUNE_SECONDS,
    errorLog: warn,
  })
}
