import type { App } from '../app.ts'
import { keepChoreRun } from '../db/queue-controls.ts'
import { forLog, reasonOf } from '../errors.ts'
import { runFindContact } from '../feedback/find-contact.ts'
import { runFollowOrigins } from '../feedback/follow-origins.ts'
import { runFollowPages } from '../feedback/follow-pages.ts'
import { runForwardReport, runShowForwarded } from '../feedback/forward-report.ts'
import {
  findContact,
  followOrigins,
  followPages,
  forwardReport,
  handleInbound,
  paceFeedback,
  showForwarded,
  submitPage,
} from '../feedback/queues.ts'
import type { Forwarding } from '../feedback/select-sendable.ts'
import { runHandleInbound } from '../feedback/handle-inbound.ts'
import { runNotifyPage } from '../feedback/notify-page.ts'
import { runSubmitPage } from '../feedback/submit-page.ts'
import { runPaceFeedback } from '../feedback/pace-feedback.ts'
import { runAdviseReporter } from '../letters/advise-reporter.ts'
import { runSendSummaries } from '../letters/monthly-summary.ts'
import { adviseReporter, sendLetter, sendNews, sendSummaries } from '../letters/queues.ts'
import { runSendNews } from '../letters/reporter-news.ts'
import { runSendLetter } from '../letters/send-letter.ts'
import { runPublishLists } from '../lists/publish-lists.ts'
import { publishLists } from '../lists/queues.ts'
import { runProposeMarketers } from '../marketers/propose-marketers.ts'
import { proposeMarketers, unsubscribe } from '../marketers/queues.ts'
import { runUnsubscribe } from '../marketers/unsubscribe-reporter.ts'
import { runSealAudit } from '../people/audit-seals.ts'
import { runFindPages } from '../pages/find-pages.ts'
import { findPages, notifyPage } from '../pages/queues.ts'
import { type DeliveriesInProgress, runDeliverWebhook } from '../people/deliver-webhooks.ts'
import { deliverWebhook, sealAudit } from '../people/queues.ts'
import type { Queue } from '../queue/define-queue.ts'
import { type JobOutcome, workQueue } from '../queue/work.ts'
import { runAnalyzeReport } from '../reports/analyze-report.ts'
import { runDecideAgain, runJudgeCampaigns } from '../reports/decide-again.ts'
import { runEraseAccount } from '../reports/erase-account.ts'
import { runFillSamples } from '../reports/fill-samples.ts'
import { runKeepHouse, runMarkDead } from '../reports/keep-house.ts'
import { runLearnRelays } from '../reports/learn-relays.ts'
import { runCountMonths } from '../reports/month-figures.ts'
import {
  analyzeReport,
  countMonths,
  decideAgain,
  eraseAccount,
  fillSampleReports,
  judgeCampaigns,
  keepHouse,
  learnRelays,
  markDead,
  redeemReport,
  takeComplaint,
  takeMailed,
  takeTrapped,
} from '../reports/queues.ts'
import { runRedeemReport } from '../reports/redeem-report.ts'
import { runTakeMailed } from '../reports/take-mailed.ts'
import { runTakeComplaint } from '../reports/take-complaints.ts'
import { runTakeTrappedSlowly } from '../reports/take-trapped.ts'
import { runActOnReports, runSettleActions } from '../search/mass-actions.ts'
import { runIndexReports } from '../search/index-reports.ts'
import { actOnReports, indexReports, settleActions } from '../search/queues.ts'
import { runMakeBackup } from './backup.ts'
import { runOwnCommand } from './own-command.ts'
import { makeBackup, refreshNetworks, trainModel } from './queues.ts'
import { runRefreshNetworks } from './refresh-networks.ts'

/** The dependencies of the handlers besides the application. */
type Tools = App &
  Parameters<typeof runAnalyzeReport>[1] &
  Parameters<typeof runForwardReport>[1] &
  Parameters<typeof runNotifyPage>[1] &
  Parameters<typeof runSubmitPage>[1] &
  Parameters<typeof runUnsubscribe>[1] &
  Parameters<typeof runDeliverWebhook>[1] &
  Parameters<typeof runTakeMailed>[1] &
  Parameters<typeof runTakeTrappedSlowly>[1] & {
    forwarding: Forwarding
    deliveries: DeliveriesInProgress
  }

type HandledQueue = {
  queue: Queue
  work: (tools: Tools) => Promise<{ close: () => Promise<void> }>
}

/** One run is enough for all jobs that a schedule added during a pause or an outage. */
const CHORES_AT_ONCE = 1_000
const TRAINING_MS_MAX = 7_000_000

export const handledQueues: readonly HandledQueue[] = [
  handled(analyzeReport, runAnalyzeReport),
  handled(findContact, runFindContact),
  handled(notifyPage, runNotifyPage),
  handledOneByOne(submitPage, (payload, tools) => runSubmitPage(payload, tools)),
  handled(forwardReport, (jobs, tools) => runForwardReport(jobs, tools, tools.forwarding)),
  handled(showForwarded, (jobs, tools) => runShowForwarded(jobs, tools, tools.forwarding)),
  handled(sendLetter, (jobs, tools) => runSendLetter(jobs, tools, tools.forwarding.relay)),
  handled(adviseReporter, runAdviseReporter),
  handled(unsubscribe, runUnsubscribe),
  handled(redeemReport, runRedeemReport),
  handled(findPages, runFindPages),
  handled(handleInbound, runHandleInbound),
  handled(deliverWebhook, (jobs, tools) => runDeliverWebhook(jobs, tools, tools.deliveries)),
  handledOneByOne(takeMailed, runTakeMailed),
  handled(takeTrapped, runTakeTrappedSlowly),
  handledOneByOne(takeComplaint, runTakeComplaint),
  handledOneByOne(decideAgain, runDecideAgain),
  handledOneByOne(eraseAccount, runEraseAccount),
  handledOneByOne(fillSampleReports, runFillSamples),
  scheduled(judgeCampaigns, (tools) => runJudgeCampaigns(tools)),
  scheduled(keepHouse, runKeepHouse),
  scheduled(learnRelays, runLearnRelays),
  scheduled(markDead, runMarkDead),
  handledOneByOne(actOnReports, runActOnReports),
  scheduled(settleActions, runSettleActions),
  scheduled(indexReports, runIndexReports),
  scheduled(publishLists, runPublishLists),
  scheduled(proposeMarketers, runProposeMarketers),
  scheduled(paceFeedback, runPaceFeedback),
  scheduled(followOrigins, runFollowOrigins),
  scheduled(followPages, runFollowPages),
  scheduled(trainModel, runTrainModel),
  scheduled(makeBackup, runMakeBackup),
  scheduled(refreshNetworks, runRefreshNetworks),
  scheduled(sealAudit, runSealAudit),
  scheduled(countMonths, runCountMonths),
  scheduled(sendNews, runSendNews),
  scheduled(sendSummaries, runSendSummaries),
]

export const queues: readonly Queue[] = handledQueues.map(({ queue }) => queue)

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

async function runTrainModel({ log }: Pick<App, 'log'>): Promise<void> {
  const result = await runOwnCommand(['train', '--nightly'], TRAINING_MS_MAX)
  log.info({ result }, 'Nightly training ended.')
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
