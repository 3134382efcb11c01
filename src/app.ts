import type { Config } from './config.ts'
import type { Pool } from './db/pool.ts'
import type { Logger } from './log.ts'
import type { Mailer } from './net/mailer.ts'
import type { Rdap } from './net/rdap/rdap.ts'
import type { Boss } from './queue/boss.ts'
import type { Clock } from './world.ts'

/** The dependencies of one process. Require only the fields that a function uses. */
export type App = {
  config: Config & {
    databaseUrl: string
    secret: string
  }
  pool: Pool
  boss: Boss
  clock: Clock
  log: Logger
}

/** The additional dependencies of a process that handles jobs. */
export type WorkApp = App & {
  /** Undefined if no mail server is configured: then feedback reports are held. */
  mailer: Mailer | undefined
  /** Undefined if registry queries are disabled. */
  rdap: Rdap | undefined
}
