import type { Request } from 'express'
import {
  findOwnStop,
  listOwnReports,
  type OwnQuery,
  type OwnReport,
  type OwnStretch,
} from '../../db/own-reports.ts'
import type { Db } from '../../db/pool.ts'
import type { ReportKind, ReportState } from '../../db/reports.ts'
import { storableText } from '../../mail/storable-text.ts'
import { uuidFloor } from '../../world.ts'
import { isUuid, queryOf } from '../paging.ts'

/** What reports can be asked for by what became of them, in the order of the form. */
export const outcomes = ['asking', 'waiting', 'told', 'answered', 'kept', 'taken-back'] as const

/** One of them. */
export type Outcome = (typeof outcomes)[number]

/** The kinds of reports, in the order of the form. */
export const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']

/** What the form holds, as text to show again; what made no sense is left out. */
export type ListForm = {
  words: string
  kind: ReportKind | ''
  outcome: Outcome | ''
  /** Days in UTC, `2026-11-20`, both of them included. */
  from: string
  to: string
}

/** A page of one's own reports, and the queries that lead on from it. */
export type OwnPage = {
  lines: OwnReport[]
  /** Towards the newest; undefined where there is nothing newer. */
  newer: string | undefined
  older: string | undefined
  /** Where the search stopped before it had enough; `older` or `newer` goes on from there. */
  lookedAtTo: Date | undefined
}

const LINES = 25
const WORDS_MAX = 100
const DAY_MS = 86_400_000
/** Looking at so many takes some 30 ms. */
const LOOKED_AT = 20_000
/** What stands in other tables is looked up report by report. */
const LOOKED_UP = 3_000

const statesOf: Record<Outcome, readonly ReportState[]> = {
  asking: ['kept'],
  waiting: ['received', 'analyzed', 'failed'],
  told: ['forwarded'],
  answered: ['forwarded', 'retracted'],
  kept: ['kept'],
  'taken-back': ['retracted'],
}

/** Reads the form from the address of a page. */
export function readListForm(req: Request): ListForm {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const kind = kinds.find((name) => name === given.get('kind')) ?? ''
  const outcome = outcomes.find((name) => name === given.get('outcome')) ?? ''
  const words = storableText(given.get('words')?.trim() ?? '', WORDS_MAX)
  return { words, kind, outcome, from: dayOf(given.get('from')), to: dayOf(given.get('to')) }
}

/** The page that an address asks for: `before` or `after` is where the page beside it ended. */
export async function readOwnPage(
  db: Db,
  reporterId: string,
  form: ListForm,
  cursor: { before: unknown; after: unknown },
): Promise<OwnPage> {
  const { query, isSought } = queryFrom(form)
  const before = isUuid(cursor.before) ? cursor.before : undefined
  const after = isUuid(cursor.after) ? cursor.after : undefined
  const isBack = after !== undefined
  const stretch: OwnStretch = {
    before: least(before, form.to && uuidFloor(new Date(Date.parse(form.to) + DAY_MS))),
    after: most(after, form.from && uuidFloor(new Date(form.from))),
    first: isBack ? 'oldest' : 'newest',
    limit: LINES + 1,
    lookedAtMax: query.isAsking || query.isAnswered ? LOOKED_UP : LOOKED_AT,
  }
  const rows = await listOwnReports(db, reporterId, query, stretch)
  const hasMore = rows.length > LINES
  const stop = hasMore || !isSought ? undefined : await findOwnStop(db, reporterId, stretch)
  const shown = rows.slice(0, LINES)
  const lines = isBack ? shown.toReversed() : shown
  const onward = hasMore ? shown.at(-1)?.id : stop?.id
  const [newest, oldest] = [lines.at(0)?.id, lines.at(-1)?.id]
  const link = (of: Record<string, string | undefined>) => queryOf({ ...form, ...of })
  const newer = isBack ? onward : before && (newest ?? before)
  const older = isBack ? (oldest ?? after) : onward
  return {
    lines,
    newer: newer && link({ after: newer }),
    older: older && link({ before: older }),
    lookedAtTo: stop?.receivedAt,
  }
}

/** What to look for, and whether a report has to be looked at to know whether it fits. */
function queryFrom({ words, kind, outcome }: ListForm): { query: OwnQuery; isSought: boolean } {
  const query: OwnQuery = {
    words: words || undefined,
    kind: kind || undefined,
    states: outcome === '' ? undefined : statesOf[outcome],
    isAsking: outcome === 'asking' ? true : undefined,
    isAnswered: outcome === 'answered' ? true : undefined,
  }
  return { query, isSought: words !== '' || kind !== '' || outcome !== '' }
}

function dayOf(text: string | null): string {
  const isDay = text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text)
  return isDay && !Number.isNaN(Date.parse(text)) ? text : ''
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
