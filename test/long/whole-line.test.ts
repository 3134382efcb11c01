import { expect, onTestFailed, test } from 'vitest'
import { tortureReports } from '../support/torture/torture-reports.ts'

const KILLS = 5

test('each report counts once, and not after a retraction, whatever is killed', async () => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)
  console.info(`whole line: KILL_SEED=${seed}`)
  const said: string[] = []
  onTestFailed(() => console.info(said.join('\n')))
  const done = await tortureReports({ kills: KILLS, seed, say: (line) => said.push(line) })
  expect(done.faults.slice(0, 20)).toEqual([])
  expect(done.kills.length).toBeGreaterThanOrEqual(KILLS)
  expect(done.retracted).toBeGreaterThan(done.neverCounted)
  expect(done.analyzedTwice).toBeGreaterThan(0)
  expect(done.mail.sent).toBeGreaterThan(0)
  expect(done.compared.slots).toBeGreaterThan(1_000)
})
