import { type Request, type Response, Router } from 'express'
import { isNewcomer } from '../../db/mail-probes.ts'
import type { Db } from '../../db/pool.ts'
import type { Reporter } from '../../db/reporters.ts'
import { listReportsByIds, type Report } from '../../db/reports.ts'
import type { Phrase } from '../../phrase.ts'
import type { AcceptedReport } from '../../reports/accept-report.ts'
import type { Choice } from '../../reports/message-refusal.ts'
import { isOpenOutcome, toneOf } from '../../reports/own-outcome.ts'
import {
  awaitUnconfirmed,
  hurryAnalysis,
  type ShownOutcome,
  withOutcomes,
} from '../../reports/own-reports.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { isUuid, sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { ProblemName } from '../problem.ts'
import type { Site } from '../site.ts'
import type { Remarks } from '../submit.ts'
import type { UploadLine } from './take-upload.ts'

/** A report just after it was sent: its message, its state, and what its reporter is asked. */
type SentRow = Pick<Report, 'id' | 'subject' | 'author'> &
  ShownOutcome & {
    /** Why its reporter is asked to confirm it. */
    why: readonly Phrase[] | undefined
    /** Whether its state changes soon. */
    isOpen: boolean
  }

type Needs = Pick<Site, 'pool' | 'config' | 'outage' | 'front'>
type Waiting = { waitMs: number; gone: AbortSignal }

/** Maximum number of messages of a form whose analyses the answer waits for. */
const AWAITED_MAX = 5
/** Maximum number of messages whose rows update themselves. */
const LIVE_MAX = 20
/** Maximum size in bytes of a message that the page contains, to be sent again with a choice. */
const CHOSEN_BYTES_MAX = 5_000_000

/** The rows of reports that were just sent, for the page that updates them. */
export function sentRoutes(site: Needs): Router {
  const router = Router()
  router.get('/report/sent', async (req, res) => {
    const reporter = requireReporter(req)
    const ids = [req.query['id']].flat().filter(isUuid).slice(0, LIVE_MAX)
    const waiting = { waitMs: 0, gone: goneSignal(res) }
    const rows = await sentRows(site.pool, reporter, ids, waiting)
    const title = visitOf(req).texts('sent.results')
    sendPage(req, res, { view: 'pages/sent-rows', title, data: { rows: [...rows.values()] } })
  })
  return router
}

/** Returns the rows of a reporter's own reports by id. */
async function sentRows(
  db: Db,
  reporter: Reporter,
  ids: readonly string[],
  waiting: Waiting,
): Promise<Map<string, SentRow>> {
  const few = ids.length <= AWAITED_MAX || waiting.waitMs === 0 ? ids : []
  if (few.length > 0 && waiting.waitMs > 0) await hurryAnalysis(db, [{ state: 'received' }])
  const unconfirmed = await awaitUnconfirmed(db, few, waiting)
  const reports = await listReportsByIds(db, ids)
  const own = reports.filter(({ reporterId }) => reporterId === reporter.id)
  const [rows] = await Promise.all([withOutcomes(db, own), hurryAnalysis(db, own)])
  return new Map(
    rows.map((row) => {
      const { id, outcome } = row
      return [id, { ...row, why: unconfirmed.get(id), isOpen: isOpenOutcome(outcome) }]
    }),
  )
}

/** The help pages that explain how to avoid a refusal. */
const helpPaths: Readonly<Partial<Record<ProblemName, string>>> = {
  'no-header': '/help/source/outlook-classic',
  'not-a-message': '/help',
}

/** The reporter whose messages were taken, the result of each, and whether the client left. */
type Sent = {
  site: Needs
  reporter: Reporter
  lines: readonly UploadLine[]
  remarks: Remarks
  gone: AbortSignal
}

/**
 * Sends the result of each message of an upload, with a summary at the top, and the question about
 * each message that looks wanted. The status is a success if at least one message was accepted.
 */
export async function sendResults(req: Request, res: Response, sent: Sent): Promise<void> {
  const { site, reporter, lines, remarks, gone } = sent
  const ids = lines.flatMap(({ outcome }) => (outcome.taken ? [outcome.id] : []))
  const waiting = { waitMs: site.config.formWaitMs, gone }
  const canProbe = !site.front && site.config.smtpUrl !== undefined
  const [rows, offersProbe] = await site.outage.run(
    () =>
      Promise.all([
        sentRows(site.pool, reporter, ids, waiting),
        canProbe && isNewcomer(site.pool, reporter.id),
      ]),
    () => [new Map<string, SentRow>(), false],
  )
  const live = site.front ? [] : [...new Set(ids)].slice(0, LIVE_MAX)
  const left = new Set(live)
  const results = lines.map((line) => resultOf(line, rows, left))
  const taken = results.filter(({ id }) => id !== undefined)
  const refused = lines.find(({ outcome }) => !outcome.taken)?.outcome
  const status = refused && !refused.taken ? refused.refusal.status : 422
  const countOf = (which: AcceptedReport['is']) => taken.filter(({ is }) => is === which).length
  sendPage(req, res, {
    view: 'pages/sent',
    title: visitOf(req).texts('sent.title'),
    status: taken.length > 0 ? 200 : status,
    data: {
      isTaken: taken.length > 0,
      counts: {
        recorded: countOf('new'),
        changed: countOf('changed'),
        repeated: countOf('repeated'),
        asked: results.filter(({ choices }) => choices).length,
        refused: results.filter(({ problem, choices }) => problem && !choices).length,
      },
      results,
      found: results.length,
      kind: remarks.kind,
      comment: remarks.comment ?? '',
      offersProbe,
      source: `/report/sent?${new URLSearchParams(live.map((id) => ['id', id])).toString()}`,
    },
  })
}

type Result = {
  name: string
  isRebuilt: boolean
  id?: string
  is?: AcceptedReport['is']
  row?: SentRow | undefined
  /** Whether the row updates itself; only once for a message that was sent twice. */
  isLive?: boolean
  problem?: ProblemName
  /** The line that is wrong, from one. */
  line?: number | undefined
  /** The messages between which the reporter has to choose. */
  choices?: readonly Choice[] | undefined
  /** The message in base64, which is sent again with the choice. */
  content?: string | undefined
  helpPath?: string | undefined
}

function resultOf(
  { name, outcome, rebuiltFrom, raw }: UploadLine,
  rows: ReadonlyMap<string, SentRow>,
  live: Set<string>,
): Result {
  const isRebuilt = rebuiltFrom !== undefined
  if (!outcome.taken) {
    const { problem, about } = outcome.refusal
    const fits = raw !== undefined && raw.length <= CHOSEN_BYTES_MAX
    const content = fits ? raw.toString('base64') : undefined
    return { name, isRebuilt, problem, ...about, content, helpPath: helpPaths[problem] }
  }
  const { id, is } = outcome
  const row = rows.get(id) ?? storedRow(id, name)
  return { name, isRebuilt, id, is, row, isLive: live.delete(id) }
}

/** The row of a report that is stored on disk while the database is away. */
function storedRow(id: string, name: string): SentRow {
  const message = { id, subject: name, author: null, notified: 0, answer: null, reasons: [] }
  return { ...message, why: undefined, outcome: 'waiting', tone: toneOf('waiting'), isOpen: true }
}
