import type { Db } from './pool.ts'

/** What a gate wrote at one version of its shard: all it knows, or what came to it then. */
export type GateState = { version: number; isWhole: boolean; content: Buffer }

/** What is written of a shard's gate, in the order in which it was. */
export async function listGateStates(db: Db, shard: number): Promise<GateState[]> {
  const { rows } = await db.query<GateState>(
    `select version, is_whole as "isWhole", content from counter_gates
     where shard = $1 order by version`,
    [shard],
  )
  return rows
}

/** Writes what a gate has to say; the whole of it takes the place of all before. */
export async function insertGateState(
  tx: Db,
  shard: number,
  { version, isWhole, content }: GateState,
): Promise<void> {
  if (isWhole) await tx.query('delete from counter_gates where shard = $1', [shard])
  await tx.query(
    'insert into counter_gates (shard, version, is_whole, content) values ($1, $2, $3, $4)',
    [shard, version, isWhole, content],
  )
}
