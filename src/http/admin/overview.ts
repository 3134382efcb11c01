import { Router } from 'express'
import type { CounterHealth } from '../../counters/counter-health.ts'
import { deadLetterQueue } from '../../queue/queues.ts'
import type { Site } from '../site.ts'
import { healthWord } from './health-word.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'config' | 'readQueues' | 'readCounterHealth'>

/** A roll-up comes every half second: what waits for so long waits for nobody. */
const COUNTING_LATE_SECONDS = 60

/** The first page: how the queues fare, and whether mail leaves. */
export function overviewRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const [queues, counting] = await Promise.all([site.readQueues(), site.readCounterHealth()])
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        health: healthWord(queues, deadLetterQueue),
        deadLetterQueue,
        counting: countingOf(counting),
        isHeld: site.config.smtpUrl === undefined,
        forwardTo: site.config.forwardTo,
      },
    })
  })
  return router
}

/** How the counting fares, in sums over all shards. */
function countingOf({ shards, backlogs, tables }: CounterHealth) {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const oldestSeconds = Math.max(0, ...backlogs.map((backlog) => backlog.oldestSeconds))
  return {
    rows: sum(backlogs.map(({ rows }) => rows)),
    bytes: sum(backlogs.map(({ bytes }) => bytes)),
    oldestSeconds,
    isLate: oldestSeconds > COUNTING_LATE_SECONDS,
    deltas: sum(shards.map(({ deltas }) => deltas)),
    heldBack: sum(shards.map(({ heldBack }) => heldBack)),
    falsePositives: Math.max(0, ...shards.map(({ gate }) => gate?.falsePositives ?? 0)),
    fill: Math.max(0, ...shards.map(({ gate }) => gate?.fill ?? 0)),
    tableBytes: sum(tables.map(({ bytes }) => bytes)),
  }
}
