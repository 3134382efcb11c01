import { inTransaction, type Pool } from '../../src/db/pool.ts'
import { insertKarma } from '../../src/db/reputations.ts'
import { appendEvidence, WHOLE_PART } from '../../src/counting/evidence.ts'
import { foldParts } from '../../src/counting/fold-evidence.ts'
import { createReputationReader, readStandings } from '../../src/counting/reputation-reader.ts'
import type { ReportEvidence } from '../../src/verdict/reputation/evidence.ts'
import type { Reputation } from '../../src/verdict/reputation/reputation.ts'
import type { Subject } from '../../src/verdict/reputation/subject.ts'
import { uuidv7 } from '../../src/world.ts'

/** The time at which these tests start. */
export const start = new Date('2026-11-20T12:00:00Z')

/** Returns the time `days` days after the start. */
export function daysLater(days: number): Date {
  return new Date(start.getTime() + days * 86_400_000)
}

/** Creates reporters whom an operator trusts; returns their ids. */
export async function vouchedReporters(pool: Pool, count: number): Promise<string[]> {
  const ids = newcomers(count)
  for (const reporterId of ids) {
    await insertKarma(pool, { reporterId, isVouched: true, now: start })
  }
  return ids
}

/** Returns ids of reporters without any history. */
export function newcomers(count: number): string[] {
  return Array.from({ length: count }, () => uuidv7(start))
}

/** Returns the karma of reporters by id. */
export async function readKarmas(
  pool: Pool,
  reporterIds: readonly string[],
  at: Date,
): Promise<Map<string, number>> {
  const standings = await readStandings(pool, reporterIds, at)
  return new Map([...standings].map(([id, { karma }]) => [id, karma]))
}

/** Returns reports of one message as the analysis produces them, each by a different reporter. */
export async function reportedBy(
  pool: Pool,
  reporterIds: readonly string[],
  message: Pick<ReportEvidence, 'subjects'> & Partial<ReportEvidence>,
): Promise<ReportEvidence[]> {
  const at = message.at ?? start
  const standings = await readStandings(pool, reporterIds, at)
  return reporterIds.map((reporterId) => ({
    reportId: uuidv7(at),
    reporterId,
    sourceId: standings.get(reporterId)?.sourceId ?? reporterId,
    karma: standings.get(reporterId)?.karma ?? 0,
    isVouched: standings.get(reporterId)?.isVouched ?? false,
    reportedAs: 'spam',
    verdict: { class: 'spam', confidence: 0.95 },
    support: 0,
    campaignId: undefined,
    at,
    ...message,
  }))
}

/** Appends reports in one transaction, like a batch of analyses. */
export async function append(pool: Pool, reports: readonly ReportEvidence[], now = start) {
  await inTransaction(pool, (tx) => appendEvidence(tx, reports, now))
}

/** Folds until no evidence is left to fold. */
export async function foldAll(pool: Pool, now = start): Promise<void> {
  for (let part = 0; part <= WHOLE_PART; part++) {
    while (((await foldParts(pool, [part], now))?.rows ?? 0) > 0);
  }
}

/** Returns the reputation of a subject at a given time. */
export async function standing(pool: Pool, subject: Subject, now = start): Promise<Reputation> {
  const reader = createReputationReader({ pool, clock: () => now })
  const [reputation] = await reader.read([subject])
  if (!reputation) throw new Error('The reader gave no answer.')
  return reputation
}
