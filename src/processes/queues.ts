import type { App } from '../app.ts'
import { keepChoreRun } from '../db/queue-controls.ts'
import { forLog, reasonOf } from '../errors.ts'
import { findContact, runFindContact } from '../feedback/find-contact.ts'
import { runForwardReport, runShowForwarded } from '../feedback/forward-report.ts'
import { forwardReport, showForwarded } from '../feedback/queues.ts'
import type { Forwarding } from '../feedback/select-sendable.ts'
import { handleInbound, runHandleInbound } from '../feedback/handle-inbound.ts'
import { paceFeedback, runPaceFeedback } from '../feedback/pace-feedback.ts'
import { adviseReporter, runAdviseReporter } from '../letters/advise-reporter.ts'
import { runSendSummaries, sendSummaries } from '../letters/monthly-summary.ts'
import { runSendNews, sendNews } from '../letters/reporter-news.ts'
import { runSendLetter, sendLetter } from '../letters/send-letter.ts'
import { publishLists, runPublishLists } from '../lists/publish-lists.ts'
import { proposeMarketers, runProposeMarketers } from '../marketers/propose-marketers.ts'
import { runUnsubscribe, unsubscribe } from '../marketers/unsubscribe-reporter.ts'
import { runSealAudit, sealAudit } from '../people/audit-seals.ts'
import {
  deliverWebhook,
  runDeliverWebhook,
  type DeliveriesInProgress,
} from '../people/deliver-webhooks.ts'
import type { Queue } from '../queue/define-queue.ts'
import { type JobOutcome, workQueue } from '../queue/work.ts'
import { analyzeReport, runAnalyzeReport } from '../reports/analyze-report.ts'
import { eraseAccount, runEraseAccount } from '../reports/erase-account.ts'
import { keepHouse, markDead, runKeepHouse, runMarkDead } from '../reports/keep-house.ts'
import { learnRelays, runLearnRelays } from '../reports/learn-relays.ts'
import { countMonths, runCountMonths } from '../reports/month-figures.ts'
import { redeemReport, runRedeemReport } from '../reports/redeem-report.ts'
import { runTakeMailed, takeMailed } from '../reports/take-mailed.ts'
import { runTakeComplaint, takeComplaint } from '../reports/take-complaints.ts'
import { runTakeTrappedSlowly, takeTrapped } from '../reports/take-trapped.ts'
import {
  actOnReports,
  runActOnReports,
  runSettleActions,
  settleActions,
} from '../search/mass-actions.ts'
import { indexReports, runIndexReports } from '../search/index-reports.ts'
import { makeBackup, runMakeBackup } from './backup.ts'
import { refreshNetworks, runRefreshNetworks } from './refresh-networks.ts'
import { runTrainModel, trainModel } from './train-model.ts'

/** The dependencies of the handlers besides the application. */
type Tools = App &
  Parameters<typeof runAnalyzeReport>[1] &
  Parameters<typeof runForwardReport>[1] &
  Parameters<typeof runUnsubscribe>[1] &
  Parameters<typeof runDeliverWebhook>[1] &
  Parameters<typeof runTakeMailed>[1] &
  Parameters<typeof runTakeTrappedSlowly>[1] & {
    forwarding: Forwarding
    deliveries: DeliveriesInProgress
  }

/** A queue, and the function that starts its worker. */
type HandledQueue = {
  queue: Queue
  work: (tools: Tools) => Promise<{ close: () => Promise<void> }>
}

/** One run is enough for all jobs that a schedule added during a pause or an outage. */
const CHORES_AT_ONCE = 1_000

/** All queues with their handlers. */
export const handledQueues: readonly HandledQueue[] = [
  handled(analyzeReport, runAnalyzeReport),
  handled(findContact, runFindContact),
  handled(forwardReport, (jobs, tools) => runForwardReport(jobs, tools, tools.forwarding)),
  handled(showForwarded, (jobs, tools) => runShowForwarded(jobs, tools, tools.forwarding)),
  handled(sendLetter, (jobs, tools) => runSendLetter(jobs, tools, tools.forwarding.relay)),
  handled(adviseReporter, runAdviseReporter),
  handled(unsubscribe, runUnsubscribe),
  handled(redeemReport, runRedeemReport),
  handled(handleInbound, runHandleInbound),
  handled(deliverWebhook, (jobs, tools) => runDeliverWebhook(jobs, tools, tools.deliveries)),
  handledOneByOne(takeMailed, runTakeMailed),
  handled(takeTrapped, runTakeTrappedSlowly),
  handledOneByOne(takeComplaint, runTakeComplaint),
  handledOneByOne(eraseAccount, runEraseAccount),
  scheduled(keepHouse, runKeepHouse),
  scheduled(learnRelays, runLearnRelays),
  scheduled(markDead, runMarkDead),
  handledOneByOne(actOnReports, runActOnReports),
  scheduled(settleActions, runSettleActions),
  scheduled(indexReports, runIndexReports),
  scheduled(publishLists, runPublishLists),
  scheduled(proposeMarketers, runProposeMarketers),
  scheduled(paceFeedback, runPaceFeedback),
  scheduled(trainModel, runTrainModel),
  scheduled(makeBackup, runMakeBackup),
  scheduled(refreshNetworks, runRefreshNetworks),
  scheduled(sealAudit, runSealAudit),
  scheduled(countMonths, runCountMonths),
  scheduled(sendNews, runSendNews),
  scheduled(sendSummaries, runSendSummaries),
]

/** All queues that have workers. */
export const queues: readonly Queue[] = handledQueues.map(({ queue }) => queue)

/** The queue names that `--queues` accepts. */
export const queueNames: readonly string[] = queues.map(({ name }) => name)

function handled<Payload extends object>(
  queue: Queue<Payload>,
  run: (payloads: readonly Payload[], tools: Tools) => Promise<readonly JobOutcome[]>,
): HandledQueue {
  return { queue, work: (tools) => workQueue(tools, queue, (payloads) => run(payloads, tools)) }
}

function handledOneByOne<Payload extends object>(
  queue: Queue<Payload>,
  run: (payload: Payload, tools: Tools) => Promise<JobOutcome>,
): HandledQueue {
  return handled(queue, (payloads, tools) =>
    Promise.all(payloads.map((payload) => run(payload, tools))),
  )
}

function scheduled(queue: Queue, run: (tools: Tools) => Promise<unknown>): HandledQueue {
  return handled({ ...queue, batchSize: CHORES_AT_ONCE }, async (payloads, tools) => {
    const startedAt = tools.clock()
    const note = (fault: string | null) => {
      return keepChoreRun(tools.pool, {
        queue: queue.name,
        startedAt,
        endedAt: tools.clock(),
        fault,
      })
    }
    try {
      await run(tools)
    } catch (error) {
      await note(forLog(reasonOf(error))).catch(() => undefined)
      throw error
    }
    await note(null)
    return payloads.map(() => 'done')
  })
}
