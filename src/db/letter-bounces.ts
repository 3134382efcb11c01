import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'

/** The longest that a letter may have waited to be sent. */
const WAITING_MS = 7 * 86_400_000

/** What became of the letters that left for an address since an instant, oldest first. */
export async function listLetterFates(
  db: Db,
  address: string,
  since: Date,
): Promise<{ state: 'sent' | 'bounced'; sentAt: Date }[]> {
  const { rows } = await db.query<{ state: 'sent' | 'bounced'; sentAt: Date }>(
    `select state, coalesce(finished_at, created_at) as "sentAt" from letters
     where state in ('sent', 'bounced') and id >= $2 and lower(address) = lower($1)
       and coalesce(finished_at, created_at) >= $3
     order by 2 limit 1000`,
    [address, uuidFloor(new Date(since.getTime() - WAITING_MS)), since],
  )
  return rows
}
