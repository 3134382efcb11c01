import type { PlainAnalysis } from '../analysis/analyze.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { listMerged } from '../db/feedback-merged.ts'
import { type Feedback, nameOf } from '../db/feedback-reports.ts'
import { unpack } from '../db/packed.ts'
import type { Db } from '../db/pool.ts'
import type { MessageSource } from '../mail/feedback-text.ts'
import { messageSourceOf } from '../parsing/feedback-facts.ts'

/** One feedback report lists so many messages at most, itself included. */
export const SOURCES_MAX = 1_000

/**
 * Where the messages came from that were merged into feedback reports, by `nameOf`: the first of
 * each, in the order of their reports. A digest has none: it tells of each by itself.
 */
export async function listMergedSources(
  db: Db,
  feedback: readonly Feedback[],
): Promise<Map<string, MessageSource[]>> {
  const heads = feedback.filter(({ incidents, isDigest }) => incidents > 1 && !isDigest)
  if (heads.length === 0) return new Map()
  const byHead = Map.groupBy(await listMerged(db, heads), ({ head }) => nameOf(head))
  const sources = new Map<string, MessageSource[]>()
  for (const [head, merged] of byHead) {
    const ids = merged.slice(0, SOURCES_MAX - 1).map(({ member }) => member.reportId)
    const analyses = await listPackedAnalyses(db, ids)
    const sourceOf = new Map<string, MessageSource>()
    for (const { id, encoding, content } of analyses) {
      const json = (await unpack({ encoding, content })).toString()
      const source = messageSourceOf(JSON.parse(json) as PlainAnalysis)
      if (source) sourceOf.set(id, source)
    }
    sources.set(
      head,
      ids.flatMap((id) => sourceOf.get(id) ?? []),
    )
  }
  return sources
}
