import type { Db } from './pool.ts'
import { values } from './values.ts'

/** How many feedback reports a consumer with a limit is to get now. */
export type WantedPlaces = { consumerId: string; wanted: number; hourlyMax: number }

/**
 * Takes places of the hour that begins at `hourAt`; returns how many of the wanted ones there were.
 * Held in all processes together. All consumers with one limit, which nearly all are, are asked for
 * by one statement, in order, so that nobody deadlocks: one each would be a commit each.
 */
export async function takePlaces(
  db: Db,
  asked: readonly WantedPlaces[],
  hourAt: Date,
): Promise<Map<string, number>> {
  const granted = new Map<string, number>()
  const inOrder = [...asked].sort((one, other) => (one.consumerId < other.consumerId ? -1 : 1))
  for (const [hourlyMax, its] of Map.groupBy(inOrder, (one) => one.hourlyMax)) {
    // More than all places of an hour are as many as all.
    const rows = its.map(({ consumerId, wanted }) => [consumerId, Math.min(wanted, hourlyMax)])
    const { text, params } = values(
      rows.map(([consumerId, places]) => [consumerId, hourAt, places, places]),
    )
    const max = `$${params.length + 1}::integer`
    const answer = await db.query<{ consumerId: string; granted: number }>(
      `insert into consumer_hours (consumer_id, hour_at, told, granted)
       values ${text}
       on conflict (consumer_id) do update
       set hour_at = greatest(consumer_hours.hour_at, excluded.hour_at),
         told = case when consumer_hours.hour_at >= excluded.hour_at
           then greatest(consumer_hours.told, least(consumer_hours.told + excluded.told, ${max}))
           else excluded.told end,
         granted = case when consumer_hours.hour_at >= excluded.hour_at
           then greatest(0, least(excluded.told, ${max} - consumer_hours.told))
           else excluded.granted end
       returning consumer_id as "consumerId", granted`,
      [...params, hourlyMax],
    )
    for (const row of answer.rows) granted.set(row.consumerId, row.granted)
  }
  return granted
}

/** Gives places back of which nothing came. */
export async function giveBackPlaces(
  db: Db,
  consumerId: string,
  places: number,
  hourAt: Date,
): Promise<void> {
  await db.query(
    `update consumer_hours set told = greatest(0, told - $3)
     where consumer_id = $1 and hour_at = $2`,
    [consumerId, hourAt, places],
  )
}
