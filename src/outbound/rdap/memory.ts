import { type IpAddress, type NetworkSet, networkSet } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import type { RegistryAnswer } from './registry-answer.ts'

/** Recent answers, by the networks they are about. */
export type Memory = {
  find: (address: IpAddress) => RegistryAnswer | undefined
  add: (address: IpAddress, answer: RegistryAnswer) => void
}

const REMEMBERED_MS = 10 * 60_000
const REMEMBERED_MAX = 500

/**
 * Remembers the last 500 answers for ten minutes; a `later` for its own address until it may be
 * tried again, and no longer than that.
 */
export function createMemory(clock: Clock): Memory {
  let kept: { answer: RegistryAnswer; about: NetworkSet; until: number }[] = []
  return {
    find(address) {
      const now = clock().getTime()
      return kept.find(({ about, until }) => until > now && about.has(address))?.answer
    },
    add(address, answer) {
      const now = clock().getTime()
      const isLater = answer.is === 'later'
      const until = isLater
        ? Math.min(answer.retryAt.getTime(), now + REMEMBERED_MS)
        : now + REMEMBERED_MS
      const about = networkSet(isLater ? [address.text] : answer.network.cidrs)
      const alive = kept.filter((one) => one.until > now)
      kept = [{ answer, about, until }, ...alive].slice(0, REMEMBERED_MAX)
    },
  }
}

/** Runs what has the same key one after the other, in the order it came. */
export function createLines(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.catch(() => undefined)
    last.set(key, settled)
    try {
      return await mine
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}
