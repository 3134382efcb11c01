import type { Surge } from '../activity/floods.ts'
import { readTotals } from '../activity/read-activity.ts'
import { sumCampaignDays } from '../db/campaigns.ts'
import type { Db } from '../db/pool.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { phrase } from '../phrase.ts'
import type { Measurement } from './conditions.ts'
import type { RunningProcess } from './heartbeat.ts'

/** How many times more than usual is a flood. */
const FACTOR = 10

type Measuring = { db: Db; now: Date; processes: readonly RunningProcess[] }

/** What the processes counted of some kinds, together, the most first. */
function surgesOf(processes: readonly RunningProcess[], kinds: readonly Surge['kind'][]): Surge[] {
  const found = processes
    .flatMap(({ facts }) => facts.floods ?? [])
    .filter(({ kind }) => kinds.includes(kind))
  return [...Map.groupBy(found, ({ kind, who }) => `${kind} ${who}`).values()]
    .flatMap(([first, ...others]) => {
      return first ? [others.reduce((sum, one) => addSurge(sum, one), first)] : []
    })
    .toSorted((a, b) => b.recent - a.recent)
}

function addSurge(one: Surge, other: Surge): Surge {
  return {
    ...one,
    recent: one.recent + other.recent,
    usual: one.usual + other.usual,
    hour: one.hour + other.hour,
  }
}

/** The client that makes the most requests of those that make ten times as many as usual. */
export function measureClients({ processes }: Measuring): Promise<Measurement> {
  // If an account has the most, so has its token: the account is named, because it can be banned.
  const surges = surgesOf(processes, ['account', 'token', 'network'])
  const [found] = surges.filter(({ recent, usual }) => recent >= FACTOR * usual)
  if (!found) return Promise.resolve({ value: 0, reason: phrase('health-busy-none') })
  const { kind, who, recent: value } = found
  const usual = Math.round(found.usual)
  const shown = kind === 'network' ? who : ''
  const reason = phrase('health-busy', { kind, who: shown, count: value, usual })
  if (kind === 'network') return Promise.resolve({ value, reason })
  const [account = ''] = who.split('/')
  const page = `/admin/accounts/${account}`
  if (kind === 'token') return Promise.resolve({ value, reason, page, cause: 'busy-token' })
  return Promise.resolve({ value, reason, page, cause: 'busy-account', fields: { email: account } })
}

/** The limit that refuses the most. */
export function measureRefusals({ processes }: Measuring): Promise<Measurement> {
  const [worst] = surgesOf(processes, ['limit'])
  if (!worst) return Promise.resolve({ value: 0, reason: phrase('health-refusals-none') })
  const said = { limit: worst.who, count: worst.recent, usual: Math.round(worst.usual) }
  return Promise.resolve({ value: worst.recent, reason: phrase('health-refusals', said) })
}

/** Fewer reports before do not make a campaign grow faster. */
const BEFORE_MIN = 10

/** The campaign with the most reports in an hour of those that grew ten times in it. */
export async function measureCampaigns({ db, processes }: Measuring): Promise<Measurement> {
  const surges = surgesOf(processes, ['campaign']).toSorted((a, b) => b.hour - a.hour)
  const totals = await sumCampaignDays(
    db,
    surges.map(({ who }) => who),
  )
  const totalOf = new Map(totals.map(({ campaignId, reports }) => [campaignId, reports]))
  for (const { who, hour: value } of surges) {
    const before = Math.max(0, (totalOf.get(who) ?? 0) - value)
    // All reports of a campaign that is gone were retracted.
    if (!totalOf.has(who) || value < FACTOR * Math.max(BEFORE_MIN, before)) continue
    const reason = phrase('health-campaign-growth', { count: value, before })
    return { value, reason, page: `/admin/campaigns/${who}` }
  }
  return { value: 0, reason: phrase('health-campaign-growth-none') }
}

const MAILS_MIN = 20
/** How many times the usual share of bounces is a wave. */
const WAVE_FACTOR = 3

/** The share of mail that bounced or was refused in the last hour, compared with the day before. */
export async function measureBounceWave({ db, now }: Measuring): Promise<Measurement> {
  const hourAgo = new Date(now.getTime() - HOUR_MS)
  const dayAgo = new Date(hourAgo.getTime() - DAY_MS)
  const [lately, before] = await Promise.all([
    mailBetween(db, { from: hourAgo, to: now, now }),
    mailBetween(db, { from: dayAgo, to: hourAgo, now }),
  ])
  if (lately.mails < MAILS_MIN) {
    return { value: 0, reason: phrase('health-bounce-wave-few', { min: MAILS_MIN }) }
  }
  const value = (lately.failed / lately.mails) * 100
  const usual = (before.failed / Math.max(1, before.mails)) * 100
  const said = { percent: Math.round(value), mails: lately.mails, usual: Math.round(usual) }
  const reason = phrase('health-bounce-wave', said)
  const isSudden = value >= WAVE_FACTOR * usual
  return { value, reason, fields: { queue: 'forward-report' }, ...(!isSudden && { level: 'ok' }) }
}

/** The mails that were sent or refused in a range of time, and those that failed. */
async function mailBetween(
  db: Db,
  range: { from: Date; to: Date; now: Date },
): Promise<{ mails: number; failed: number }> {
  const totals = await readTotals(db, ['mail'], { ...range, isReal: true })
  const sum = (outcome: string) =>
    [...totals].reduce((all, [name, n]) => (name.endsWith(`/${outcome}`) ? all + n : all), 0)
  const refused = sum('refused')
  return { mails: sum('sent') + refused, failed: sum('bounced') + refused }
}
