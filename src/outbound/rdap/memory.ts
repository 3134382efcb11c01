import { type IpAddress, type NetworkSet, networkSet } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import type { RegistryAnswer } from './registry-answer.ts'

/** Recent answers, by the networks they are about. */
export type Memory = {
  /** `asn` is the AS that announces the address, null when none is known to. */
  find: (address: IpAddress, asn: number | null) => RegistryAnswer | undefined
  add: (address: IpAddress, asn: number | null, answer: RegistryAnswer) => void
}

type Remembered = {
  answer: RegistryAnswer
  asked: string
  asn: number | null
  about: NetworkSet
  until: number
}

const REMEMBERED_MS = 10 * 60_000
const REMEMBERED_MAX = 500

/**
 * Remembers the last 500 answers for ten minutes; a `later` for its own address until it may be
 * tried again, and no longer than that. An answer counts for another address than the one asked
 * about only when both are of one AS, or no AS is known for the other.
 */
export function createMemory(clock: Clock): Memory {
  let kept: Remembered[] = []
  return {
    find(address, asn) {
      const now = clock().getTime()
      return kept.find(
        (one) =>
          one.until > now &&
          one.about.has(address) &&
          (one.asked === address.text || asn === null || one.asn === asn),
      )?.answer
    },
    add(address, asn, answer) {
      const now = clock().getTime()
      const isLater = answer.is === 'later'
      const until = isLater
        ? Math.min(answer.retryAt.getTime(), now + REMEMBERED_MS)
        : now + REMEMBERED_MS
      const about = networkSet(isLater ? [address.text] : answer.network.holdsFor)
      const alive = kept.filter((one) => one.until > now)
      kept = [{ answer, asked: address.text, asn, about, until }, ...alive].slice(0, REMEMBERED_MAX)
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
