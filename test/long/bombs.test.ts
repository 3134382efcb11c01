import { expect, test } from 'vitest'
import { measureBombs } from '../../scripts/bench/bombs.ts'
import { isRunning, startParent } from '../support/reading-parent.ts'
import { until } from '../support/process.ts'

// A short form of `npm run bench bombs`, which also prints the times.
test('other mail gets its verdict while files arrive that are expensive to read', async () => {
  const { check, work } = await measureBombs({ seconds: 15, others: 200, bombs: 100 })
  expect(check.beside.bombs).toBeGreaterThan(5)
  expect([check.without.unanswered, check.beside.unanswered]).toEqual([0, 0])
  expect([work.without.unanswered, work.beside.unanswered]).toEqual([0, 0])
  expect(work.beside.ms.max).toBeLessThan(work.without.ms.max + 2_000)
  expect(Math.max(check.beside.megabytes, work.beside.megabytes)).toBeLessThan(700)
})

test('a process that reads a hostile file ends after its parent, without its help', async () => {
  const { parent, pid } = await startParent('busy')
  expect(isRunning(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until('the process ends', () => !isRunning(pid))
})
