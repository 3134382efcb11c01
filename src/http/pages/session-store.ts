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
    /** What each session held when it was last read or written. */
    readonly #kept = new WeakMap<SessionData, string>()

    override createSession(req: Request, data: SessionData) {
      const found = super.createSession(req, data)
      this.#kept.set(found, heldBy(found))
      return found
    }

    override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
      const before = this.#kept.get(data)
      const held = heldBy(data)
      this.#kept.set(data, held)
      if (before === undefined) return void super.set(id, data, done)
      const touched = () => this.touch(id, data, () => done?.())
      // A session that has just been opened is written again when its answer ends.
      if (before === held) return touched()
      updateSession(pool, id, data).then(touched, (error: unknown) => done?.(error))
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

/** All but the cookie, which changes with the time. */
function heldBy(data: SessionData): string {
  return JSON.stringify({ ...data, cookie: undefined })
}
