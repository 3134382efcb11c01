import type { App } from '../../app.ts'
import { type ConsumerLines, createConsumerLines, usualPauses } from './consumer-lines.ts'
import { createKeeper, type Keeper } from './keep-outcomes.ts'
import { LEASE_MS } from './lease.ts'
import { createRelayGate, type RelayGate } from './relay-gate.ts'

/** What the batches of one process share while they forward. */
export type Forwarding = {
  lines: ConsumerLines
  keeper: Keeper
  /** Whether our own mail server takes mail. */
  relay: RelayGate
  /** What is being composed or sent, by name, until it is kept. */
  underWay: Map<string, Promise<unknown>>
  /** How long a batch waits for what is being sent. */
  patienceMs: number
  /** What is still under way then is tried again so much later: by then it has ended. */
  leaseMs: number
  /** What had no turn comes again so much later. */
  againMs: number
}

const PATIENCE_MS = 2_000
const AGAIN_MS = 30_000

/** Begins to forward. */
export function openForwarding(
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
  { patienceMs = PATIENCE_MS, leaseMs = LEASE_MS, againMs = AGAIN_MS, pauses = usualPauses } = {},
): Forwarding {
  const lines = createConsumerLines(app.clock, pauses)
  const kept = { keeper: createKeeper(app), relay: createRelayGate(app) }
  return { lines, ...kept, underWay: new Map(), patienceMs, leaseMs, againMs }
}

/** Resolves when nothing is being composed or sent any more. */
export async function forwardingIdle({ underWay }: Forwarding): Promise<void> {
  while (underWay.size > 0) await Promise.allSettled(underWay.values())
}
