import { Counter, Gauge, Registry } from '@prometheus-io/client'
import type { Pool } from '../../db/pool.ts'
import { listRuleProcesses } from '../../db/rule-processes.ts'
import { newestRuleVersion } from '../../db/rule-sets.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../../judging/rules/live-rules.ts'
import type { Clock } from '../../world.ts'

/**
 * How the rules do in every process that judges, as they write it down every ten seconds, in the
 * Prometheus text format; empty while the database is away.
 */
export function createRuleMetrics(app: { pool: Pool; clock: Clock }): () => Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: readonly string[]) =>
    new Gauge({ name: `signalpost_rules_${name}`, help, labelNames: [...labelNames], registers })
  const perProcess = ['process', 'id']
  const newest = gauge('newest_version', 'The version of the rules that is to act; 0: shipped.', [])
  const version = gauge('version', 'The version of the rules that acts in a process.', perProcess)
  const refused = gauge('refused', '1 where a process cannot run the newest rules.', perProcess)
  const cutOff = gauge('cut_off', 'Rules that cost too much and are not run.', perProcess)
  const errors = new Counter({
    name: 'signalpost_rules_errors_total',
    help: 'Evaluations that failed, and so did not hold, under the version that acts.',
    labelNames: perProcess,
    registers,
  })

  return async () => {
    const since = new Date(app.clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
    const read = Promise.all([newestRuleVersion(app.pool), listRuleProcesses(app.pool, since)])
    const known = await read.catch(() => undefined)
    if (!known) return ''
    const [newestVersion, processes] = known
    registry.resetMetrics()
    newest.set(newestVersion)
    for (const one of processes) {
      // The first part of an id is its time: the last tells processes of one start apart.
      const labels = { process: one.name, id: one.id.slice(-12) }
      version.set(labels, one.version)
      refused.set(labels, one.fault === null ? 0 : 1)
      cutOff.set(labels, one.health.filter((rule) => rule.cutOff).length)
      errors.inc(
        labels,
        one.health.reduce((sum, rule) => sum + rule.errors, 0),
      )
    }
    return registry.metrics()
  }
}
