import { uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** Who gets our feedback: an abuse desk found by its network, or one that enrolled. */
export type Consumer = { id: string; address: string; state: 'found' | 'enrolled' | 'paused' }

/** The consumers at these addresses, by address; unknown ones are added as `found`. */
export async function ensureConsumers(
  tx: Db,
  addresses: readonly string[],
  now: Date,
): Promise<Map<string, Consumer>> {
  if (addresses.length === 0) return new Map()
  const known = await listConsumers(tx, addresses)
  const missing = addresses.filter((address) => !known.has(address)).sort()
  if (missing.length === 0) return known
  const { text, params } = values(missing.map((address) => [uuidv7(now), address, 'found', now]))
  await tx.query(
    `insert into consumers (id, address, state, created_at) values ${text}
     on conflict (address) do nothing`,
    params,
  )
  return listConsumers(tx, addresses)
}

/** The consumers at these addresses, by address. */
export async function listConsumers(
  db: Db,
  addresses: readonly string[],
): Promise<Map<string, Consumer>> {
  const { rows } = await db.query<Consumer>(
    `select id, address, state from consumers where address = any($1::text[])`,
    [addresses],
  )
  return new Map(rows.map((consumer) => [consumer.address, consumer]))
}
