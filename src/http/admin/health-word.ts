import type { QueueState } from '../queues-now.ts'
import { shownDuration } from './shown-duration.ts'

/** How the queues fare, in a sentence, and how worrying it is. */
export type HealthWord = { tone: 'good' | 'warn' | 'bad'; sentence: string }

const WAIT_WARN_SECONDS = 30
const WAIT_BAD_SECONDS = 300

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
