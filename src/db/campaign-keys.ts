import { bigintArray } from './binary-array.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** That a campaign is found under a key; `key` in 16 hexadecimal digits. */
export type CampaignKey = { key: string; generation: number; campaignId: string }

/** Below the limit of parameters of one statement. */
const ROWS_PER_STATEMENT = 10_000
const ROW_BYTES = 28

/**
 * All campaigns under any of these keys in the given generations, in no order. They travel as one
 * value, which spares the driver a row each.
 */
export async function findCampaignKeys(
  db: Db,
  keys: readonly string[],
  [oldest, newest]: readonly [number, number],
): Promise<CampaignKey[]> {
  if (keys.length === 0) return []
  const { rows } = await db.query<{ found: Buffer | null }>(
    `select string_agg(int8send(key) || int4send(generation) || uuid_send(campaign_id), ''::bytea)
       as found
     from campaign_keys where key = any($1::bigint[]) and generation between $2 and $3`,
    [bigintArray(Buffer.from(keys.join(''), 'hex')), oldest, newest],
  )
  const found = rows[0]?.found ?? Buffer.alloc(0)
  return Array.from({ length: found.length / ROW_BYTES }, (_, index) => {
    const at = index * ROW_BYTES
    return {
      key: found.toString('hex', at, at + 8),
      generation: found.readInt32BE(at + 8),
      campaignId: uuidOf(found.toString('hex', at + 12, at + ROW_BYTES)),
    }
  })
}

/** Writes the keys of campaigns that begin, in their order. */
export async function insertCampaignKeys(tx: Db, rows: readonly CampaignKey[]): Promise<void> {
  await insertRows(tx, rows, '')
}

/** Writes keys again, into another generation, in their order; what is there already stays. */
export async function carryCampaignKeys(tx: Db, rows: readonly CampaignKey[]): Promise<void> {
  await insertRows(tx, rows, 'on conflict (key, generation, campaign_id) do nothing')
}

/** To look for conflicts where there are none is a sixth of what founding costs. */
async function insertRows(tx: Db, rows: readonly CampaignKey[], onConflict: string): Promise<void> {
  const sorted = rows
    .map((row) => ({ ...row, key: BigInt.asIntN(64, BigInt(`0x${row.key}`)) }))
    .sort(byKey)
  for (let at = 0; at < sorted.length; at += ROWS_PER_STATEMENT) {
    const { text, params } = values(
      sorted
        .slice(at, at + ROWS_PER_STATEMENT)
        .map(({ key, generation, campaignId }) => [key, generation, campaignId]),
    )
    await tx.query(
      `insert into campaign_keys (key, generation, campaign_id) values ${text} ${onConflict}`,
      params,
    )
  }
}

type SignedKey = { key: bigint; generation: number; campaignId: string }

function byKey(a: SignedKey, b: SignedKey): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  if (a.generation !== b.generation) return a.generation - b.generation
  return a.campaignId < b.campaignId ? -1 : 1
}

function uuidOf(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}
