import type { Db } from './pool.ts'
import { first } from './values.ts'

/** How many feedback reports a consumer with a limit is to get now. */
export type WantedPlaces = { consumerId: string; wanted: number; hourlyMax: number }

/**
 * Takes places of the hour that begins at `hourAt`; returns how many of the wanted ones there were.
 * Held in all processes together. Consumers are asked for in one order, so that nobody deadlocks.
 */
export async function takePlaces(
  db: Db,
  asked: readonly WantedPlaces[],
  hourAt: Date,
): Promise<Map<string, number>> {
  const granted = new Map<string, number>()
  const inOrder = [...asked].sort((one, other) => (one.consumerId < other.consumerId ? -1 : 1))
  for (const { consumerId, wanted, hourlyMax } of inOrder) {
    const answer = await db.query<{ granted: number }>(
      `insert into consumer_hours (consumer_id, hour_at, told, granted)
       values ($1, $2, least($3::integer, $4::integer), least($3::integer, $4::integer))
       on conflict (consumer_id) do update
       set hour_at = greatest(consumer_hours.hour_at, excluded.hour_at),
         told = case when consumer_hours.hour_at >= excluded.hour_at
           then greatest(consumer_hours.told, least(consumer_hours.told + $3::integer, $4::integer))
           else excluded.told end,
         granted = case when consumer_hours.hour_at >= excluded.hour_at
           then greatest(0, least($3::integer, $4::integer - consumer_hours.told))
           else excluded.granted end
       returning granted`,
      [consumerId, hourAt, wanted, hourlyMax],
    )
    granted.set(consumerId, first(answer)?.granted ?? 0)
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
