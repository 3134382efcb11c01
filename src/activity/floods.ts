import { LRUCache } from 'lru-cache'
import { systemElapsed } from '../world.ts'

/**
 * What is counted, and by what. Requests: by account (id), by token (`account/token`) and by
 * network (/24, /48). Refused requests: by the name of the limit. Counted reports: by campaign.
 */
const kinds = ['account', 'token', 'network', 'limit', 'campaign'] as const
type FloodKind = (typeof kinds)[number]

/** How much there was of something: lately in ten minutes, usually in ten, and in an hour. */
export type Surge = { kind: FloodKind; who: string; recent: number; usual: number; hour: number }

/** Counts what may become a flood, in memory of fixed size. */
export type FloodWatch = {
  note: (kind: FloodKind, who: string, amount?: number) => void
  /** Returns the largest of each kind, for the heartbeat of the process. */
  largest: () => Surge[]
}

const WINDOW_MS = 600_000
/** The windows that are kept one by one, and those that make up the usual rate: a day. */
const [HOUR_WINDOWS, USUAL_WINDOWS] = [6, 144]
/** The windows before a process knows what is usual. */
const WARM_WINDOWS = 3
const MEMBERS_MAX = 5_000
const [LARGEST_MAX, SMALLEST] = [5, 10]
/**
 * From when on a client is told of: less than what is a flood, because a process sees only a part
 * of the requests. Nobody needs to know of others.
 */
const [CLIENT_MIN, CLIENT_FACTOR] = [50, 5]

/**
 * The counts of the last windows, the present one first, and the mean of those before two, from the
 * first window that had a count.
 */
type Member = { since: number; window: number; counts: number[]; mean: number }

/** Creates an empty watch. `elapsed` is a monotonic time in milliseconds. */
export function createFloodWatch(elapsed: () => number = systemElapsed): FloodWatch {
  const first = Math.floor(elapsed() / WINDOW_MS)
  const members = new Map(
    kinds.map((kind) => [kind, new LRUCache<string, Member>({ max: MEMBERS_MAX })]),
  )
  const present = () => Math.floor(elapsed() / WINDOW_MS)

  /** Moves a member to the present window. */
  function advance(member: Member, window: number): void {
    const steps = Math.min(window - member.window, USUAL_WINDOWS + HOUR_WINDOWS)
    for (let step = 0; step < steps; step++) {
      const known = Math.min(USUAL_WINDOWS, Math.max(1, window - steps + step - member.since))
      member.mean += ((member.counts[1] ?? 0) - member.mean) / known
      member.counts.unshift(0)
      member.counts.length = HOUR_WINDOWS
    }
    member.window = window
  }

  function surgeOf(kind: FloodKind, who: string, member: Member, window: number): Surge {
    advance(member, window)
    const [now = 0, before = 0] = member.counts
    const hour = member.counts.reduce((sum, count) => sum + count, 0)
    return { kind, who, recent: Math.max(now, before), usual: member.mean, hour }
  }

  return {
    note(kind, who, amount = 1) {
      const window = present()
      const of = members.get(kind)
      const known = of?.get(who)
      if (!known) {
        const counts = [amount, ...new Array<number>(HOUR_WINDOWS - 1).fill(0)]
        return void of?.set(who, { since: window, window, counts, mean: 0 })
      }
      advance(known, window)
      known.counts[0] = (known.counts[0] ?? 0) + amount
    },
    largest() {
      const window = present()
      const isWarm = window - first >= WARM_WINDOWS
      return [...members].flatMap(([kind, of]) => {
        const isClient = clients.includes(kind)
        if (isClient && !isWarm) return []
        const size = ({ recent, hour }: Surge) => (kind === 'campaign' ? hour : recent)
        return [...of.entries()]
          .map(([who, member]) => surgeOf(kind, who, member, window))
          .filter((surge) => (isClient ? isUnusual(surge) : size(surge) >= SMALLEST))
          .toSorted((a, b) => size(b) - size(a))
          .slice(0, LARGEST_MAX)
      })
    },
  }
}

const clients: readonly FloodKind[] = ['account', 'token', 'network']

function isUnusual({ recent, usual }: Surge): boolean {
  return recent >= CLIENT_MIN && recent >= CLIENT_FACTOR * usual
}

export const floods = createFloodWatch()
