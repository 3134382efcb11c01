import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import { type CheckAction, checkActions } from '../../verdict/check-action.ts'
import type { Clock } from '../../world.ts'

/** What one process counts of the questions it answered, since it began. */
export type CheckStatistics = {
  answered: (action: CheckAction, seconds: number) => void
  learned: () => void
  /** A question without a verdict, or a lesson that was not learned. */
  failed: () => void
  connected: () => void
  /** What rspamd's controller says to /stat. */
  stat: () => Record<string, unknown>
  /** In the Prometheus text format. */
  metrics: () => Promise<string>
}

const SCAN_TIMES = 31
const VERSION = 'Signalpost'
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const unwanted: readonly CheckAction[] = ['add header', 'rewrite subject', 'reject']

/** Counts anew. `lost` tells how many counts of shingles were lost for want of room. */
export function createCheckStatistics(clock: Clock, lost: () => number): CheckStatistics {
  const beganAt = clock().getTime()
  const actions = new Map<CheckAction, number>(checkActions.map((action) => [action, 0]))
  const times: number[] = []
  let [learned, failed, connections] = [0, 0, 0]
  const registers = [new Registry()]
  const seconds = new Histogram({
    name: 'signalpost_check_seconds',
    help: 'Time from the last byte of a checked message to its answer.',
    labelNames: ['action'],
    buckets: bounds,
    registers,
  })
  const shown = createShown(registers)
  const sum = (some: readonly CheckAction[]) =>
    some.reduce((total, action) => total + (actions.get(action) ?? 0), 0)
  return {
    answered(action, took) {
      actions.set(action, (actions.get(action) ?? 0) + 1)
      times.unshift(Number(took.toFixed(6)))
      if (times.length > SCAN_TIMES) times.pop()
      seconds.observe({ action }, took)
    },
    learned: () => void learned++,
    failed: () => void failed++,
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

function createShown(registers: Registry[]) {
  const total = (name: string, help: string) =>
    new Counter({ name: `signalpost_check_${name}_total`, help, registers })
  return {
    learned: total('learned', 'Messages that mail servers learned here.'),
    failed: total(
      'failed',
      'Questions without a verdict and lessons that failed, for want of the database or of room.',
    ),
    lost: new Gauge({
      name: 'signalpost_check_counts_lost',
      help: 'Counts of checked messages that found no room while the database was away.',
      registers,
    }),
  }
}

/** Clients of rspamd print these; of ours only the bytes mean something. */
function memory(): Record<string, number> {
  const none = { pools_allocated: 0, pools_freed: 0, chunks_allocated: 0 }
  const chunks = { shared_chunks_allocated: 0, chunks_freed: 0, chunks_oversized: 0 }
  return { ...none, ...chunks, bytes_allocated: process.memoryUsage.rss(), fragmented: 0 }
}
