import type { Clock, DnsAnswer } from '../world.ts'

/** Answers of the DNS, kept for a time; what was not asked for longest goes first. */
export type AnswerCache = {
  get: (question: string) => DnsAnswer | undefined
  put: (question: string, answer: DnsAnswer, lifeMs: number) => void
}

type Kept = { answer: DnsAnswer; until: number; bytes: number }

/** What an entry costs besides its text, roughly as V8 lays it out. */
const ENTRY_BYTES = 200

/** A cache that holds at most so many answers, and about so many bytes. */
export function createAnswerCache(
  clock: Clock,
  limits: { entriesMax: number; bytesMax: number },
): AnswerCache {
  const kept = new Map<string, Kept>()
  let held = 0

  function drop(question: string): void {
    held -= kept.get(question)?.bytes ?? 0
    kept.delete(question)
  }

  return {
    get(question) {
      const found = kept.get(question)
      if (!found) return undefined
      kept.delete(question)
      if (found.until > clock().getTime()) {
        // A Map keeps the order of insertion: the most recent stands last.
        kept.set(question, found)
        return found.answer
      }
      held -= found.bytes
      return undefined
    },
    put(question, answer, lifeMs) {
      drop(question)
      const bytes = ENTRY_BYTES + question.length + bytesOf(answer)
      if (bytes > limits.bytesMax) return
      kept.set(question, { answer, until: clock().getTime() + lifeMs, bytes })
      held += bytes
      for (const oldest of kept.keys()) {
        if (kept.size <= limits.entriesMax && held <= limits.bytesMax) break
        drop(oldest)
      }
    },
  }
}

function bytesOf(answer: DnsAnswer): number {
  if (answer.is === 'unknown') return answer.why.length
  if (answer.is === 'none') return 0
  return answer.records.reduce((sum, record) => sum + ENTRY_BYTES / 4 + record.length, 0)
}
