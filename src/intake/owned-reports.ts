import { findAnalysis, type KeptAnalysis } from '../db/analyses.ts'
import type { Db } from '../db/pool.ts'
import type { OwnedReport } from '../db/shadowed-reports.ts'

/**
 * The analysis of a report as its reporter may see it. What was put aside is looked at by nobody;
 * once it is settled it looks like a message of which nothing could be made out.
 */
export async function findOwnedAnalysis(
  db: Db,
  report: OwnedReport,
): Promise<KeptAnalysis | undefined> {
  const analysis = await findAnalysis(db, report.id)
  if (analysis || !report.isShadowed || report.state === 'received') return analysis
  return unremarkable(report)
}

/** Why nobody is told of a report that was put aside, in the words said of others like it. */
export function whyNobody(kind: OwnedReport['kind']): string {
  if (kind === 'not-spam') return 'The reporter says that this is not spam.'
  return 'The verdict is undecided.'
}

function unremarkable(report: OwnedReport): KeptAnalysis {
  const { id, receivedAt, messageBytes, author, subject, messageId, datedAt } = report
  const why = whyNobody(report.kind)
  return {
    id,
    analyzedAt: receivedAt,
    originIp: null,
    originConfidence: null,
    network: null,
    verdictClass: 'undecided',
    verdictScore: 0,
    details: {
      bytes: messageBytes,
      sha256: '',
      kind: 'message',
      headers: {
        ...{ from: author, fromAddress: author, to: null, subject, messageId },
        ...{ date: datedAt?.toISOString() ?? null, returnPath: null, replyTo: null, listId: null },
      },
      hops: [],
      origin: null,
      originObstacle: null,
      submitter: null,
      authentication: null,
      listings: null,
      links: [],
      attachments: [],
      marketer: null,
      unsubscribe: null,
      cfbl: null,
      bounce: null,
      feedback: null,
      verdict: { class: 'undecided', score: 0, symbols: [] },
      consequence: { action: 'keep', why },
    },
  }
}
