import type { Config } from './config.ts'
import type { Pool } from './db/pool.ts'
import type { KeyRing } from './key-ring.ts'
import type { Logger } from './log.ts'
import type { IdentityProvider } from './net/identity-provider.ts'
import type { Mailer } from './net/mailer.ts'
import type { Rdap } from './net/rdap/rdap.ts'
import type { Boss } from './queue/boss.ts'
import type { Clock } from './world.ts'

/** The settings of a process that runs; only the key ring has the secrets. */
export type AppConfig = Omit<Config, 'secret' | 'previousSecrets'> & {
  databaseUrl: string
  secret: KeyRing
}

/** The dependencies of one process. Require only the fields that a function uses. */
export type App = {
  config: AppConfig
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

/** The additional dependencies of a process that serves pages. */
export type WebApp = App & {
  /** Undefined if all people sign in here. */
  provider: IdentityProvider | undefined
}
