import { expect, test } from 'vitest'
import { batched } from '../../../src/db/batched.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Creates a batched function. Each of its rounds ends when the test ends it. */
function work(lanes: number) {
  const rounds: { questions: readonly number[]; end: (answers?: readonly string[]) => void }[] = []
  const ask = batched<number, string>(
    (questions) =>
      new Promise((resolve) => {
        const usual = questions.map((question) => `answer ${question}`)
        rounds.push({ questions, end: (answers = usual) => resolve(answers) })
      }),
    { lanes },
  )
  return { ask, rounds, asked: () => rounds.map(({ questions }) => questions) }
}

test('queries of one turn go into one round', async () => {
  const { ask, rounds, asked } = work(2)
  const answers = [1, 2, 3].map(ask)
  await turn()
  expect(asked()).toEqual([[1, 2, 3]])
  rounds[0]?.end()
  expect(await answers[2]).toBe('answer 3')
})

test('a round takes no more than fits, and an answer may fail alone', async () => {
  const asked: (readonly number[])[] = []
  const ask = batched<number, number>(
    (questions) => {
      asked.push(questions)
      return Promise.resolve(
        questions.map((one) => (one === 2 ? Promise.reject(new Error('It is 2.')) : one)),
      )
    },
    { lanes: 1, fill: () => 2 },
  )
  const answers = await Promise.allSettled([1, 2, 3].map(ask))
  expect(asked).toEqual([[1, 2], [3]])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('queries that arrive while all lanes are busy go into one round', async () => {
  const { ask, rounds, asked } = work(2)
  const answers: Promise<string>[] = []
  for (const question of [1, 2, 3, 4, 5]) {
    answers.push(ask(question))
    await turn()
  }
  expect(asked()).toEqual([[1], [2]])
  rounds[0]?.end()
  expect(await answers[0]).toBe('answer 1')
  expect(asked()).toEqual([[1], [2], [3, 4, 5]])
  rounds[2]?.end()
  rounds[1]?.end()
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5].map((one) => `answer ${one}`))
})

test('a round that fails fails for all its queries, and for no others', async () => {
  let rounds = 0
  const ask = batched<number, number>(
    (questions) => {
      rounds++
      if (questions.includes(2)) return Promise.reject(new Error('The database is away.'))
      return Promise.resolve(questions)
    },
    { lanes: 1 },
  )
  const first = ask(1)
  await turn()
  const answers = await Promise.allSettled([first, ...[2, 3].map(ask)])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(await ask(4)).toBe(4)
  expect(rounds).toBe(3)
})

test('a missing answer fails the round, so that answers are never mixed up', async () => {
  const { ask, rounds } = work(1)
  const answer = ask(1)
  await turn()
  rounds[0]?.end([])
  await expect(answer).rejects.toThrow('Not every query was answered.')
})
