import { phrase } from '../../../src/phrase.ts'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import type { DnsFindings } from '../../../src/origin/authenticity/dns-findings.ts'
import { insertAnalyses, type StoredJudgment } from '../../../src/db/analyses.ts'
import { pack } from '../../../src/db/rows.ts'
import type { Db } from '../../../src/db/pool.ts'
import { emptyFacts, packFacts } from '../../../src/verdict/facts/facts.ts'

/** Stores an analysis of a report, with the decision to notify no one. */
export async function keepAnalysis(
  db: Db,
  id: string,
  raw: Buffer,
  dns?: DnsFindings,
): Promise<void> {
  const options = { trustedRelays: [], ignoreStamps: false }
  const analysis = await analyzeMessage(raw, dns ? { ...options, dns } : options)
  const judgment: StoredJudgment = {
    verdict: { class: 'spam', score: 5, symbols: [] },
    complaint: {
      kind: 'spam',
      manner: 'plain',
      isRelayed: false,
      score: 5,
      scoreMin: 1,
      isConfirmed: false,
    },
    consequence: { action: 'keep', why: [phrase('network-unknown')] },
  }
  await insertAnalyses(db, [
    {
      id,
      analyzedAt: new Date(),
      originIp: analysis.origin?.ip ?? null,
      originConfidence: analysis.origin?.confidence ?? null,
      network: null,
      verdictClass: 'spam',
      verdictScore: 5,
      subject: analysis.headers.subject,
      judgment,
      packed: await pack(Buffer.from(JSON.stringify(analysis))),
      facts: packFacts(emptyFacts()),
    },
  ])
}
