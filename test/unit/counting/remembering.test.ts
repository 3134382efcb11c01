import { expect, test } from 'vitest'
import { remembering } from '../../../src/counting/reputation-reader.ts'

function memory(limits: { keysMax: number; freshMs: number }) {
  const asked: string[][] = []
  let now = 1_000
  const read = remembering<string, string>(
    (questions) => {
      asked.push([...questions])
      return Promise.resolve(questions.map((question) => question.toUpperCase()))
    },
    () => new Date(now),
    limits,
  )
  return {
    asked,
    ask: (...keys: string[]) => read(keys.map((key) => ({ key, question: key }))),
    later: (ms: number) => (now += ms),
  }
}

test('answers come in the order of the queries, and each query is sent once', async () => {
  const { ask, asked } = memory({ keysMax: 10, freshMs: 100 })
  expect(await ask('b', 'a', 'b')).toEqual(['B', 'A', 'B'])
  expect(await ask('a', 'c')).toEqual(['A', 'C'])
  expect(asked).toEqual([['b', 'a'], ['c']])
})

test('an expired answer is queried again', async () => {
  const { ask, asked, later } = memory({ keysMax: 10, freshMs: 100 })
  await ask('a')
  later(99)
  await ask('a')
  later(1)
  await ask('a')
  expect(asked).toEqual([['a'], ['a']])
})

test('an answer is queried again if the clock was set back since', async () => {
  const { ask, asked, later } = memory({ keysMax: 10, freshMs: 100 })
  await ask('a')
  later(-3_600_000)
  await ask('a')
  expect(asked).toEqual([['a'], ['a']])
})

test('the oldest answers are evicted first', async () => {
  const { ask, asked } = memory({ keysMax: 2, freshMs: 100 })
  await ask('a', 'b', 'c')
  expect(await ask('c', 'b', 'a')).toEqual(['C', 'B', 'A'])
  expect(asked).toEqual([['a', 'b', 'c'], ['a']])
})

test('a failed query is not cached', async () => {
  let isAway = true
  const read = remembering<string, string>(
    (questions) =>
      isAway ? Promise.reject(new Error('Away.')) : Promise.resolve(questions.map(() => 'here')),
    () => new Date(),
    { keysMax: 10, freshMs: 1_000 },
  )
  await expect(read([{ key: 'a', question: 'a' }])).rejects.toThrow('Away.')
  isAway = false
  expect(await read([{ key: 'a', question: 'a' }])).toEqual(['here'])
})
