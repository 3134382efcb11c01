import type { AppConfig } from '../app.ts'
import type { Config } from '../config.ts'
import { follow, isOutage } from '../db/follow.ts'
import type { Pool } from '../db/pool.ts'
import { insertSecret, listSecrets, noteSecretUses } from '../db/secrets.ts'
import { DatabaseUnsuitable, reasonOf } from '../errors.ts'
import { createKeyRing, type KeyRing, MISSING } from '../key-ring.ts'
import type { Logger } from '../log.ts'
import { type Clock, systemClock } from '../world.ts'
import { keptSecrets } from './data-dir.ts'

/** Creates the key ring of the settings, or of the data folder if SECRET is not set. */
export async function keyRingOf(config: Config): Promise<KeyRing> {
  const { secret, previous } =
    config.secret === undefined
      ? await keptSecrets(config.dataDir)
      : { secret: config.secret, previous: [] }
  return createKeyRing(secret, [...previous, ...config.previousSecrets], systemClock)
}

type Needs = { pool: Pool; config: Pick<AppConfig, 'secret'>; clock: Clock; log: Logger }

/**
 * Requires that the secret in force is configured. Notes the first secret of a database, so that
 * later processes with another one do not start.
 *
 * @throws DatabaseUnsuitable if another secret is in force
 */
export async function requireSecret(pool: Pool, secret: KeyRing, clock: Clock): Promise<void> {
  if ((await listSecrets(pool)).length === 0) {
    // If the secret changes with the upgrade, the previous one was in force until now.
    const name = secret.names[1] ?? secret.names[0] ?? ''
    await insertSecret(pool, { number: 1, name, inForceAt: clock() })
  }
  secret.update(await listSecrets(pool))
  if (!secret.isUsable()) throw new DatabaseUnsuitable(MISSING)
}

/**
 * Follows which secret is in force, until closed. `mustHave`: the process needs it (see
 * `requireSecret`); a command may only need other things.
 */
export async function keepSecret(
  { pool, config: { secret }, clock, log }: Needs,
  { mustHave }: { mustHave: boolean },
): Promise<{ close: () => Promise<void> }> {
  let wasUsable = true
  const noteUses = async () => {
    const uses = secret.takeUses()
    if (uses.length > 0) await noteSecretUses(pool, uses, clock())
  }
  if (mustHave) await requireSecret(pool, secret, clock)
  const following = await follow(pool, 'secrets', {
    load: async () => secret.update(await listSecrets(pool)),
    async afterwards() {
      await noteUses()
      if (!secret.isUsable() && wasUsable && mustHave) log.error(MISSING)
      wasUsable = secret.isUsable()
    },
    onFailure(error) {
      if (!isOutage(error)) log.warn({ reason: reasonOf(error) }, 'Could not read the secrets.')
    },
  })
  return {
    async close() {
      await following.close()
      await noteUses().catch(() => undefined)
    },
  }
}
