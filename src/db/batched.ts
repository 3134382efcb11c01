type BatchOptions<Question> = {
  /** The number of batches that run in parallel. */
  lanes: number
  /** Returns how many of the waiting calls the next batch takes, at least one; default: all. */
  fill?: (waiting: readonly Question[]) => number
}

/**
 * Returns a function that answers single questions by calling `work` with many of them. Calls in
 * one turn of the event loop are combined into a batch; while all lanes are busy, calls wait for
 * the next batch. An answer may be a promise. An error of a batch rejects all of its calls.
 */
export function batched<Question, Answer>(
  work: (questions: readonly Question[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { lanes, fill }: BatchOptions<Question>,
): (question: Question) => Promise<Answer> {
  type Waiting = PromiseWithResolvers<Answer> & { question: Question }
  const line: Waiting[] = []
  let free = lanes

  async function run(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await work(batch.map(({ question }) => question))
      if (answers.length !== batch.length) throw new Error('Not every query was answered.')
      batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      free++
      begin()
    }
  }

  function begin(): void {
    if (free === 0 || line.length === 0) return
    free--
    const count = fill?.(line.map(({ question }) => question)) ?? line.length
    void run(line.splice(0, count))
  }

  return (question) => {
    const waiting = { ...Promise.withResolvers<Answer>(), question }
    line.push(waiting)
    queueMicrotask(begin)
    return waiting.promise
  }
}
