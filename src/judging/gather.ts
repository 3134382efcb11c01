/**
 * Makes work that takes many at once out of calls for one: while as many rounds as there are
 * `lanes` are under way, what is asked meanwhile gathers for the next. A round that fails fails for
 * all who are in it.
 */
export function gathered<Question, Answer>(
  work: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  lanes: number,
): (question: Question) => Promise<Answer> {
  type Waiting = {
    question: Question
    resolve: (answer: Answer) => void
    reject: (error: unknown) => void
  }
  let line: Waiting[] = []
  let free = lanes

  async function round(waiting: readonly Waiting[]): Promise<void> {
    try {
      const answers = await work(waiting.map(({ question }) => question))
      if (answers.length !== waiting.length) throw new Error('Not every question was answered.')
      waiting.forEach(({ resolve }, index) => resolve(answers[index] as Answer))
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    } finally {
      free++
      begin()
    }
  }

  function begin(): void {
    if (free === 0 || line.length === 0) return
    free--
    const waiting = line
    line = []
    void round(waiting)
  }

  return (question) =>
    new Promise((resolve, reject) => {
      line.push({ question, resolve, reject })
      begin()
    })
}
