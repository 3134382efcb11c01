import { Router } from 'express'
import type { CounterHealth } from '../../counters/counter-health.ts'
import { countUnread } from '../../db/inbox.ts'
import { deadLetterQueue } from '../../queue/queues.ts'
import type { Site } from '../site.ts'
import { type HealthWord, healthWord, mailWord, worstOf } from './health-word.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<
  Site,
  'pool' | 'clock' | 'config' | 'readQueues' | 'readMail' | 'readCounterHealth'
>

/** A roll-up comes every half second: what waits for so long waits for nobody. */
const COUNTING_LATE_SECONDS = 60

/** Past so many it is enough to know that they are many. */
const UNREAD_MAX = 100

/** The first page: how the queues and the counting fare, and whether mail leaves. */
export function overviewRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const [queues, mail, counted, unread] = await Promise.all([
      site.readQueues(),
      site.readMail(),
      site.readCounterHealth(),
      countUnread(site.pool, UNREAD_MAX),
    ])
    const counting = countingOf(counted)
    const isHeld = site.config.smtpUrl === undefined
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        health: worstOf([
          countingWord(counting),
          mailWord(queues, mail, { isHeld, now: site.clock() }),
          healthWord(queues, deadLetterQueue),
        ]),
        mail,
        deadLetterQueue,
        counting,
        unread,
        unreadMax: UNREAD_MAX,
        isHeld,
        forwardTo: site.config.forwardTo,
      },
    })
  })
  return router
}

function countingWord({ isLate }: { isLate: boolean }): HealthWord | undefined {
  return isLate ? { tone: 'bad', sentence: 'The counting does not move.' } : undefined
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
