import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { tally } from '../../activity/tally.ts'
import { isOutage } from '../../db/follow.ts'
import { reasonOf } from '../../errors.ts'
import type { MessageChecker } from '../../judging/check-message.ts'
import type { SettledBy } from '../../judging/first-filter.ts'
import type { Logger } from '../../log.ts'
import { type CheckAction, checkActions, type CheckScores } from '../../verdict/verdict.ts'
import { type Clock, inTime } from '../../world.ts'
import { type CheckAnswer, composeAnswer, envelopeOf, type Fields } from './protocol.ts'

/** Statistics of the checks answered by one process since it started. */
export type CheckStatistics = {
  /** `by` says what settled the check; absent without a verdict. */
  answered: (action: CheckAction, seconds: number, by?: SettledBy) => void
  learned: () => void
  /** Counts a check without a verdict, or a message that was not learned. */
  failed: () => void
  connected: () => void
  /** The response of rspamd's controller to /stat. */
  stat: () => Record<string, unknown>
  /** The statistics in the Prometheus text format. */
  metrics: () => Promise<string>
}

const SCAN_TIMES = 31
const VERSION = 'Signalpost'
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const unwanted: readonly CheckAction[] = ['add header', 'rewrite subject', 'reject']

/**
 * Creates empty statistics. `lost` returns how many counts of shingles were dropped for lack of
 * memory.
 */
export function createCheckStatistics(clock: Clock, lost: () => number): CheckStatistics {
  const beganAt = clock().getTime()
  const actions = new Map<CheckAction, number>(checkActions.map((action) => [action, 0]))
  const times: number[] = []
  let [learned, failed, connections] = [0, 0, 0]
  const registers = [new Registry()]
  const seconds = new Histogram({
    name: 'signalpost_check_seconds',
    help: 'Time from the last byte of a checked message to the answer.',
    labelNames: ['action'],
    buckets: bounds,
    registers,
  })
  const shown = createGauges(registers)
  const sum = (some: readonly CheckAction[]) =>
    some.reduce((total, action) => total + (actions.get(action) ?? 0), 0)
  return {
    answered(action, took, by) {
      tally.count(`checks/${action}`)
      tally.time('checks/time', took * 1_000)
      actions.set(action, (actions.get(action) ?? 0) + 1)
      times.unshift(Number(took.toFixed(6)))
      if (times.length > SCAN_TIMES) times.pop()
      seconds.observe({ action }, took)
      if (by) shown.settled.inc({ by })
    },
    learned: () => void learned++,
    failed() {
      failed++
      tally.count('checks/no verdict')
    },
    connected: () => void connections++,
    stat: () => ({
      version: VERSION,
      config_id: '',
      uptime: Math.round((clock().getTime() - beganAt) / 1_000),
      read_only: false,
      scanned: sum(checkActions),
      learned,
      actions: Object.fromEntries(actions),
      scan_times: Array.from({ length: SCAN_TIMES }, (_, index) => times[index] ?? null),
      spam_count: sum(unwanted),
      ham_count: sum(checkActions) - sum(unwanted),
      connections,
      control_connections: 0,
      ...memory(),
      total_learns: learned,
      statfiles: [],
    }),
    metrics: () => {
      shown.learned.reset()
      shown.learned.inc(learned)
      shown.failed.reset()
      shown.failed.inc(failed)
      shown.lost.set(lost())
      return registers[0]?.metrics() ?? Promise.resolve('')
    },
  }
}

function createGauges(registers: Registry[]) {
  const total = (name: string, help: string) =>
    new Counter({ name: `signalpost_check_${name}_total`, help, registers })
  return {
    settled: new Counter({
      name: 'signalpost_check_settled_total',
      help:
        'Verdicts by what settled them: the reputation of the client or the return path, or a ' +
        'DNS blacklist, before the message was read; or the message.',
      labelNames: ['by'],
      registers,
    }),
    learned: total('learned', 'Messages learned from mail servers.'),
    failed: total(
      'failed',
      'Checks without a verdict and messages not learned, because the database or memory was ' +
        'unavailable.',
    ),
    lost: new Gauge({
      name: 'signalpost_check_counts_lost',
      help: 'Counts of checked messages that were lost because the database was unavailable.',
      registers,
    }),
  }
}

/** Fields that rspamd's clients print; for us only the number of bytes is meaningful. */
function memory(): Record<string, number> {
  const none = { pools_allocated: 0, pools_freed: 0, chunks_allocated: 0 }
  const chunks = { shared_chunks_allocated: 0, chunks_freed: 0, chunks_oversized: 0 }
  return { ...none, ...chunks, bytes_allocated: process.memoryUsage.rss(), fragmented: 0 }
}

/**
 * Answers one check within five seconds. Never rejects: without a verdict, the answer says so and
 * lets the mail pass. `no-room`: the message did not fit into memory.
 */
export type Ask = (given: Given, fields: Fields) => Promise<CheckAnswer>

/**
 * An empty message is that of a check of the envelope alone. `envelope` asks the first filter
 * before a message is transferred: the answer counts only if it settles the message, which is then
 * not asked about again.
 */
type Given = Buffer | 'too-big' | 'no-room' | 'envelope'

/**
 * Time limit in milliseconds. Mail servers would wait longer, but each waiting check occupies one
 * of their connections.
 */
const ANSWER_MS_MAX = 5_000
/** Maximum number of waiting checks and of their bytes; further ones get no verdict. */
const WAITING_MAX = 500
const WAITING_BYTES_MAX = 150_000_000

/** Creates the function that answers all checks of one process, over HTTP and the line protocol. */
export function createAsk(
  checker: Pick<MessageChecker, 'check'>,
  scores: CheckScores,
  statistics: Pick<CheckStatistics, 'answered' | 'failed'>,
  log: Logger,
): Ask {
  let [waiting, waitingBytes] = [0, 0]

  /** Checks a message. A check that timed out keeps its place until it ends. */
  const checked = async (raw: Buffer | undefined, fields: Fields) => {
    const bytes = raw?.length ?? 0
    waiting++
    waitingBytes += bytes
    try {
      return await checker.check(raw, envelopeOf(fields))
    } finally {
      waiting--
      waitingBytes -= bytes
    }
  }

  const checkedInTime = async (raw: Buffer | undefined, fields: Fields) => {
    const bytes = raw?.length ?? 0
    const isFull = waiting >= WAITING_MAX || waitingBytes + bytes > WAITING_BYTES_MAX
    if (isFull && waiting > 0) throw new Error('Too many checks at once.')
    const answer = await inTime(checked(raw, fields), ANSWER_MS_MAX, undefined)
    if (!answer) throw new Error(`No answer within ${ANSWER_MS_MAX / 1_000} s.`)
    return answer
  }

  const checkedOrNot = async (given: Given, fields: Fields) => {
    try {
      if (given === 'no-room') throw new Error('Too many bytes at once.')
      const isReadable = Buffer.isBuffer(given) && given.length > 0
      return await checkedInTime(isReadable ? given : undefined, fields)
    } catch (error) {
      const reason = isOutage(error) ? 'the database is unavailable' : reasonOf(error).slice(0, 200)
      log.warn({ reason }, 'Could not give a mail server a verdict.')
      return 'unavailable'
    }
  }

  return async (given, fields) => {
    const start = performance.now()
    const checked = await checkedOrNot(given, fields)
    const seconds = (performance.now() - start) / 1_000
    const answer = composeAnswer(checked, scores, seconds)
    if (given === 'envelope' && typeof checked === 'string') return answer
    if (checked === 'unavailable') statistics.failed()
    else statistics.answered(answer.action, seconds, checked === 'unread' ? undefined : checked.by)
    return answer
  }
}
