import type { App } from '../app.ts'
import { DAY_MS } from '../durations.ts'
import { forLog, reasonOf } from '../errors.ts'
import type { AlarmNotice } from './alarm-text.ts'
import type { Channel } from './channels.ts'

/** Messages on their way, and the channels that fail. Times are in ISO 8601. */
export type Deliveries = {
  /** Messages with the channels that have not delivered them, oldest first. */
  pending: readonly (AlarmNotice & { channels: readonly string[] })[]
  failing: Readonly<Record<string, ChannelFailure>>
}

type ChannelFailure = { since: string; reason: string; tries: number; nextTryAt: string }

export const emptyDeliveries: Deliveries = { pending: [], failing: {} }

/** Maximum number of messages kept for a channel that fails, and for how long in milliseconds. */
const PENDING_MAX = 20
const PENDING_MS_MAX = DAY_MS
const RETRY_MS_MIN = 10_000
const RETRY_MS_MAX = 10 * 60_000

/** Adds a message for all channels; the oldest are dropped when there are too many. */
export function queueNotice(
  { pending, failing }: Deliveries,
  notice: AlarmNotice,
  channels: readonly Channel[],
): Deliveries {
  if (channels.length === 0) return { pending: [], failing: {} }
  const all = [...pending, { ...notice, channels: channels.map(({ name }) => name) }]
  return { pending: all.slice(-PENDING_MAX), failing }
}

/**
 * Tries to deliver what is pending, each channel on its own, in order. A channel that fails is
 * tried again after a pause that doubles. Returns the same object if there was nothing to do.
 */
export async function deliver<State extends Deliveries>(
  state: State,
  channels: readonly Channel[],
  { clock, log }: Pick<App, 'clock' | 'log'>,
): Promise<State> {
  if (state.pending.length === 0) return state
  const now = clock()
  const fresh = state.pending.filter(({ at }) => now.getTime() - Date.parse(at) < PENDING_MS_MAX)
  const results = await Promise.all(
    channels.map(async (channel) => {
      const failure = state.failing[channel.name]
      const mine = fresh.filter((notice) => notice.channels.includes(channel.name))
      const waits = failure && isLater(failure.nextTryAt, now)
      return {
        name: channel.name,
        ...(await deliverBy(channel, waits ? [] : mine)),
        failure,
        waits,
      }
    }),
  )
  const failing: Record<string, ChannelFailure> = {}
  for (const { name, reason, failure, waits } of results) {
    if (waits && failure) failing[name] = failure
    if (reason === undefined) continue
    failing[name] = nextFailure(failure, reason, now)
    if (!failure)
      log.error({ channel: name, reason: forLog(reason) }, 'An alarm was not delivered.')
  }
  const known = new Set(channels.map(({ name }) => name))
  const pending = fresh
    .map((notice) => ({
      ...notice,
      channels: notice.channels.filter((name) => {
        const delivered = results.find((one) => one.name === name)?.delivered ?? []
        return known.has(name) && !delivered.includes(notice.id)
      }),
    }))
    .filter((notice) => notice.channels.length > 0)
  return { ...state, pending, failing }
}

async function deliverBy(
  channel: Channel,
  notices: readonly AlarmNotice[],
): Promise<{ delivered: string[]; reason?: string }> {
  const delivered: string[] = []
  for (const notice of notices) {
    try {
      await channel.send(notice)
      delivered.push(notice.id)
    } catch (error) {
      return { delivered, reason: reasonOf(error) }
    }
  }
  return { delivered }
}

function isLater(at: string, now: Date): boolean {
  const ms = Date.parse(at) - now.getTime()
  return ms > 0 && ms <= RETRY_MS_MAX
}

function nextFailure(
  before: ChannelFailure | undefined,
  reason: string,
  now: Date,
): ChannelFailure {
  const tries = (before?.tries ?? 0) + 1
  const ms = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(tries - 1, 10))
  const nextTryAt = new Date(now.getTime() + ms).toISOString()
  return { since: before?.since ?? now.toISOString(), reason, tries, nextTryAt }
}
