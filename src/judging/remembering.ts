import type { Clock } from '../world.ts'

/** How much is remembered, and for how long it may be told again. */
export type MemoryLimits = { keysMax: number; freshMs: number }

/** A question, and the key under which its answer is remembered. */
export type Keyed<Question, Key = string> = { key: Key; question: Question }

/**
 * Asks only what was not answered lately, each once; answers come in the order of the questions.
 * What was answered first is forgotten first.
 */
export function remembering<Question, Answer, Key extends string | bigint = string>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  clock: Clock,
  { keysMax, freshMs }: MemoryLimits,
): (keyed: readonly Keyed<Question, Key>[]) => Promise<Answer[]> {
  const memory = new Map<Key, { answer: Answer; readAt: number }>()

  return async (keyed) => {
    const now = clock().getTime()
    const answers = new Map<Key, Answer>()
    const missing = new Map<Key, Question>()
    for (const { key, question } of keyed) {
      const known = memory.get(key)
      if (known && Math.abs(now - known.readAt) < freshMs) answers.set(key, known.answer)
      else missing.set(key, question)
    }
    const learned = missing.size > 0 ? await ask([...missing.values()]) : []
    ;[...missing.keys()].forEach((key, index) => {
      const answer = learned[index] as Answer
      answers.set(key, answer)
      memory.delete(key)
      memory.set(key, { answer, readAt: now })
    })
    for (const key of memory.keys()) {
      if (memory.size <= keysMax) break
      memory.delete(key)
    }
    return keyed.map(({ key }) => answers.get(key) as Answer)
  }
}
