import { afterAll, expect, test } from 'vitest'
import { measureBombs } from '../../scripts/bench/bombs.ts'
import { chooseFiles } from '../../src/parsing/files/choose-files.ts'
import { createFileReader } from '../../src/parsing/files/file-reader.ts'
import { type Bomb, bombs, codeOf } from '../support/bombs.ts'
import { pdfFile } from '../support/pdf.ts'
import { isRunning, startParent } from '../support/reading-parent.ts'
import { until } from '../support/process.ts'

// A short form of `npm run bench bombs`, which also prints the times.
test('other mail gets its verdict while files arrive that are expensive to read', async () => {
  const { check, work } = await measureBombs({ seconds: 8, others: 120, bombs: 100 })
  expect(check.beside.bombs).toBeGreaterThan(3)
  expect([check.without.unanswered, check.beside.unanswered]).toEqual([0, 0])
  expect([work.without.unanswered, work.beside.unanswered]).toEqual([0, 0])
  // Most mails do not notice, and one that comes behind all bombs at once waits seconds, not 30.
  expect(work.beside.ms.p50).toBeLessThan(work.without.ms.p50 + 1_000)
  expect(work.beside.ms.max).toBeLessThan(work.without.ms.max + 5_000)
  expect(Math.max(check.beside.megabytes, work.beside.megabytes)).toBeLessThan(700)
})

test('a process that reads a hostile file ends after its parent, without its help', async () => {
  const { parent, pid } = await startParent('busy')
  expect(isRunning(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until('the process ends', () => !isRunning(pid))
})

const reader = createFileReader()
afterAll(() => reader.close())

test.for(bombs().map((bomb): [string, Bomb] => [bomb.name, bomb]))(
  '%s: costs its limit at most, and the code beside it is read',
  async ([name, { file, fault }]) => {
    const start = performance.now()
    const url = `https://a.example/${name.length}`
    const files = [file, codeOf(url), pdfFile({ url: 'https://b.example/' })]
    const attached = files.map((content) => ({ name: undefined, type: 'x/y', content }))
    const chosen = chooseFiles(attached, { needsLook: true })
    const { findings } = await reader.read(chosen, { owner: 'a', waitMs: 60_000 })
    const { links, faults } = findings
    expect(performance.now() - start).toBeLessThan(30_000)
    expect(links.map(({ text }) => text)).toContain(url)
    expect(links.flatMap(({ urls }) => urls)).toContain('https://b.example/')
    if (fault.source === '^none$') expect(faults).toEqual([])
    else if (fault.source !== '.') expect(faults).toEqual([expect.stringMatching(fault)])
    else expect(faults.length).toBeLessThan(2)
  },
)
