import type { Surge } from '../../src/activity/floods.ts'
import { packSlot, slotStart, TICK_MS } from '../../src/activity/slots.ts'
import { seriesIds, upsertSlots } from '../../src/db/activity.ts'
import type { Pool } from '../../src/db/pool.ts'
import { dateOf } from '../../src/durations.ts'
import type { ProcessFacts } from '../../src/health/heartbeat.ts'
import { uuidv7 } from '../../src/world.ts'

/** What a process tells that saw a flood. */
export function surge(kind: Surge['kind'], who: string, recent: number, usual = 3): ProcessFacts {
  return { floods: [{ kind, who, recent, usual, hour: recent }] }
}

/** Stores the size of a campaign, and returns what a process tells that counted its last hour. */
export async function growCampaign(
  pool: Pool,
  hour: number,
  before: number,
): Promise<ProcessFacts> {
  const id = uuidv7(new Date())
  await pool.query(
    `insert into campaign_days (campaign_id, shard, day, reports) values ($1, 0, $2, $3)`,
    [id, dateOf(new Date()), hour + before],
  )
  return surge('campaign', id, hour)
}

/** Stores how many mails were sent, refused and bounced in the last ten seconds. */
export async function mailInSlot(pool: Pool, mails: Record<string, number>): Promise<void> {
  const named = Object.entries(mails).map(
    ([outcome, n]) => [`mail/feedback/${outcome}`, n] as const,
  )
  const ids = await seriesIds(pool, Object.keys(Object.fromEntries(named)), new Date())
  const rates = new Map(
    named.map(([name, mean]) => [ids.get(name) ?? 0, { count: 1, min: mean, mean, max: mean }]),
  )
  const content = packSlot({ ticks: 1, rates, states: new Map(), durations: new Map() })
  const at = new Date(slotStart(Date.now() - TICK_MS, TICK_MS))
  await upsertSlots(pool, [{ level: 0, at, family: 'mail', ticks: 1, content }])
}
