import type { Db } from './pool.ts'

/**
 * Gives the database this seed for its shingles, unless it has one: of several who do so at once,
 * one wins. Below 2^64.
 */
export async function ensureInstallation(db: Db, shingleSeed: bigint): Promise<void> {
  await db.query(
    `insert into installation (is_only, shingle_seed) values (true, $1)
     on conflict (is_only) do nothing`,
    [BigInt.asIntN(64, shingleSeed).toString()],
  )
}

/** The seed of its shingles; undefined while it has none. */
export async function findShingleSeed(db: Db): Promise<bigint | undefined> {
  // As text: the pool makes numbers of 64-bit integers.
  const { rows } = await db.query<{ seed: string }>(
    'select shingle_seed::text as seed from installation',
  )
  return rows[0] && BigInt.asUintN(64, BigInt(rows[0].seed))
}
