import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import { listCampaignEvents } from '../db/campaign-events.ts'
import { listShardBacklogs } from '../db/counter-rows.ts'
import { listExchangers } from '../db/mail-exchangers.ts'
import { inTransaction } from '../db/pool.ts'
import { holdReporters } from '../db/reporters.ts'
import { domainOf } from '../mail/address.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import type { JobOutcome } from '../queue/work.ts'
import { uuidTime } from '../world.ts'
import { oldestNamed } from './known-exchangers.ts'
import { findRelays } from './relays.ts'
import { correctOrigins, reopenAskedReports, reopenMembers } from './reopen-reports.ts'

/**
 * Decides reports of a reporter again after somebody else stated who receives the mail: an operator
 * for a domain, MX records, or the provider of a mailbox user. Reports that waited for an answer
 * are analyzed again, and those whose origin receives for the reporter are corrected.
 */
export async function runDecideAgain(
  { reporterId }: { reporterId: string },
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
): Promise<JobOutcome> {
  const now = app.clock()
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    const relaysOf = await findRelays(tx, [{ id: reporterId, reporterId, receivedVia: [] }])
    const { options, mailbox } = relaysOf(reporterId)
    const domain = domainOf(mailbox ?? '')
    const hosts = domain === undefined ? [] : await listExchangers(tx, domain, oldestNamed(app))
    const blocks = [
      ...options.trustedRelays,
      ...hosts.flatMap((host) => blockOfAddress(host) ?? []),
    ]
    await reopenAskedReports(tx, app.boss, { reporterId, blocks: 'all', now })
    await correctOrigins(tx, app.boss, { reporterId, blocks, now })
  })
  return 'done'
}

/** Time in milliseconds that an event waits, so that what is near in time is judged once. */
const SETTLE_MS = 30_000
const EVENTS_MAX = 500
/** The reopened reports of one run, and those after which it pauses for a second. */
const REOPENED_MAX = 4_000
const REOPENED_AT_ONCE = 200
const PAUSE_MS = 1_000
/** Bounds a run that finds hardly any kept reports in large campaigns. */
const STEPS_MAX = 2_000

/**
 * Judges the kept reports of campaigns again about which more is known: at most 200 a second, and
 * 4,000 in a run; the next run continues. Waits while counts from the time of an event are not
 * rolled up, because the judgment would not know them. Returns the number of reopened reports.
 */
export async function runJudgeCampaigns(
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
  { pauseMs = PAUSE_MS, atOnce = REOPENED_AT_ONCE } = {},
): Promise<number> {
  const before = new Date(app.clock().getTime() - SETTLE_MS)
  const due = await listCampaignEvents(app.pool, before, EVENTS_MAX)
  if (due.length === 0) return 0
  const [oldest] = await listShardBacklogs(app.pool)
  if (oldest && uuidTime(oldest.oldestId) < before) return 0
  let reopened = 0
  let sincePause = 0
  let steps = 0
  for (const campaignId of due) {
    for (let isOver = false; !isOver && reopened < REOPENED_MAX && steps < STEPS_MAX; steps++) {
      const step = await inTransaction(app.pool, (tx) => reopenMembers(tx, campaignId, app, atOnce))
      isOver = step.isOver
      reopened += step.reopened
      sincePause += step.reopened
      if (sincePause >= atOnce) {
        await wait(pauseMs)
        sincePause = 0
      }
    }
  }
  return reopened
}
