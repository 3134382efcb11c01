import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type JudgedReport, listJudgedReports } from '../../db/models.ts'
import type { Db } from '../../db/pool.ts'
import { listRawMessages } from '../../db/reports.ts'
import { unpack } from '../../db/rows.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { analyzeForCounting, type CountedAnalysis } from '../../pieces/analyze.ts'
import { factsOf, karmaIn, unpackFacts } from '../../verdict/facts/facts.ts'
import {
  groupCampaigns,
  LABEL_KARMA_MIN,
  labelOf,
  type RowKind,
  type TrainingRow,
} from '../../verdict/model/training.ts'
import type { VerdictClass } from '../../verdict/verdict.ts'
import { uuidFloor, uuidTime } from '../../world.ts'

export type LabeledFolder = { folder: string; kind: RowKind }

/** The message of a file, analyzed but not yet assigned to a campaign. */
export type ReadFile = Pick<TrainingRow, 'at' | 'kind' | 'facts' | 'text'> &
  Pick<CountedAnalysis, 'fingerprints'> & { file: string }

const FILE_BYTES_MAX = 25_000_000
const TELL_EVERY = 500

/**
 * Reads labeled folders and their subfolders in the order of the file names. Skips files above the
 * size limit of the intake and files without a header.
 *
 * @throws UsageError if a folder cannot be read
 */
export async function readFolders(
  folders: readonly LabeledFolder[],
  tell: (line: string) => void,
): Promise<TrainingRow[]> {
  const files: ReadFile[] = []
  for (const { folder, kind } of folders) {
    for (const file of await filesIn(folder)) {
      const read = await readOne(file, kind)
      if (read) files.push(read)
      if (files.length % TELL_EVERY === 0) tell(`Read ${files.length} messages.`)
    }
  }
  const campaigns = groupCampaigns(files.map(({ fingerprints }) => fingerprints))
  return files.map(({ at, kind, facts, text, file }, index) => ({
    ...{ at, kind, facts, text },
    load: () => readFile(file),
    symbols: [],
    campaign: `file ${campaigns[index] ?? index}`,
  }))
}

/** Reads and analyzes one file without DNS queries; undefined if it is not a message. */
export async function readOne(file: string, kind: RowKind): Promise<ReadFile | undefined> {
  const { size } = await stat(file)
  if (size === 0 || size > FILE_BYTES_MAX) return undefined
  const raw = await readFile(file)
  const read = await analyzeForCounting(raw, { ...anywhere, ignoreStamps: true })
  const { analysis, features, fingerprints, text = noText } = read
  if (features.headers.fields === 0) return undefined
  const at = timeOf(analysis)
  return { file, kind, at, facts: factsOf({ features, now: new Date(at) }), fingerprints, text }
}

const anywhere = { trustedRelays: [], readsText: true }
const noText = new Uint32Array()

/**
 * The time of the topmost Received field that has one, else of the Date field, in milliseconds; 0
 * if neither has one.
 */
function timeOf({ hops, headers }: CountedAnalysis['analysis']): number {
  const times = [...hops.map(({ at }) => at), headers.date].flatMap((text) => {
    const time = Date.parse(text ?? '')
    return Number.isNaN(time) ? [] : [time]
  })
  return times[0] ?? 0
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      throw new UsageError([`Cannot read the folder ${folder}: ${reasonOf(error)}`])
    },
  )
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .sort()
}

const PAGE = 1_000
/** Maximum number of reports; each takes about 10 KB of memory. */
const REPORTS_MAX = 100_000
const MESSAGES_AT_ONCE = 50

type Voices = { unwanted: Set<string>; wanted: Set<string> }
type Report = JudgedReport & { karma: number }

/**
 * Returns the reports since an instant that have a label (see `labelOf`), with the facts of their
 * original verdicts. Above 100,000 reports, only the newest are returned. Reads the texts of those
 * messages that are still stored.
 */
export async function readReports(
  db: Db,
  since: Date,
  tell: (line: string) => void,
): Promise<TrainingRow[]> {
  const reports: Report[] = []
  let after = uuidFloor(since)
  for (;;) {
    const page = await listJudgedReports(db, { after, limit: PAGE })
    reports.push(
      ...page.map((report) => ({ ...report, karma: karmaIn(unpackFacts(report.facts)) })),
    )
    if (reports.length > REPORTS_MAX) reports.splice(0, reports.length - REPORTS_MAX)
    const last = page.at(-1)
    if (!last || page.length < PAGE) break
    after = last.id
    tell(`Read ${reports.length} reports.`)
  }
  const voices = voicesOf(reports)
  const rows = reports.flatMap((report) => rowOf(report, voices, db) ?? [])
  tell(`Reading the texts of ${rows.length} messages.`)
  for (let at = 0; at < rows.length; at += MESSAGES_AT_ONCE) {
    await readTexts(db, rows.slice(at, at + MESSAGES_AT_ONCE))
  }
  return rows
}

async function readTexts(db: Db, rows: readonly ReportRow[]): Promise<void> {
  const raws = await loadRaw(
    db,
    rows.map(({ id }) => id),
  )
  for (const row of rows) {
    const raw = raws.get(row.id)
    if (!raw) continue
    const { text } = await analyzeForCounting(raw, { ...anywhere, ignoreStamps: false })
    row.text = text ?? noText
  }
}

async function loadRaw(db: Db, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const stored = await listRawMessages(db, ids)
  const raws = stored.map(async (one) => [one.id, await unpack(one)] as const)
  return new Map(await Promise.all(raws))
}

type ReportRow = TrainingRow & { id: string }

function rowOf(report: Report, voices: ReadonlyMap<string, Voices>, db: Db): ReportRow | undefined {
  const { id, kind, isRetracted, verdictClass, campaignId, reporterId, symbols, karma } = report
  const { estimated } = report
  const facts = unpackFacts(report.facts)
  const others = othersThan(reporterId, campaignId === null ? undefined : voices.get(campaignId))
  const verdict = verdictClass as VerdictClass
  const label = labelOf({ kind, isRetracted, verdict, karma, others })
  if (label === undefined) return undefined
  const load = async () => (await loadRaw(db, [id])).get(id)
  const its = {
    id,
    at: uuidTime(id).getTime(),
    campaign: campaignId ?? id,
    kind: label,
    facts,
    symbols,
  }
  return { ...its, ...(estimated !== null && { estimated }), reporterId, text: noText, load }
}

/**
 * Groups the reporters of each campaign by statement. Only reporters with enough karma count,
 * because three new accounts could otherwise add or remove a label. Retracted reports are ignored.
 */
function voicesOf(reports: readonly Report[]): Map<string, Voices> {
  const voices = new Map<string, Voices>()
  for (const { campaignId, kind, isRetracted, reporterId, karma } of reports) {
    if (campaignId === null || isRetracted || karma < LABEL_KARMA_MIN) continue
    const none = { unwanted: new Set<string>(), wanted: new Set<string>() }
    const its = voices.getOrInsert(campaignId, none)
    its[kind === 'not-spam' ? 'wanted' : 'unwanted'].add(reporterId)
  }
  return voices
}

function othersThan(reporterId: string, voices: Voices | undefined) {
  const count = (set: Set<string> | undefined) => (set ? set.size - Number(set.has(reporterId)) : 0)
  return { unwanted: count(voices?.unwanted), wanted: count(voices?.wanted) }
}
