import { LRUCache } from 'lru-cache'
import type { Db, Pool } from '../db/pool.ts'
import {
  findKarmas,
  findMarks,
  findReputations,
  findWholeReputations,
  type ReputationMark,
  searchReputations,
} from '../db/reputations.ts'
import type { Phrase } from '../phrase.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import { type Detail, unpackDetail } from '../verdict/reputation/detail.ts'
import { karmaOf } from '../verdict/reputation/karma.ts'
import {
  explainReputation,
  type Mark,
  type Reputation,
  reputationAt,
} from '../verdict/reputation/reputation.ts'
import {
  type StoredReputation,
  type Subject,
  type SubjectKind,
} from '../verdict/reputation/subject.ts'
import type { Clock } from '../world.ts'
import { type CounterReader, createCounterReader } from './reader.ts'
import { readSeenVolume, readVolumes } from './volumes.ts'

/** How much a reporter counts. */
export type Standing = {
  /** 0 to 1. */
  karma: number
  /** Whether an operator created the account. */
  isVouched: boolean
  /** Reporters with one source count as one: the mailbox users of one provider. */
  sourceId: string
}

/** Returns the standings of reporters by id. Contains every given id. */
export async function readStandings(
  db: Db,
  reporterIds: readonly string[],
  now: Date,
): Promise<Map<string, Standing>> {
  const ids = [...new Set(reporterIds)]
  const known = new Map((await findKarmas(db, ids)).map((row) => [row.reporterId, row]))
  return new Map(
    ids.map((id) => {
      const row = known.get(id)
      const sourceId = row?.providerId ?? id
      return [id, { karma: karmaOf(row, now), isVouched: row?.isVouched ?? false, sourceId }]
    }),
  )
}

/** Maximum number of cached values, and how long they are used, in milliseconds. */
export type MemoryLimits = { keysMax: number; freshMs: number }

export type Keyed<Question, Key = string> = { key: Key; question: Question }

/**
 * Wraps a batch lookup in a cache. Looks up only what is not cached, without duplicates; results
 * are in the order of the items.
 */
export function remembering<Question, Answer, Key extends string | bigint = string>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  clock: Clock,
  { keysMax, freshMs }: MemoryLimits,
): (keyed: readonly Keyed<Question, Key>[]) => Promise<Answer[]> {
  const memory = new LRUCache<Key, { answer: Answer; readAt: number }>({ max: keysMax })

  return async (keyed) => {
    const now = clock().getTime()
    const answers = new Map<Key, Answer>()
    const missing = new Map<Key, Question>()
    for (const { key, question } of keyed) {
      const known = memory.get(key)
      if (known && Math.abs(now - known.readAt) < freshMs) answers.set(key, known.answer)
      else missing.set(key, question)
    }
    const learned = missing.size > 0 ? await ask([...missing.values()]) : []
    ;[...missing.keys()].forEach((key, index) => {
      const answer = learned[index] as Answer
      answers.set(key, answer)
      memory.set(key, { answer, readAt: now })
    })
    return keyed.map(({ key }) => answers.get(key) as Answer)
  }
}

export type ReputationReader = {
  /**
   * Returns the reputations of subjects, in order; `unknownReputation` for unknown ones. Uses one
   * round trip to the database for all; values younger than `freshMs` come from the cache.
   */
  read: (subjects: readonly Subject[]) => Promise<Reputation[]>
}

type Counters = Pick<CounterReader, 'readWindows'>
type MarkUntil = { mark: Mark; untilAt: Date | null }
type Known = { stored: StoredReputation | undefined; mark: MarkUntil | undefined }

const usualLimits: MemoryLimits = { keysMax: 20_000, freshMs: 1_000 }

/** Returns the key of a subject in the tables of reputations: 64 bits, signed. */
export function reputationKey({ kind, name }: Subject): bigint {
  return BigInt.asIntN(64, textHash(`${kind}\0${name}`))
}

/**
 * Creates a reader with its own cache, which takes about 500 bytes per subject. `counters` is asked
 * how much mail of the subjects was seen while the database is read; keys that others request from
 * it in the same turn are read by the same query.
 */
export function createReputationReader(
  {
    pool,
    near = pool,
    clock,
    counters,
  }: { pool: Pool; near?: Db; clock: Clock; counters?: Counters },
  limits: MemoryLimits = usualLimits,
): ReputationReader {
  const volumeCounters = counters ?? createCounterReader({ pool, clock }, limits)
  async function learn(keys: readonly bigint[]): Promise<Known[]> {
    const [found, marks] = await Promise.all([findReputations(near, keys), findMarks(pool, keys)])
    const storedOf = new Map(found.map((row) => [row.key, row]))
    const markOf = new Map(marks.map((row) => [row.key, row]))
    return keys.map((key) => ({ stored: storedOf.get(key), mark: markOf.get(key) }))
  }

  const know = remembering<bigint, Known, bigint>(learn, clock, limits)
  return {
    async read(subjects) {
      const now = clock()
      const keys = subjects.map(reputationKey)
      const [known, volumes] = await Promise.all([
        know(keys.map((key) => ({ key, question: key }))),
        readVolumes(volumeCounters, subjects),
      ])
      return known.map(({ stored, mark }, index) =>
        reputationAt(stored, now, { mark: holding(mark, now), volume: volumes[index] }),
      )
    },
  }
}

function holding(mark: MarkUntil | undefined, now: Date): Mark | undefined {
  return mark && (mark.untilAt === null || mark.untilAt > now) ? mark.mark : undefined
}

/** A mark for JSON: its key in decimal. */
type ShownMark = Omit<ReputationMark, 'key'> & { key: string }

/** Everything known of a subject, for people. */
export type ShownReputation = {
  subject: Subject
  reputation: Reputation
  /** Null when there are no reports, or when they were deleted. */
  detail: Detail | null
  /** May be a mark that is no longer in force. */
  mark: ShownMark | null
  why: Phrase[]
}

/** Returns everything known of a subject at a given time. */
export async function showReputation(
  db: Db,
  subject: Subject,
  now: Date,
): Promise<ShownReputation> {
  const key = reputationKey(subject)
  const counters = createCounterReader({ pool: db, clock: () => now }, { keysMax: 10, freshMs: 0 })
  const [[known], [mark], volume] = await Promise.all([
    findWholeReputations(db, [key]),
    findMarks(db, [key]),
    readSeenVolume(counters, subject),
  ])
  const reputation = reputationAt(known?.base, now, { mark: holding(mark, now), volume })
  const detail = known && unpackDetail(known.detail)
  const why = explainReputation({ subject, reputation, volume }, detail, now)
  const shownMark = mark ? { ...mark, key: String(mark.key) } : null
  return { subject, reputation, detail: detail ?? null, mark: shownMark, why }
}

export type FoundReputation = { subject: Subject; reputation: Reputation }

/**
 * Returns the subjects whose names start with a text, in the order of names; without
 * administrators' marks.
 */
export async function findReputationsByName(
  db: Db,
  search: { name: string; kind: SubjectKind | undefined; limit: number },
  now: Date,
): Promise<FoundReputation[]> {
  const { name, kind, limit } = search
  const rows = await searchReputations(db, { prefix: name, kind, limit })
  return rows.map((row) => ({
    subject: { kind: row.kind, name: row.name },
    reputation: reputationAt(row, now),
  }))
}
