import { forwardReport, sendLetter } from '../../queue/queues.ts'
import type { MailNow } from '../mail-now.ts'
import type { QueueState } from '../queues-now.ts'
import { shownDuration } from './shown-duration.ts'

/** How the queues fare, in a sentence, and how worrying it is. */
export type HealthWord = { tone: 'good' | 'warn' | 'bad'; sentence: string }

const WAIT_WARN_SECONDS = 30
const WAIT_BAD_SECONDS = 300

/** Mail that is due for so long does not leave as it should. */
const MAIL_LATE_SECONDS = 900

/**
 * Whether mail leaves: not while our own mail server takes none, or none is set; nor well when the
 * oldest mail has been due for a while. Undefined: it leaves.
 */
export function mailWord(
  queues: readonly QueueState[],
  { relay }: Pick<MailNow, 'relay'>,
  { isHeld, now }: { isHeld: boolean; now: Date },
): HealthWord | undefined {
  if (isHeld) return { tone: 'warn', sentence: 'Outgoing mail is held: SMTP_URL is not set.' }
  if (relay.refusedSince) {
    const since = shownDuration((now.getTime() - relay.refusedSince.getTime()) / 1000)
    const sentence = `Mail does not leave: our own mail server has taken none for ${since}.`
    return { tone: 'bad', sentence }
  }
  const names = [forwardReport.name, sendLetter.name]
  const ages = queues.filter(({ name }) => names.includes(name))
  const oldest = Math.max(0, ...ages.map(({ oldestJobSeconds }) => oldestJobSeconds))
  if (oldest < MAIL_LATE_SECONDS) return undefined
  return { tone: 'warn', sentence: `Mail has been waiting to leave for ${shownDuration(oldest)}.` }
}

/** The worst of several; of equals the first. */
export function worstOf(words: readonly (HealthWord | undefined)[]): HealthWord | undefined {
  const ranks = ['bad', 'warn', 'good'] as const
  return ranks.map((tone) => words.find((word) => word?.tone === tone)).find(Boolean)
}

/** Looks at the longest wait first: a long queue that moves is well, one that stands is not. */
export function healthWord(queues: readonly QueueState[], deadLetterName: string): HealthWord {
  const worked = queues.filter(({ name }) => name !== deadLetterName)
  const dead = queues.find(({ name }) => name === deadLetterName)?.ready ?? 0
  const slowest = worked.toSorted((a, b) => b.longestWaitSeconds - a.longestWaitSeconds)[0]
  const wait = slowest?.longestWaitSeconds ?? 0
  if (slowest && wait >= WAIT_BAD_SECONDS) {
    const stands = `${slowest.name} has not moved for ${shownDuration(wait)}.`
    return { tone: 'bad', sentence: `${stands} Are workers running?` }
  }
  if (slowest && wait >= WAIT_WARN_SECONDS) {
    const sentence = `${slowest.name} is behind: its first job has waited ${shownDuration(wait)}.`
    return { tone: 'warn', sentence }
  }
  if (dead > 0) {
    const jobs = dead === 1 ? '1 job has' : `${dead} jobs have`
    return { tone: 'warn', sentence: `The queues move, but ${jobs} ended as dead letters.` }
  }
  return { tone: 'good', sentence: 'All is well: the queues move and there are no dead letters.' }
}
