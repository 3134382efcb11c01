import { setTimeout as wait } from 'node:timers/promises'
import { findAnalysis, type KeptAnalysis } from '../db/analyses.ts'
import {
  findOwnStop,
  listAsked,
  listOutcomes,
  listOwnReports,
  type OwnOutcome,
  type OwnQuery,
  type OwnRange,
  type OwnStop,
  type ReportLine,
} from '../db/own-reports.ts'
import type { Db } from '../db/pool.ts'
import { listEvents, type ReportEvent } from '../db/report-events.ts'
import type { Report, ReportKind, ReportState } from '../db/reports.ts'
import { DAY_MS } from '../durations.ts'
import type { Phrase } from '../phrase.ts'
import { hurry } from '../queue/boss.ts'
import { uuidFloor } from '../world.ts'
import { analyzeReport } from './queues.ts'
import { describeSame, type SameReports } from './same-reports.ts'
import {
  outcomeOf,
  type OutcomeTone,
  reasonsOf,
  type ReportOutcome,
  toneOf,
} from './own-outcome.ts'
import { findQuestion, type ReportQuestion } from './set-relays.ts'

/** The outcomes by which reports can be filtered, in the order of the form. */
export const ownOutcomes = ['asking', 'open', 'told', 'answered', 'kept', 'retracted'] as const

type Outcome = (typeof ownOutcomes)[number]

/** A search in one's own reports; an empty field matches everything. */
export type OwnSearch = {
  words: string
  kind: ReportKind | ''
  outcome: Outcome | ''
  /** Days in UTC such as `2026-11-20`, both inclusive. */
  from: string
  to: string
}

type OwnLine = ReportLine & ShownOutcome

export type ShownOutcome = Pick<OwnOutcome, 'notified' | 'answer'> & {
  outcome: ReportOutcome
  tone: OutcomeTone
  /** Why no one was notified; empty for other outcomes. */
  reasons: readonly Phrase[]
}

export async function withOutcomes<Line extends Pick<Report, 'id' | 'state' | 'kind'>>(
  db: Db,
  lines: readonly Line[],
): Promise<(Line & ShownOutcome)[]> {
  const found = await listOutcomes(db, lines)
  return lines.flatMap((line) => {
    const own = found.get(line.id)
    if (!own) return []
    const outcome = outcomeOf({ ...line, ...own })
    const { notified, answer } = own
    const said = { outcome, tone: toneOf(outcome), reasons: reasonsOf(outcome, own) }
    return [{ ...line, notified, answer, ...said }]
  })
}

/** The report at which an adjacent page begins, by its id. */
type Cursor = { before?: string | undefined; after?: string | undefined }

/** A page of a reporter's reports, and where the pages before and after it begin. */
type OwnPage = {
  lines: OwnLine[]
  /** The page with newer reports; undefined if there are none. */
  newer: Cursor | undefined
  older: Cursor | undefined
  /**
   * Set if the search stopped before the page was full; `older` or `newer` continues from there.
   */
  examinedTo: Date | undefined
}

const LINES = 25
/** Maximum number of reports examined per page, which takes about 15 ms. */
const EXAMINED_MAX = 5_000
/** Rows of other tables are read for this many reports in one query, up to LOOKED_UP per page. */
const CHUNK = 400
const LOOKED_UP = 2_000

const statesOf: Record<Outcome, readonly ReportState[]> = {
  asking: ['kept'],
  open: ['received', 'analyzed', 'failed'],
  told: ['forwarded'],
  answered: ['forwarded', 'retracted'],
  kept: ['kept'],
  retracted: ['retracted'],
}

/**
 * Returns the page of a reporter's reports that follows `before` or precedes `after`; without
 * either, the page of the newest.
 */
export async function findOwnReports(
  db: Db,
  reporterId: string,
  search: OwnSearch,
  { before, after }: Cursor,
): Promise<OwnPage> {
  const isBack = after !== undefined
  const { found, stop } = await findMatches(db, reporterId, search, {
    before: least(before, search.to && uuidFloor(new Date(Date.parse(search.to) + DAY_MS))),
    after: most(after, search.from && uuidFloor(new Date(search.from))),
    first: isBack ? 'oldest' : 'newest',
    limit: LINES + 1,
    examinedMax: EXAMINED_MAX,
  })
  const shown = found.slice(0, LINES)
  const lines = isBack ? shown.toReversed() : shown
  const onward = found.length > LINES ? shown.at(-1)?.id : stop?.id
  const [newest, oldest] = [lines.at(0)?.id, lines.at(-1)?.id]
  const newer = isBack ? onward : before && (newest ?? before)
  const older = isBack ? (oldest ?? after) : onward
  return {
    lines,
    newer: newer ? { after: newer } : undefined,
    older: older ? { before: older } : undefined,
    examinedTo: stop?.receivedAt,
  }
}

/** The reports found, and where the search stopped if the page is not full. */
type Found = { found: OwnLine[]; stop: OwnStop | undefined }

async function findMatches(
  db: Db,
  reporterId: string,
  search: OwnSearch,
  range: OwnRange,
): Promise<Found> {
  const query: OwnQuery = {
    words: search.words || undefined,
    kind: search.kind || undefined,
    states: search.outcome === '' ? undefined : statesOf[search.outcome],
  }
  const isSought = [search.words, search.kind, search.outcome].some((field) => field !== '')
  const fits = lookedUp[search.outcome] ?? (() => true)
  const limit = search.outcome in lookedUp ? CHUNK : range.limit
  const isBeyond = (id: string, stop: OwnStop) =>
    range.first === 'newest' ? id < stop.id : id > stop.id
  const found: OwnLine[] = []
  let part = { ...range, limit }
  for (let looked = 0; ;) {
    const rows = await listOwnReports(db, reporterId, query, part)
    const isEnd = rows.length < limit
    const stop = isSought && isEnd ? await findOwnStop(db, reporterId, part) : undefined
    const sure = stop ? rows.filter(({ id }) => !isBeyond(id, stop)) : rows
    found.push(...(await withOutcomes(db, sure)).filter(fits))
    const last = sure.at(-1)
    looked += sure.length
    if (found.length >= range.limit) return { found, stop: undefined }
    if (!last || isEnd || sure.length < rows.length) return { found, stop }
    if (looked >= LOOKED_UP) return { found, stop: last }
    part = { ...part, [part.first === 'newest' ? 'before' : 'after']: last.id }
  }
}

/** Outcomes for which other tables decide whether a report matches. */
const lookedUp: Readonly<Partial<Record<Outcome | '', (line: OwnLine) => boolean>>> = {
  asking: ({ outcome }) => outcome === 'asking' || outcome === 'unconfirmed',
  answered: ({ answer }) => answer !== null,
}

function least(...ids: (string | undefined)[]): string | undefined {
  return ids.filter((id) => id).sort()[0]
}

function most(...ids: (string | undefined)[]): string | undefined {
  return ids
    .filter((id) => id)
    .sort()
    .at(-1)
}

/** Interval in milliseconds at which `awaitUnconfirmed` looks for analyses. */
const LOOK_MS = 50

/**
 * Waits up to `waitMs` milliseconds until reports are analyzed. Returns those whose reporter is
 * asked to confirm the complaint, with the reasons.
 */
export async function awaitUnconfirmed(
  db: Db,
  ids: readonly string[],
  { waitMs, gone }: { waitMs: number; gone: AbortSignal },
): Promise<Map<string, readonly Phrase[]>> {
  for (let left = waitMs; ; left -= LOOK_MS) {
    const asked = ids.length === 0 ? [] : await listAsked(db, ids)
    if (left <= 0 || gone.aborted || !asked.some(({ isWaiting }) => isWaiting)) {
      return new Map(asked.flatMap(({ id, why }) => (why ? [[id, why] as const] : [])))
    }
    await wait(LOOK_MS, undefined, { ref: false })
  }
}

/**
 * Has reports analyzed without waiting for those of others, because their reporter looks at one.
 */
export async function hurryAnalysis(
  db: Db,
  reports: readonly Pick<Report, 'state'>[],
): Promise<void> {
  if (reports.some(({ state }) => state === 'received')) await hurry(db, analyzeReport)
}

/** The parts of a report's page besides the report itself. */
export type ReportDetails = {
  /** Undefined until the report is analyzed. */
  analysis: KeptAnalysis | undefined
  events: readonly ReportEvent[]
  /** Undefined if the report belongs to no campaign. */
  same: SameReports | undefined
  /** Undefined if the reporter is not asked about machines. */
  question: ReportQuestion | undefined
  /** Whether the reporter is asked to confirm the complaint. */
  isUnconfirmed: boolean
}

export async function findReportDetails(db: Db, report: Report): Promise<ReportDetails> {
  const [analysis, events, same] = await Promise.all([
    findAnalysis(db, report.id),
    listEvents(db, report.id),
    describeSame(db, report),
  ])
  const question = await findQuestion(db, report, analysis, events)
  const isUnconfirmed =
    report.state === 'kept' && analysis?.details.consequence.action === 'confirm'
  return { analysis, events, same, question, isUnconfirmed }
}
