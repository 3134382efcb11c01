import { type Request, type Response, Router } from 'express'
import { domainOf } from '../../mail/address.ts'
import { firstTextPart } from '../../mail/mail-parts.ts'
import { shownBytes, shownText, tidied } from '../../mail/text.ts'
import type { KeptAnalysis } from '../../db/analyses.ts'
import { type Feedback, findFeedback, listFeedback } from '../../db/feedback-reports.ts'
import { findOwnReport } from '../../db/own-reports.ts'
import type { Reporter } from '../../db/reporters.ts'
import { listRawMessages, type Report } from '../../db/reports.ts'
import { composeKept, type ExactCopy, findOwnCopy, KEPT } from '../../feedback/compose-feedback.ts'
import { findLaterOfPage, findLaterReports } from '../../feedback/did-it-stop.ts'
import { findShownRequest } from '../../feedback/original-requests.ts'
import { listAnswersTo } from '../../feedback/take-answer.ts'
import { findReportDetails, hurryAnalysis } from '../../reports/own-reports.ts'
import { answerQuestion, SET_RELAYS_MAX } from '../../reports/set-relays.ts'
import { restorableUntil } from '../../reports/undo-retraction.ts'
import { findReportOrSpooled } from '../../reports/take-spooled.ts'
import { countryName, type Language } from '../../texts/messages.ts'
import { symbolsForReporters, type VerdictSymbol } from '../../verdict/verdict.ts'
import { drawWalk, ownReasons, percentOf, surenessOf } from '../../verdict/walk-picture.ts'
import type { Form } from '../pages/form.ts'
import { isUuid, sendMessage, sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import { findShownAdvice } from '../reporting/advice.ts'
import type { Site } from '../site.ts'
import { shortRoute, summarize, type Summary } from './summary.ts'
import { plainReasons, sayMeaning } from './symbols.ts'

/** The data of a route picture, prepared for `views/parts/way.eta`. */
export function shownWalk({ details, network }: KeptAnalysis) {
  const { hops, origin, originObstacle, submitter, consequence } = details
  return {
    picture: drawWalk(details),
    hops,
    origin,
    reasons: ownReasons(details),
    obstacle: originObstacle,
    percent: percentOf(origin?.confidence ?? 0),
    // An origin below the operator's minimum confidence is not shown as sure.
    sureness: consequence.action === 'ask' ? 'not' : surenessOf(origin?.confidence ?? 0),
    network: network && networkWords(network),
    submitter: submitter && { ...submitter, sureness: surenessOf(submitter.confidence) },
  }
}

/** A network for people: its name or block, its AS number and its country. */
function networkWords(network: NonNullable<KeptAnalysis['network']>): string {
  const { cidr, asn, name, country } = network
  return [name ?? cidr, asn === null ? '' : `AS${asn}`, country ?? ''].filter(Boolean).join(', ')
}

type Needs = Pick<Site, 'pool' | 'preview' | 'isTrial'>
type OwnCopy = { feedback: Feedback; copy: ExactCopy | undefined }

const SHOWN_BYTES_MAX = 256 * 1024

/** The exact feedback mail about a reporter's own report, sent or queued. */
export function ownCopyRoutes(site: Needs): Router {
  const router = Router()
  router.get('/reports/:id/told/:number', async (req, res) => {
    const { feedback, copy } = await requireOwnCopy(req, site)
    sendPage(req, res, {
      view: 'pages/history/told',
      title: visitOf(req).texts('told.title'),
      data: {
        feedback,
        isTrialMail: feedback.number === KEPT,
        hasLeft: copy?.isFinal,
        text: copy && shownBytes(firstTextPart(copy.raw), SHOWN_BYTES_MAX),
        copyText: copy && shownBytes(copy.raw, SHOWN_BYTES_MAX),
      },
    })
  })
  router.get('/reports/:id/told/:number/message.eml', async (req, res) => {
    const { feedback, copy } = await requireOwnCopy(req, site)
    if (!copy) throw new ProblemError('not-found', 'Mail not found.')
    await sendMessage(res, `told-${feedback.reportId}-${feedback.number}.eml`, copy.raw, 'owner')
  })
  return router
}

async function requireOwnCopy(
  req: Request<{ id: string; number: string }>,
  { pool, preview, isTrial }: Needs,
): Promise<OwnCopy> {
  const reporter = requireReporter(req)
  const { id, number } = req.params
  const report = isUuid(id) ? await findOwnReport(pool, reporter.id, id) : undefined
  const isOwn = report !== undefined && /^\d{1,3}$/.test(number)
  if (isOwn && Number(number) === KEPT && isTrial(req) && report.state === 'kept') {
    const kept = await composeKept(pool, report.id, preview)
    if (kept) return kept
  }
  const feedback =
    isOwn && (await findFeedback(pool, { reportId: report.id, number: Number(number) }))
  if (!feedback) throw new ProblemError('not-found', 'Report not found, or not yours.')
  const { mergedInto, mergedNumber } = feedback
  const head =
    mergedInto === null || mergedNumber === null
      ? undefined
      : await findFeedback(pool, { reportId: mergedInto, number: mergedNumber })
  const patient: Needs['preview'] = (one) => preview(one).catch(() => undefined)
  return { feedback, copy: await findOwnCopy(pool, feedback, head, patient) }
}

/**
 * Stores the reporter's answer to the question about a report; returns the problem if the answer is
 * refused.
 */
export async function takeRelayAnswer(
  req: Request,
  site: Pick<Site, 'pool' | 'boss' | 'clock'>,
  report: Report,
  form: Form,
): Promise<string | undefined> {
  const { texts } = visitOf(req)
  const answer = form.text('answer')
  const about = { ip: form.text('relay') ?? '', isMine: answer === 'yes' }
  const isSaid = answer === 'yes' || answer === 'no'
  const outcome = await answerQuestion(site, report, isSaid ? about : 'unknown')
  if (outcome === 'stale') return texts('question.done')
  if (outcome === 'full') return texts('question.full', { most: SET_RELAYS_MAX })
  if (outcome === 'disputed') return texts('question.disputed')
  return undefined
}

/** Returns the reporter's own report; otherwise throws the error for the "not found" page. */
export async function requireOwn(
  id: string,
  reporter: Reporter,
  site: Pick<Site, 'pool' | 'clock' | 'config'>,
): Promise<Report> {
  const report = isUuid(id) ? await findReportOrSpooled(id, reporter.id, site) : undefined
  if (report?.reporterId === reporter.id) return report
  throw new ProblemError('not-found', 'Report not found, or not yours.')
}

/** Sends the story of a report: everything that happened to it, in plain language. */
export async function sendStory(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
  report: Report,
  problem?: string,
): Promise<void> {
  const [{ analysis, events, same, question, isUnconfirmed }, feedback] = await Promise.all([
    findReportDetails(site.pool, report),
    listFeedback(site.pool, [report.id]),
    hurryAnalysis(site.pool, [report]),
  ])
  const { language, reporter } = visitOf(req)
  const advice = await findShownAdvice(site.pool, { report, analysis, language, now: site.clock() })
  const answers = await listAnswersTo(site.pool, feedback, events)
  const complaints = feedback.filter(({ kind }) => kind === 'complaint')
  const original = await findShownRequest(site.pool, report, site.clock())
  const later = await findLater(site.pool, { report, analysis, complaints })
  const page = await findLaterOfPage(site.pool, report.id, site.clock())
  const isAsking = question !== undefined
  const hasAdvice = advice !== undefined && advice.kind !== 'none'
  const source = { report, analysis, complaints, answers, isAsking, isUnconfirmed, hasAdvice }
  const summary = summarize(source)
  sendPage(req, res, {
    view: 'pages/history/story',
    title: visitOf(req).texts('story.title'),
    status: problem === undefined ? 200 : 422,
    data: {
      report,
      done: req.query['done'],
      restorableUntil: await restorableUntil(site.pool, report, site.clock()),
      summary,
      events: [{ event: 'received', at: report.receivedAt, phrases: [] }, ...events],
      feedback: complaints,
      original,
      originals: feedback.filter(({ kind }) => kind === 'original'),
      corrections: feedback.filter(({ kind }) => kind === 'redeemed'),
      ...{ answers, later, page },
      found: analysis && findings(analysis, { language, report, because: summary.because }),
      needsOthers: analysis?.details.consequence.why.some(({ code }) => code === 'others-needed'),
      trialMail: analysis?.network?.abuse ? `/reports/${report.id}/told/${KEPT}` : undefined,
      same,
      advice,
      unconfirmed: isUnconfirmed &&
        analysis && { id: report.id, why: analysis.details.consequence.why },
      question: question && {
        id: report.id,
        isAnswered: question.isAnswered,
        problem,
        candidate: question.candidates[0],
        domain: domainOf(reporter?.email ?? ''),
      },
    },
  })
}

type Notified = { report: Report; analysis: KeptAnalysis | undefined; complaints: Feedback[] }

/** What was seen of the origin after its network was notified; undefined if it was not. */
function findLater(db: Site['pool'], { report, analysis, complaints }: Notified) {
  const ip = analysis?.details.origin?.ip
  const isNotified = complaints.some(
    ({ state, recipientRole }) =>
      recipientRole === 'network' && (state === 'sent' || state === 'merged'),
  )
  if (ip === undefined || !isNotified) return undefined
  const { receivedAt, shadow } = report
  return findLaterReports(db, { ip, receivedAt, isShadowed: shadow !== null })
}

const LINKS_SHOWN = 20
const REASONS_SHOWN = 3

type Shown = { language: Language; report: Report; because: Summary['because'] }

function findings(analysis: KeptAnalysis, { language, report, because }: Shown) {
  const { network } = analysis
  const { origin, links, moreLinks, attachments, verdict, consequence, isReduced } =
    analysis.details
  // A report that was taken back does not count any more.
  const symbols = symbolsForReporters(verdict.symbols).filter(
    ({ name }) => name !== 'YOUR_REPORT' || report.state !== 'retracted',
  )
  const walk = shownWalk(analysis)
  const say = (symbol: VerdictSymbol) => sayMeaning(symbol, language, 'reporter')
  return {
    origin,
    walk,
    route: {
      ...shortRoute(walk.picture),
      from: network?.name ?? origin?.ip,
      country: network?.country && countryName(language, network.country),
    },
    verdict,
    symbols: symbols.map(say),
    reasons: because
      ? plainReasons(symbols, { class: because }).slice(0, REASONS_SHOWN).map(say)
      : [],
    consequence,
    isReduced,
    links: links.slice(0, LINKS_SHOWN),
    linksMore: Math.max(0, links.length - LINKS_SHOWN) + (moreLinks ?? 0),
    attachments,
  }
}

/** Sends the text of a reported message, in which nothing can be loaded or followed. */
export async function sendMessageText(
  req: Request,
  res: Response,
  { pool, readText }: Pick<Site, 'pool' | 'readText'>,
  report: Report,
): Promise<void> {
  const [packed] = await listRawMessages(pool, [report.id])
  const text = packed && (await readText(packed).catch(() => ''))
  sendPage(req, res, {
    view: 'pages/history/message',
    title: visitOf(req).texts('story.messageTitle'),
    data: { report, text: text === undefined ? undefined : harmless(text) },
  })
}

/** Text in which no program recognizes a link: `hxxps://www[.]example[.]com/`. */
function harmless(text: string): string {
  return shownText(tidied(text), SHOWN_BYTES_MAX).replaceAll(
    /\bhtt(ps?:\/\/)([^\s/]{1,300})/gi,
    (_, rest: string, host: string) => `hxx${rest}${host.replaceAll('.', '[.]')}`,
  )
}
