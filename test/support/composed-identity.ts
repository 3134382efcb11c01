import { composeFeedback } from '../../src/parsing/compose-report.ts'
import type { FeedbackContent } from '../../src/parsing/feedback-content.ts'
import { analyzePlainly } from '../../src/pieces/analyze.ts'
import { contentOf } from './feedback-reports.ts'
import { findLeaks, type Leak } from './find-leaks.ts'
import { type Combination, messagesOf, type Reporter } from './identity-forms.ts'

type Changes = Partial<FeedbackContent>

/**
 * Composes the feedback report on a message, for a reporter: the mail, and the line that lists and
 * digests show. Undefined without an origin.
 */
export async function reportOn(
  raw: Buffer,
  reporter: Reporter,
  changes: Changes = {},
): Promise<Buffer | undefined> {
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  if (analysis.origin === null) return undefined
  const content = contentOf(1, { reporter, ...changes })
  const mail = await composeFeedback(raw, analysis, content)
  return Buffer.concat([mail.raw, Buffer.from(`\r\n${JSON.stringify(mail.line)}\r\n`)])
}

export type FoundLeak = Leak & { combination: Combination; message: string }

/** What reports on messages with many combinations reveal. */
export type Findings = {
  combinations: number
  messages: number
  /** Messages without an origin: no one is notified about them. */
  unreported: number
  leaks: FoundLeak[]
}

/** Composes reports on messages with `count` combinations, and searches each. */
export async function searchReports(
  seed: number,
  count: number,
  changes: Changes = {},
): Promise<Findings> {
  const findings: Findings = { combinations: 0, messages: 0, unreported: 0, leaks: [] }
  for (const message of messagesOf(seed, count)) {
    findings.messages++
    const report = await reportOn(message.raw, message.reporter, changes)
    if (report === undefined) {
      findings.unreported++
      continue
    }
    findings.combinations += message.combinations.length
    const leaks = findLeaks(report, message.secrets)
    for (const leak of leaks) {
      const combination = message.combinations[leak.at]
      if (combination !== undefined)
        findings.leaks.push({ ...leak, combination, message: message.name })
    }
  }
  return findings
}

/** Returns how many leaks there are for each key, the most first, as lines. */
export function countLeaks(
  leaks: readonly FoundLeak[],
  keyOf: (combination: Combination) => string,
): string[] {
  const groups = Map.groupBy(leaks, ({ combination }) => keyOf(combination))
  return [...groups]
    .map(([key, list]) => [key, list.length] as const)
    .toSorted(([, a], [, b]) => b - a)
    .map(([key, number]) => `${String(number).padStart(6)}  ${key}`)
}
