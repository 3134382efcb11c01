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

test('the answers come in the order of the questions, and each is asked once', async () => {
  const { ask, asked } = memory({ keysMax: 10, freshMs: 100 })
  expect(await ask('b', 'a', 'b')).toEqual(['B', 'A', 'B'])
  expect(await ask('a', 'c')).toEqual(['A', 'C'])
  expect(asked).toEqual([['b', 'a'], ['c']])
})

test('what is no longer fresh is asked again', async () => {
  const { ask, asked, later } = memory({ keysMax: 10, freshMs: 100 })
  await ask('a')
  later(99)
  await ask('a')
  later(1)
  await ask('a')
  expect(asked).toEqual([['a'], ['a']])
})

test('what was answered by a clock that has since been put back is asked again', async () => {
  const { ask, asked, later } = memory({ keysMax: 10, freshMs: 100 })
  await ask('a')
  later(-3_600_000)
  await ask('a')
  expect(asked).toEqual([['a'], ['a']])
})

test('the oldest are forgotten first', async () => {
  const { ask, asked } = memory({ keysMax: 2, freshMs: 100 })
  await ask('a', 'b', 'c')
  expect(await ask('c', 'b', 'a')).toEqual(['C', 'B', 'A'])
  expect(asked).toEqual([['a', 'b', 'c'], ['a']])
})

test('what could not be asked is not remembered', async () => {
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
