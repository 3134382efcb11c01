import { setTimeout as wait } from 'node:timers/promises'
import { type Tally, tally as ownTally } from '../activity/tally.ts'
import type { WorkApp } from '../app.ts'
import { readStandings, type Standing } from '../counting/reputation-reader.ts'
import { insertAnalyses, listPackedAnalyses } from '../db/analyses.ts'
import { listAmongCounts } from '../db/counter-rows.ts'
import { claimReleased } from '../db/shadow-bans.ts'
import { inShardTransaction, nearReport } from '../db/nodes.ts'
import type { Db } from '../db/pool.ts'
import { groupedToStore, mayAppear } from '../db/prepared.ts'
import { countEvents, insertEvents, markJudged, markSentBefore } from '../db/report-events.ts'
import { holdReporters } from '../db/reporters.ts'
import { listRawMessages, listReportsByIds, type Report, type ReportState } from '../db/reports.ts'
import {
  type Case,
  drawConsequences,
  findKnownNetworks,
  type KnownNetwork,
} from '../feedback/draw-consequences.ts'
import type { HandedOver } from '../feedback/forward-report.ts'
import { queueFeedback, sendShadowed } from '../feedback/queue-feedback.ts'
import { findContact } from '../feedback/queues.ts'
import { takeBackComplaints } from '../feedback/take-back-complaints.ts'
import type { Judge, JudgedCase } from '../judging/judge.ts'
import { queueAdvice } from '../letters/advise-reporter.ts'
import { noteForReporters } from '../letters/reporter-news.ts'
import type { LiveMarketers } from '../marketers/live-marketers.ts'
import { queueWebhooks } from '../people/deliver-webhooks.ts'
import type { Phrase } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import type { JobOutcome } from '../queue/work.ts'
import { otherAddresses } from '../verdict/choose-contact.ts'
import { complaintOf } from '../verdict/complaint.ts'
import { markToAskAbout } from '../verdict/consequences.ts'
import { isRelayed } from '../verdict/subjects.ts'
import { correctedVerdict, type CorrectedClass, type Verdict } from '../verdict/verdict.ts'
import { shardOf, uuidTime } from '../world.ts'
import { withEarlierMail } from './earlier-mail.ts'
import { type Crowds, findCrowds } from './find-crowds.ts'
import { joinCampaigns } from './join-campaigns.ts'
import {
  adviceCase,
  afterFiles,
  type Campaigns,
  type Judgment,
  type Readers,
  readMessages,
  type ReadReport,
} from './read-messages.ts'
import { decidedAbout, type DecisionsOf, findDecisions } from './campaign-decisions.ts'
import { countOtherComplainants } from './other-complainants.ts'
import { findPaced } from './pace-reporters.ts'
import { askable, findRelays, type ReportRelays } from './relays.ts'
import {
  handedOver,
  hasEffect,
  networkName,
  newsOf,
  outcomeOf,
  webhookEventsOf,
} from './report-outcomes.ts'
import { requeueReports } from './reopen-reports.ts'
import { shareLinks } from './share-links.ts'
import { takeEffect } from './take-effect.ts'
import { findIdle, type Idle, ownSymbol } from './take-probes.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'rdap'> &
  Readers & {
    judge: Judge
    /** Absent if marketers are not to be recognized. */
    marketers?: Pick<LiveMarketers, 'current'>
    /** Sends feedback reports at once; absent if this process does not send them. */
    forwardAtOnce?: ForwardAtOnce | undefined
    /** Counts what happened; by default, the tally of this process. */
    tally?: Tally
  }
/** Sends feedback reports that an analysis has just created, in the same process. */
type ForwardAtOnce = {
  /** Waits briefly until the process can take more, and returns whether it can. */
  hasRoom: () => Promise<boolean>
  send: (created: readonly HandedOver[]) => void
}
type RelaysOf = (reportId: string) => ReportRelays

/** `failed`: the job became a dead letter and is now retried. */
const waitingStates: readonly ReportState[] = ['received', 'failed']
const readStates: readonly ReportState[] = ['analyzed', 'kept', 'forwarded']

/**
 * Analyzes a batch of reports and stores the results with the next jobs in one transaction, or, in
 * a distributed database, in one for each shard; messages that are slow to read get another
 * transaction afterwards. A report that another run has analyzed is skipped, so each report is
 * counted once. A report that was analyzed while it was held, and is now released, is read again
 * only to make it take effect.
 */
export async function runAnalyzeReport(
  payloads: readonly { reportId: string; hasWaited?: boolean | undefined }[],
  app: Needs,
): Promise<JobOutcome[]> {
  const ids = payloads.map(({ reportId }) => reportId)
  const near = nearReport(app.pool, ids[0])
  const mayBeLate = (found: ReadonlySet<string>, id: string) =>
    !found.has(id) && mayAppear(uuidTime(id), app.clock())
  const read = async () => {
    const [waiting, raws] = await Promise.all([listWaiting(near, ids), listRawMessages(near, ids)])
    // A report may become visible between the two queries.
    const found = waiting.found.intersection(new Set(raws.map(({ id }) => id)))
    return { ...waiting, raws, found }
  }
  let { reports, verdicts, found, raws } = await read()
  if (ids.some((id) => mayBeLate(found, id))) {
    await wait(LATE_MS)
    ;({ reports, verdicts, found, raws } = await read())
  }
  const outcomeOfMissing = (id: string): JobOutcome =>
    mayBeLate(found, id) ? notYetVisible : 'done'
  if (reports.length === 0) return ids.map(outcomeOfMissing)
  const relaysOf = await findRelays(near, reports)
  const failed = new Map<string, JobOutcome>()
  const waited = new Set(payloads.flatMap((one) => (one.hasWaited ? [one.reportId] : [])))
  const reading = { relaysOf, mayWait: (id: string) => !waited.has(id) }
  for await (const { analyses, failures } of readMessages(reports, raws, reading, app)) {
    await judgeAndKeep(analyses, verdicts, relaysOf, app)
    for (const { reportId, reason, isFiles } of failures) {
      failed.set(reportId, isFiles ? afterFiles(reportId, app) : { retry: reason })
    }
  }
  return ids.map((id) => failed.get(id) ?? outcomeOfMissing(id))
}

/** Time in milliseconds after which reports are usually visible that appear after their jobs. */
const LATE_MS = 200
const notYetVisible: JobOutcome = { outage: 'The report is not visible yet.' }

async function judgeAndKeep(
  read: readonly ReadReport[],
  verdicts: Verdicts,
  relaysOf: RelaysOf,
  app: Needs,
): Promise<void> {
  const idle = await findIdle(read, relaysOf, app)
  const { analyses, crowds } = await findCrowds(read, { relaysOf, idle }, app)
  const lookedUp = await lookUp(analyses, { idle, crowds }, app)
  const { campaignOf } = lookedUp
  const judged = await judge(analyses, relaysOf, lookedUp, app)
  const near = nearReport(app.pool, judged[0]?.report.id)
  const judgments = await withEarlierMail(near, judged, app.clock())
  for (const group of groupedToStore(judgments, ({ report }) => report.id)) {
    await keepTogether(group, { verdicts, relaysOf, campaignOf }, app)
  }
}

async function keepTogether(
  judgments: readonly Judgment[],
  { verdicts, relaysOf, campaignOf }: Known,
  app: Needs,
): Promise<void> {
  const isAtOnce = (await app.forwardAtOnce?.hasRoom()) ?? false
  const shard = shardOf(judgments[0]?.report.id ?? '0')
  const { created, counted } = await inShardTransaction(app.pool, shard, async (tx) => {
    const fresh = judgments.filter(({ report: { id } }) => !verdicts.has(id))
    const { valid, overtaken, emails } = await splitByRelays(tx, fresh, relaysOf)
    const queued =
      valid.length > 0 ? await keep(tx, valid, { campaignOf, emails, isAtOnce }, app) : []
    await release(tx, withVerdicts(judgments, verdicts), campaignOf, app)
    await requeueReports(tx, app.boss, { ids: overtaken, now: app.clock() })
    return { created: queued, counted: valid }
  })
  const { tally = ownTally } = app
  for (const { judged } of counted) {
    tally.count(`reports/verdict/${judged.verdict.class}`)
    tally.count(`networks/${networkName(judged.network)}`)
  }
  if (isAtOnce && created.length > 0) app.forwardAtOnce?.send(created)
}

type Verdicts = ReadonlyMap<string, Verdict>
type Known = { verdicts: Verdicts; relaysOf: RelaysOf; campaignOf: Campaigns }

/**
 * Returns the reports to read, and the verdicts on those analyzed while they were held. An analyzed
 * report may be `failed` because the later search for its contact failed.
 */
async function listWaiting(
  db: Db,
  ids: readonly string[],
): Promise<{ reports: Report[]; verdicts: Verdicts; found: ReadonlySet<string> }> {
  const isReleased = ({ shadow }: Report) => shadow === 'released'
  const isRead = ({ state }: Report) => readStates.includes(state)
  const existing = await listReportsByIds(db, ids)
  const found = new Set(existing.map(({ id }) => id))
  const all = existing.filter(
    (report) => waitingStates.includes(report.state) || (isReleased(report) && isRead(report)),
  )
  const unsure = all.filter(({ state }) => state !== 'received').map(({ id }) => id)
  if (unsure.length === 0) return { reports: all, verdicts: new Map(), found }
  const analyzed = new Map(
    (await listPackedAnalyses(db, unsure)).map(({ id, judgment }) => [id, judgment.verdict]),
  )
  const reports = all.filter((report) => isReleased(report) || !analyzed.has(report.id))
  return { reports, verdicts: analyzed, found }
}

/**
 * Returns the judgments of reports that were analyzed before, with the verdicts that their
 * reporters see.
 */
function withVerdicts(judgments: readonly Judgment[], verdicts: Verdicts): Judgment[] {
  return judgments.flatMap((judgment) => {
    const verdict = verdicts.get(judgment.report.id)
    if (!verdict) return []
    const { judged, judgedCase } = judgment
    return { ...judgment, judged: { ...judged, verdict }, judgedCase: { ...judgedCase, verdict } }
  })
}

type Found = { idle: Idle; crowds: Crowds }

/** What is known of messages besides their content. */
type LookedUp = Found & {
  campaignOf: Campaigns
  networks: ReadonlyMap<string, KnownNetwork>
  /** By reporter. */
  standings: ReadonlyMap<string, Standing>
  /** Why a report is not forwarded, for reports above the daily number of their reporters. */
  paced: ReadonlyMap<string, Phrase>
  /** How often reporters have answered the questions of their uncertain reports. */
  answers: ReadonlyMap<string, number>
  decisionsOf: DecisionsOf
  /** The number of other independent complainants, by report. */
  others: ReadonlyMap<string, number>
  /** The reports that are judged again, and that the counters contain. */
  counted: ReadonlySet<string>
}

async function lookUp(
  analyses: readonly ReadReport[],
  found: Found,
  app: Needs,
): Promise<LookedUp> {
  const ips = analyses.flatMap(({ analysis: { origin, submitterIp } }) =>
    [origin?.ip, submitterIp].filter((ip) => ip !== undefined),
  )
  const reporterIds = [...new Set(analyses.map(({ report }) => report.reporterId))]
  const reports = analyses.map(({ report }) => report)
  const near = nearReport(app.pool, reports[0]?.id)
  const uncertain = analyses.flatMap(({ report, analysis: { origin } }) =>
    origin && origin.confidence >= app.config.originConfidenceMin ? [] : [report.id],
  )
  const campaigns = findCampaigns(analyses, found.idle, app)
  const [campaignOf, decisionsOf, others, counted, networks, { standings, paced }, answers] =
    await Promise.all([
      campaigns,
      campaigns.then((campaignOf) => findDecisions(near, campaignOf)),
      campaigns.then((campaignOf) => countOtherComplainants(near, reports, campaignOf)),
      listAmongCounts(
        near,
        reports.map(({ id }) => id),
      ),
      findKnownNetworks(near, ips, app.rdap, app.clock()),
      readStandings(near, reporterIds, app.clock()).then(async (standings) => {
        return { standings, paced: await findPaced(near, reports, standings) }
      }),
      countEvents(near, 'answered', uncertain),
    ])
  const again = { decisionsOf, others, counted: new Set(counted) }
  return { ...found, ...again, campaignOf, networks, standings, paced, answers }
}

async function judge(
  analyses: readonly ReadReport[],
  relaysOf: RelaysOf,
  { idle, crowds, campaignOf, networks, standings, paced, answers, ...known }: LookedUp,
  app: Needs,
): Promise<Judgment[]> {
  const knownNetwork = (ip: string | undefined) => networks.get(ip ?? '')?.network
  const { originConfidenceMin } = app.config
  const book = app.marketers?.current()
  const judgedCases = await app.judge(
    analyses.map(({ report: { id, reporterId, kind, channel }, analysis: digest }) => ({
      digest,
      campaignId: campaignOf.get(id),
      isCounted: known.counted.has(id),
      network: knownNetwork(digest.origin?.ip),
      report: { kind, channel, karma: standings.get(reporterId)?.karma ?? 0 },
    })),
  )
  return analyses.flatMap(({ report, raw, analysis }, index) => {
    const network = knownNetwork(analysis.origin?.ip)
    const decided = decidedAbout(known.decisionsOf(campaignOf.get(report.id)), network)
    const why = { obstacle: idle.get(report.id), decidedAs: decided.as }
    const judgedCase = correctedCase(judgedCases[index], report, why)
    if (!judgedCase) return []
    const { isResolved } = decided
    const isConfirmed = report.isConfirmed || isResolved
    const { marketer = null, service = null } = book?.recognize(analysis, originConfidenceMin) ?? {}
    const judged: Case = {
      reporterId: report.reporterId,
      verdict: judgedCase.verdict,
      complaint: complaintOf(
        { kind: report.kind, isConfirmed, isResolved, others: known.others.get(report.id) },
        { ...judgedCase, isRelayed: isRelayed(judgedCase.subjects) },
      ),
      isLearned: report.channel === 'learn',
      messageKind: analysis.kind,
      effectObstacle: idle.get(report.id),
      crowd: crowds.get(report.id),
      paceObstacle: paced.get(report.id),
      origin: analysis.origin ?? undefined,
      originConfidenceMin,
      marketer,
      service,
      askable: askable(analysis, relaysOf(report.id), answers.get(report.id)),
      network,
      registry: networks.get(analysis.origin?.ip ?? '')?.registry ?? 'off',
      simulationMark: markToAskAbout(analysis.simulation?.vendor, judgedCase.facts),
      forwardTo: app.config.forwardTo,
      disowned: networks.get(analysis.origin?.ip ?? '')?.disowned ?? new Set(),
      requestedRecipients: otherAddresses({ cfbl: analysis.cfbl, marketer, service }),
      verifiedDomains: analysis.verifiedDomains,
    }
    const submitterAsn = knownNetwork(analysis.submitterIp)?.asn ?? null
    const { isVouched = false, sourceId = report.reporterId } =
      standings.get(report.reporterId) ?? {}
    return [{ report, raw, analysis, judgedCase, judged, isVouched, sourceId, submitterAsn }]
  })
}

function correctedCase(
  judged: JudgedCase | undefined,
  { correctedAs }: Report,
  { obstacle, decidedAs }: { obstacle: Phrase | undefined; decidedAs: CorrectedClass | undefined },
): JudgedCase | undefined {
  const ours = ownSymbol(obstacle)
  const as = ours ? 'legitimate' : (correctedAs ?? decidedAs)
  if (!judged || as === undefined) return judged
  return { ...judged, verdict: correctedVerdict(judged.verdict, as, ours) }
}

async function findCampaigns(
  analyses: readonly ReadReport[],
  idle: Idle,
  app: Needs,
): Promise<Campaigns> {
  const messages = analyses
    .filter(({ report }) => !idle.has(report.id))
    .map(({ report, analysis: { fingerprints } }) => ({ reportId: report.id, fingerprints }))
  return joinCampaigns(app.pool, messages, app.clock)
}

/**
 * Separates out the reports whose reporters made a new statement about their relays while the
 * reports were being read. These reports were not waiting for an answer yet, so the new statement
 * did not queue them again. The lock prevents further statements until the transaction ends.
 */
async function splitByRelays(
  tx: Db,
  judgments: readonly Judgment[],
  relaysOf: RelaysOf,
): Promise<{ valid: Judgment[]; overtaken: string[]; emails: ReadonlyMap<string, string> }> {
  const reports = judgments.map(({ report }) => report)
  const reporterIds = [...new Set(reports.map(({ reporterId }) => reporterId))]
  const emails = await holdReporters(tx, reporterIds, 'keep-still')
  const nowOf = await findRelays(tx, reports)
  const isValid = ({ report: { id }, analysis }: Judgment) =>
    String(nowOf(id).options.borders) === String(relaysOf(id).options.borders) &&
    analysis.addressesAsked.every((ip) => nowOf(id).knownOf(ip) === relaysOf(id).knownOf(ip))
  return {
    valid: judgments.filter(isValid),
    overtaken: judgments.flatMap((one) => (isValid(one) ? [] : [one.report.id])),
    emails,
  }
}

type Keeping = {
  campaignOf: Campaigns
  /** The reporters' addresses, by id. */
  emails: ReadonlyMap<string, string>
  /** Whether the caller sends the feedback reports after the transaction. */
  isAtOnce: boolean
}

/** Stores judgments and what follows from them; returns the feedback reports to send. */
async function keep(
  tx: Db,
  judgments: readonly Judgment[],
  { campaignOf, emails, isAtOnce }: Keeping,
  app: Needs,
): Promise<HandedOver[]> {
  const now = app.clock()
  const cases = judgments.map(({ judged }) => judged)
  const drawn = await drawConsequences(tx, cases, app, now, emails)
  const outcomes = judgments.flatMap((judgment, index) => {
    const one = drawn[index]
    return one ? [outcomeOf(judgment, one, campaignOf, now)] : []
  })
  const isOpen = ({ row, notified }: (typeof outcomes)[number]) =>
    notified.length > 0 || row.judgment.consequence.action === 'look-up'
  const judgedAs = (some: typeof outcomes) =>
    some.map(({ row: { id }, judgedAs }) => ({ id, ...judgedAs }))
  const marked = await Promise.all([
    markJudged(tx, judgedAs(outcomes.filter(isOpen)), waitingStates, 'analyzed'),
    markJudged(tx, judgedAs(outcomes.filter((one) => !isOpen(one))), waitingStates, 'kept'),
  ])
  const mine = new Set(marked.flat())
  const kept = outcomes.filter(({ row }) => mine.has(row.id))
  if (kept.length === 0) return []
  const lookUps = kept.filter(({ row }) => row.judgment.consequence.action === 'look-up')
  const timely = judgments.filter((one) => mine.has(one.report.id) && isTimely(one))
  const effective = timely.filter(({ report }) => hasEffect(report))
  const shared = await shareLinks(tx, timely, { campaignOf, emails }, now)
  const owed = kept.flatMap(({ row, notified, judgedAs: { hasEffect } }) =>
    notified.map((one) => {
      const its = { isShadowed: !hasEffect, sharedParts: shared.get(row.id) ?? null }
      return { reportId: row.id, ...one, ...its }
    }),
  )
  const [queued, counted] = await Promise.all([
    queueFeedback(tx, owed, app, now, { isHandedOver: isAtOnce }),
    takeEffect(tx, effective, campaignOf, app),
    insertAnalyses(
      tx,
      kept.map(({ row }) => row),
    ),
    insertEvents(
      tx,
      kept.map(({ event }) => event),
    ),
    send(
      app.boss,
      findContact,
      lookUps.map(({ row }) => ({ reportId: row.id })),
      tx,
    ),
    queueWebhooks(tx, app.boss, webhookEventsOf(kept), now),
    queueAdvice(tx, timely.map(adviceCase), app),
    noteForReporters(tx, newsOf(kept), now),
  ])
  const held = timely.flatMap(({ report }) => (hasEffect(report) ? [] : [report.id]))
  await takeBackComplaints(tx, counted.complaintsTakenBack, app, now)
  await markSentBefore(tx, [...counted.ids, ...held])
  return isAtOnce ? handedOver(queued, { judgments, kept, emails }, app) : []
}

function isTimely({ judged }: Judgment): boolean {
  return judged.effectObstacle === undefined
}

/**
 * Makes released reports take effect, once. The verdicts shown to their reporters do not change.
 */
async function release(
  tx: Db,
  judgments: readonly Judgment[],
  campaignOf: Campaigns,
  app: Needs,
): Promise<void> {
  const released = await claimReleased(
    tx,
    judgments.map(({ report }) => report.id),
  )
  if (released.length === 0) return
  const effective = judgments.filter((one) => released.includes(one.report.id) && isTimely(one))
  const now = app.clock()
  const counted = await takeEffect(tx, effective, campaignOf, app)
  await takeBackComplaints(tx, counted.complaintsTakenBack, app, now)
  await markSentBefore(tx, counted.ids)
  await sendShadowed(tx, released, app, now)
}
