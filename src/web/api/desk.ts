import {
  answerDeskReports,
  type DeskReport,
  findDeskCopy,
  findDeskReport,
  listDeskReports,
  parseReportNumber,
  reportNumber,
} from '../../feedback/desk-reports.ts'
import { readComplaintFigures } from '../../reports/complaint-figures.ts'
import { pageOf, sendMessage } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { Handlers } from './serve-operations.ts'
import { linkToNext } from './submission.ts'

/** The reports that an abuse desk received, and its answers. */
export function deskHandlers(site: Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl'>) {
  const { pool } = site
  return {
    async 'list-desk-reports'({ caller, query: { open, before, limit }, res }) {
      const filter = { before: keyIn(before), isOpen: open === 'true', limit: limit + 1 }
      const reports = await listDeskReports(pool, caller.id, filter)
      const page = pageOf(reports, limit, ({ key }) => ({
        ...{ open, before: reportNumber(key), limit: String(limit) },
      }))
      const next = linkToNext(res, page.next && `${site.publicUrl}/api/v1/desk/reports${page.next}`)
      return { reports: page.lines.map(reportJson), next }
    },
    async 'read-desk-report'({ caller, path, res }) {
      const key = parseReportNumber(path.number)
      const found = key && (await findDeskReport(pool, caller.id, key))
      const copy = found && (await findDeskCopy(pool, found.feedback))
      if (!copy) throw new ProblemError('not-found', 'No such report was sent to you.')
      await sendMessage(res, `report-${reportNumber(found.feedback)}.eml`, copy.raw, 'owner')
      return undefined
    },
    'count-desk-complaints': ({ caller }) => readComplaintFigures(site, caller.id),
    async 'answer-desk-reports'({ caller, body: { reports, answer, said } }) {
      const given = { numbers: reports, answer, said, how: 'link' } as const
      return { results: await answerDeskReports(site, caller.id, given) }
    },
  } satisfies Partial<Handlers>
}

/** @throws ProblemError 422 if the number is malformed */
function keyIn(before: string | undefined) {
  if (before === undefined) return undefined
  const key = parseReportNumber(before)
  if (!key) throw new ProblemError('bad-field', 'before is not the number of a report.')
  return key
}

function reportJson({ key, sentAt, isDigest, line, incidents, answers }: DeskReport) {
  return {
    number: reportNumber(key),
    sent_at: sentAt.toISOString(),
    type: isDigest ? 'digest' : (line?.kind ?? null),
    source_ip: line?.sourceIp === '' ? null : (line?.sourceIp ?? null),
    arrived_at: line?.arrivedAt?.toISOString() ?? null,
    subject: line?.subject ?? null,
    messages: incidents,
    answers,
  }
}
