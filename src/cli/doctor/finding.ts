import type { Config } from '../../config.ts'
import type { Clock, Resolve } from '../../world.ts'

/**
 * The result of one check of an installation. `unknown`: it cannot be checked now. `todo` says what
 * to do.
 */
export type Finding = ({ level: 'ok' } & Says) | ({ level: BadLevel; todo: string } & Says)

type BadLevel = 'unknown' | 'warning' | 'problem'
type Says = { says: string }

/** What the checks use. */
export type Patient = {
  config: Config
  clock: Clock
  /** Undefined with `DNS_SERVERS=none`. */
  resolve: Resolve | undefined
}

export function ok(says: string): Finding {
  return { level: 'ok', says }
}

export function bad(level: BadLevel, says: string, todo: string): Finding {
  return { level, says, todo }
}
