import type { Config } from './config.ts'
import type { Pool } from './db/pool.ts'
import type { Logger } from './log.ts'
import type { Mailer } from './net/mailer.ts'
import type { Rdap } from './net/rdap/rdap.ts'
import type { Boss } from './queue/boss.ts'
import type { Clock } from './world.ts'

/** What one process runs on. Ask for the fields you use. */
export type App = {
  config: Config & {
    databaseUrl: string
    /** Where LISTEN works; undefined behind a pooler in transaction mode. */
    listenUrl?: string | undefined
    secret: string
  }
  pool: Pool
  boss: Boss
  clock: Clock
  log: Logger
}

/** What a process that works the queues has besides. */
export type WorkApp = App & {
  /** Absent when no mail server is configured: then feedback reports are held. */
  mailer: Mailer | undefined
  /** Absent when the registries are not to be asked. */
  rdap: Rdap | undefined
}
