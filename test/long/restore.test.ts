import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { makePlace, untilRunning } from '../support/instance.ts'
import { spamMessage } from '../support/messages.ts'
import { runProgram, until } from '../support/process.ts'
import { apiClient, basic } from '../support/reporter.ts'

const REPORTS = 60

test('a restored backup has every report, and runs each lost job once', async () => {
  const first = await closeAfterThisTest(makePlace())
  const program = await untilRunning(first.start())
  const { admin } = await first.accounts()
  const client = apiClient(first.url, basic(admin))
  const ids: string[] = []
  const reportSome = async (mark: string) => {
    for (let number = 0; number < REPORTS; number++) {
      ids.push((await client.post(spamMessage(`${mark}-${number}`))).id)
    }
  }
  await reportSome('before')
  const inBackup = [...ids]
  // While the service runs: jobs wait, and others are in progress.
  const [made] = await Promise.all([runProgram(['backup'], first.env), reportSome('after')])
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Wrote [\d,]+ rows to /) })
  const folder = path.join(first.dataDir, 'backups')
  const [file = ''] = await readdir(folder)
  await program.stop()

  const second = await closeAfterThisTest(makePlace())
  await mkdir(second.dataDir, { recursive: true })
  await copyFile(path.join(first.dataDir, 'secret'), path.join(second.dataDir, 'secret'))
  const restored = await runProgram(['restore', path.join(folder, file)], second.env)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  const again = await runProgram(['restore', path.join(folder, file)], second.env)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already contains')])

  const running = await untilRunning(second.start())
  const other = apiClient(second.url, basic(admin))
  const db = new pg.Client(await readFile(path.join(second.dataDir, 'database.url'), 'utf8'))
  await db.connect()
  try {
    await until('all analyses', async () => {
      const { rows: left } = await db.query(`select id from reports where state = 'received'`)
      return left.length === 0 || undefined
    })
    for (const id of inBackup) {
      const { timeline } = await other.get(id)
      expect(timeline.filter(({ event }) => event === 'analyzed')).toHaveLength(1)
    }
    const { rows } = await db.query<{ reports: string; counted: string }>(`
      select (select count(*) from reports) as reports,
        (select count(*) from analyses) as counted`)
    const [{ reports, counted } = { reports: '', counted: '' }] = rows
    expect(Number(reports)).toBeGreaterThanOrEqual(REPORTS)
    expect(Number(counted)).toBeGreaterThanOrEqual(REPORTS)
  } finally {
    await db.end()
  }
  await running.stop()
})
