import { listAnswers } from '../../db/feedback-answers.ts'
import { listFeedback } from '../../db/feedback-reports.ts'
import {
  type ExportPage,
  listLettersToExport,
  listMailsToExport,
  listReportsToExport,
} from '../../db/export-rows.ts'
import { type Packed, unpack } from '../../db/packed.ts'
import type { Reporter } from '../../db/reporters.ts'
import { findRawMessage } from '../../db/raw-messages.ts'
import type { Report } from '../../db/reports.ts'
import { describeReport } from '../api/report-json.ts'
import type { Site } from '../site.ts'
import type { ArchiveEntry } from './export-archive.ts'

type Needs = Pick<Site, 'pool'>

const REPORTS_AT_ONCE = 100
const MAILS_AT_ONCE = 20

/** The messages of a reporter, and for each hundred a file with a line of JSON for each report. */
export async function* reportEntries(
  { id }: Reporter,
  { pool }: Needs,
): AsyncGenerator<ArchiveEntry> {
  let file = 0
  const pages = paged(REPORTS_AT_ONCE, (page) => listReportsToExport(pool, id, page))
  for await (const page of pages) {
    const lines: string[] = []
    for (const report of page) {
      lines.push(JSON.stringify(await describeOne(report, pool)))
      const packed = await findRawMessage(pool, report.id)
      if (packed) yield await mailEntry('messages', report.id, report.receivedAt, packed)
    }
    const path = `reports/${String(++file).padStart(6, '0')}.jsonl`
    const at = page.at(-1)?.receivedAt ?? new Date(0)
    yield { path, at, bytes: Buffer.from(`${lines.join('\n')}\n`) }
  }
}

/** What we wrote to a reporter, and what came from there to us. */
export async function* mailEntries(
  reporter: Reporter,
  { pool }: Needs,
): AsyncGenerator<ArchiveEntry> {
  const letters = paged(MAILS_AT_ONCE, (page) => listLettersToExport(pool, reporter, page))
  for await (const page of letters) {
    for (const letter of page) yield await mailEntry('letters', letter.id, letter.createdAt, letter)
  }
  const mails = paged(MAILS_AT_ONCE, (page) => listMailsToExport(pool, reporter.id, page))
  for await (const page of mails) {
    for (const mail of page) yield await mailEntry('received', mail.id, mail.receivedAt, mail)
  }
}

/** A report as the API tells it, with what its reporter said of it and who was told. */
async function describeOne(report: Report, pool: Site['pool']) {
  const [described, told, answers] = await Promise.all([
    describeReport(pool, report),
    listFeedback(pool, [report.id]),
    listAnswers(pool, [report.id]),
  ])
  return {
    ...described,
    channel: report.channel,
    comment: report.comment,
    message_id: report.messageId,
    received_via: report.receivedVia,
    told: told.map(({ number, kind, address, state, finishedAt }) => ({
      kind,
      address,
      state,
      at: finishedAt?.toISOString() ?? null,
      answers: answers
        .filter((one) => one.number === number)
        .map(({ answer, said, at }) => ({ answer, said, at: at.toISOString() })),
    })),
  }
}

async function mailEntry(
  folder: string,
  id: string,
  at: Date,
  packed: Packed,
): Promise<ArchiveEntry> {
  return { path: `${folder}/${id}.eml`, at, bytes: await unpack(packed) }
}

/** All rows, a page at a time, by the id of the last one. */
async function* paged<Row extends { id: string }>(
  limit: number,
  list: (page: ExportPage) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: string | null = null; ;) {
    const rows: Row[] = await list({ after, limit })
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (rows.length < limit || !last) return
    after = last.id
  }
}
