import { expect, test } from 'vitest'
import { type Chunk, createLine, type Outcome } from '../../../src/parsing/chunk-line.ts'
import { until } from '../../support/process.ts'

/** A line of numbers, whose chunks run until they are ended. */
function line(companyMs: number) {
  const running: { tasks: readonly number[]; end: () => void }[] = []
  const fast = ({ tasks }: Chunk<number>) =>
    new Promise<Outcome<number>[]>((resolve) => {
      running.push({ tasks, end: () => resolve(tasks.map((made) => ({ made }))) })
    })
  const run = createLine<number, number>({
    ...{ places: 2, fast, slow: fast, slowAttempts: (task) => [task], bytesOf: () => 1, companyMs },
  })
  const started = () => running.map(({ tasks }) => tasks)
  const isStarted = (chunks: number) => until('a chunk', () => running[chunks - 1])
  return { run, running, started, isStarted }
}

const seconds = 1_000
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('fewer tasks than run wait for others, and are sent together when a chunk ends', async () => {
  const { run, running, started, isStarted } = line(60 * seconds)
  const made = [run(1), run(2), run(3)]
  await isStarted(1)
  for (const task of [4, 5]) {
    made.push(run(task))
    await turn()
    await turn()
  }
  expect(started()).toEqual([[1, 2, 3]])
  running[0]?.end()
  await isStarted(2)
  expect(started()).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
  running[1]?.end()
  expect(await Promise.all(made)).toEqual([1, 2, 3, 4, 5])
})

test('as many tasks as run do not wait for others', async () => {
  const { run, started, isStarted } = line(60 * seconds)
  void run(1)
  void run(2)
  await isStarted(1)
  void run(3)
  void run(4)
  await isStarted(2)
  expect(started()).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('a chunk is never larger than eight tasks', async () => {
  const { run, started, isStarted } = line(60 * seconds)
  for (let task = 1; task <= 17; task++) void run(task)
  await isStarted(2)
  expect(started()).toEqual([
    [1, 2, 3, 4, 5, 6, 7, 8],
    [9, 10, 11, 12, 13, 14, 15, 16],
  ])
})

test('a task waits no longer for others than the line says', async () => {
  const { run, started, isStarted } = line(20)
  void run(1)
  void run(2)
  await isStarted(1)
  void run(3)
  await isStarted(2)
  expect(started()).toEqual([[1, 2], [3]])
})

test('without a wait, the waiting tasks are divided among the free places', async () => {
  const { run, started, isStarted } = line(0)
  for (const task of [1, 2, 3, 4]) void run(task)
  await isStarted(2)
  expect(started()).toEqual([
    [1, 2],
    [3, 4],
  ])
})
