import type { Db } from '../../db/pool.ts'
import { suppress } from '../../db/suppressions.ts'
import { stopConsumer } from '../../feedback/stop-consumer.ts'
import type { FeedbackFields } from '../../mail/feedback-report.ts'
import type { Match } from './match-mail.ts'

/** Types of RFC 5965 §7.3 and RFC 6430 that complain of nothing. */
const harmless = new Set(['not-spam', 'auth-failure', 'dmarc'])

/**
 * Obeys a complaint about a mail of ours (RFC 5965), and returns what was done in a sentence: who
 * complained is not written to again, at once and for good. A person looks at each. One that names
 * a feedback report by its Message-ID alone is left to that person: its reporter knows that too,
 * and could silence a desk.
 */
export async function keepComplaint(
  tx: Db,
  match: Match | undefined,
  complaint: FeedbackFields | undefined,
  at: Date,
): Promise<string> {
  const type = complaint?.fields.find(([name]) => name.toLowerCase() === 'feedback-type')?.[1]
  if (harmless.has((type ?? '').trim().toLowerCase())) return 'It complains of nothing.'
  if (!match) return 'It is about no mail of ours that is known: see what it is.'
  const { feedback, letter } = match
  const detail = 'Complained of our mail in a feedback report.'
  if (feedback && !match.isSigned) {
    return 'Only a Message-ID says what it is about, which others know too: see what it is.'
  }
  if (feedback) {
    await stopConsumer(tx, feedback.consumerId, { why: detail, reason: 'complaint' }, at)
    return 'The consumer was stopped, and its address is suppressed.'
  }
  if (!letter) return 'What it is about is no longer kept.'
  const { address } = letter
  const suppression = { address, status: null, detail, since: at, until: null }
  await suppress(tx, { ...suppression, reason: 'complaint' })
  return 'The address is suppressed: no letter goes there any more.'
}
