import { setTimeout } from 'node:timers/promises'
import type { App } from '../app.ts'
import { inTransaction } from '../db/pool.ts'
import {
  listRawMessages,
  listReceivedReports,
  listWithMessages,
  type RawMessage,
} from '../db/reports.ts'
import {
  claimSearchNews,
  INDEXED_AT_ONCE,
  listSearchMaterial,
  listSearchNews,
  type SearchNote,
  upsertTerms,
} from '../db/search.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import type { ShownTexts } from '../reports/read-messages.ts'
import { uuidFloor } from '../world.ts'
import { analyzedParts } from './find-reports.ts'
import { termsOf } from './terms.ts'

const PAUSE_MS_MAX = 1_000
/** Number of notes read at a time. */
const NOTES_READ = 20
/** Duration of a run in milliseconds; the next one follows in less than a minute. */
const RUN_MS = 50_000
/** The same while reports wait for their analysis, and the interval at which that is checked. */
const BUSY_RUN_MS = 2_400
/** Age in milliseconds of a report from which on it waits. */
const WAITING_MS = 5_000

type Needs = Pick<App, 'pool' | 'clock'> & {
  parser: Pick<ParserPool, 'readText'>
  /** Absent if every message is to be read again. */
  shownTexts?: ShownTexts | undefined
}

/**
 * Writes the terms of the reports that changed, until no more are noted or the time of the run is
 * over. Makes way for the analysis of reports: it pauses for half of the time, and while reports
 * wait, a run is short.
 */
export async function runIndexReports(app: Needs): Promise<void> {
  const start = app.clock().getTime()
  let checkAfter = BUSY_RUN_MS
  for (;;) {
    const listed = await listSearchNews(app.pool, NOTES_READ)
    const notes = inSize(listed)
    if (notes.length === 0) return
    const begun = app.clock().getTime()
    await indexNotes(app, notes, reportsOf(listed.slice(notes.length)))
    await setTimeout(Math.min(PAUSE_MS_MAX, app.clock().getTime() - begun))
    const ms = app.clock().getTime() - start
    if (ms > RUN_MS) return
    if (ms <= checkAfter) continue
    if (await isBusy(app)) return
    checkAfter = ms + BUSY_RUN_MS
  }
}

/** The first notes that name no more reports than are written at once; at least one. */
function inSize(notes: readonly SearchNote[]): SearchNote[] {
  let reports = 0
  return notes.filter(({ reportIds }, index) => {
    reports += reportIds.length
    return index === 0 || reports <= INDEXED_AT_ONCE
  })
}

function reportsOf(notes: readonly SearchNote[]): Set<string> {
  return new Set(notes.flatMap(({ reportIds }) => reportIds))
}

/**
 * Writes the terms of the reports that the notes name, except those of `later`, which a later note
 * names again: most reports change several times within seconds.
 */
async function indexNotes(
  { pool, parser, shownTexts }: Needs,
  notes: readonly SearchNote[],
  later: ReadonlySet<string>,
): Promise<void> {
  const texts = new Map<string, string>()
  const unread = new Set<string>()
  for (const id of reportsOf(notes).difference(later)) {
    const text = shownTexts?.get(id)
    if (text === undefined) unread.add(id)
    else texts.set(id, text)
  }
  const messages = unread.size === 0 ? [] : await listRawMessages(pool, [...unread])
  await Promise.all(
    messages.map(async (message) => texts.set(message.id, await textOf(message, parser))),
  )
  await inTransaction(pool, async (tx) => {
    const ids = await claimSearchNews(tx, notes, later)
    const remaining = new Set(await listWithMessages(tx, ids))
    const written: { id: string; terms: readonly string[] }[] = []
    for (const report of await listSearchMaterial(tx, ids)) {
      // A message may be deleted, of which the text is still known.
      const text = remaining.has(report.id) ? (texts.get(report.id) ?? '') : ''
      const terms = termsOf(report, await analyzedParts(report), text)
      written.push({ id: report.id, terms })
    }
    await upsertTerms(tx, written)
  })
}

/** The text of a message; empty if it takes the parser too long. */
async function textOf(message: RawMessage, parser: Needs['parser']): Promise<string> {
  return parser.readText(message).catch(() => '')
}

async function isBusy({ pool, clock }: Needs): Promise<boolean> {
  const before = uuidFloor(new Date(clock().getTime() - WAITING_MS))
  return (await listReceivedReports(pool, before, 1)).length > 0
}
