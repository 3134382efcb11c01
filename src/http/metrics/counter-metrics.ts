import { Counter, Gauge, Registry } from '@prometheus-io/client'
import type { CounterHealth } from '../../counters/counter-health.ts'

/** What the database knows of the counting, in the Prometheus text format. */
export type CounterMetrics = (health: CounterHealth) => Promise<string>

/** Metrics in a registry of their own: they are left out whole while the database is away. */
export function createCounterMetrics(): CounterMetrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name: `signalpost_counts_${name}`, help, labelNames, registers })
  const total = (name: string, help: string) =>
    new Counter({ name: `signalpost_counts_${name}_total`, help, registers })

  const totals = {
    deltas: total('deltas', 'Increments rolled up, since the beginning of the database.'),
    passed: total('gate_passed', 'Keys that the gates let have a counter.'),
    heldBack: total('gate_held_back', 'Sightings of keys that the gates held back.'),
    turnovers: total('gate_turnovers', 'Generations of the filters of the gates that ended.'),
  }
  const gates = {
    falsePositives: gauge(
      'gate_false_positive_rate',
      'Share of keys never seen that a gate takes for seen: the mean of the shards, the worst.',
      ['of'],
    ),
    fill: gauge(
      'gate_fill_ratio',
      'How full the present generations of the gates are: the mean of the shards, the worst.',
      ['of'],
    ),
  }
  const beganAt = gauge(
    'gate_generation_start_seconds',
    'When the present generation of the gate of a shard began, in Unix time.',
    ['shard'],
  )
  const gateBytes = gauge('gate_memory_bytes', 'Memory of the gates, where they roll up.', [])
  const waiting = {
    rows: gauge('backlog_rows', 'Packed rows of increments that wait.', ['shard']),
    bytes: gauge('backlog_bytes', 'Bytes of increments that wait.', ['shard']),
    oldestSeconds: gauge('backlog_oldest_seconds', 'Age of the oldest that wait.', ['shard']),
  }
  const tables = gauge('table_bytes', 'Size on disk, with partitions and indexes.', ['table'])

  return ({ shards, backlogs, gateBytes: bytes, tables: measured }) => {
    registry.resetMetrics()
    for (const shard of shards) {
      for (const [name, one] of entriesOf(totals)) one.inc(shard[name])
      const labels = { shard: String(shard.shard) }
      if (shard.gate) beganAt.set(labels, shard.gate.beganAt.getTime() / 1_000)
      const backlog = backlogs.find((one) => one.shard === shard.shard)
      for (const [name, one] of entriesOf(waiting)) one.set(labels, backlog?.[name] ?? 0)
    }
    const present = shards.flatMap(({ gate }) => gate ?? [])
    for (const [name, one] of entriesOf(gates)) {
      const values = present.map((gate) => gate[name])
      if (values.length === 0) continue
      one.set({ of: 'mean' }, values.reduce((sum, value) => sum + value, 0) / values.length)
      one.set({ of: 'worst' }, Math.max(...values))
    }
    gateBytes.set(bytes)
    for (const { table, bytes: size } of measured) tables.set({ table }, size)
    return registry.metrics()
  }
}

function entriesOf<Name extends string, T>(record: Record<Name, T>): [Name, T][] {
  return Object.entries(record) as [Name, T][]
}
