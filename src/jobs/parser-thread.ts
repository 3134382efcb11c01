import { analyzeMessage, type Analysis } from '../analysis/analyze.ts'
import { pack, unpack } from '../db/packed.ts'
import { composeFeedback } from './feedback-content.ts'
import {
  type AnalysisDigest,
  asBuffers,
  type ComposedFeedback,
  type ParserTask,
} from './parser-pool.ts'

/** Runs in a thread of the parser pool: one task, one answer. */
export default async function run(task: ParserTask): Promise<AnalysisDigest | ComposedFeedback> {
  const raw = await unpack(asBuffers(task.packed))
  if (task.work === 'analyze') return analyze(raw, task.trustedRelays)
  const json = (await unpack(asBuffers(task.analysis))).toString()
  const composed = composeFeedback(raw, JSON.parse(json) as Analysis, task.content)
  return { raw: composed, packed: await pack(composed) }
}

async function analyze(raw: Buffer, trustedRelays: readonly string[]): Promise<AnalysisDigest> {
  const analysis = await analyzeMessage(raw, { trustedRelays, ignoreStamps: false })
  const { kind, origin, originObstacle, headers, hops } = analysis
  return {
    kind,
    origin,
    originObstacle,
    subject: headers.subject,
    hasForgedHop: hops.some(({ trust }) => trust === 'forged'),
    packed: await pack(Buffer.from(JSON.stringify(analysis))),
  }
}
