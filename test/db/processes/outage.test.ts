import { readdir, rm } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { createPool } from '../../../src/db/pool.ts'
import { receive } from '../../../src/processes/receive/receive.ts'
import { makeMailInAddress } from '../../../src/reports/take-mailed.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { makeScratchFolder } from '../../support/scratch-folder.ts'
import { layWire } from '../web/cut-wire.ts'
import { freshMail, keptFor, ready, returnPath } from './listener.ts'

const folder = await makeScratchFolder('mail-outage')
const app = await closeAfterTests(openTestApp())
const url = new URL(app.database.url)
const wire = await layWire(Number(url.port))
url.host = `127.0.0.1:${wire.port}`
const wired = { connectionsMax: 2, name: 'receive', onLost: () => undefined }
const pool = createPool(url.href, wired)
const config = {
  ...app.config,
  databaseUrl: url.href,
  receivePort: 0,
  spool: { folder, bytesMax: 1_000_000 },
}
const listener = await receive({ ...app, pool, config })
afterAll(async () => {
  await listener.close()
  await pool.end()
  await wire.cut()
  await rm(folder, { recursive: true })
})

async function deliver(rcptTo: string, raw: string): Promise<string[]> {
  const talk = await ready(listener.port, [rcptTo])
  const replies = await talk.mail(raw)
  talk.end()
  return replies
}

test('without the database, mail from reporters is stored once, other mail deferred', async () => {
  const reporting = await makeMailInAddress(app, app.ann)
  const mail = freshMail()
  expect(await deliver(reporting, mail)).toEqual([expect.stringMatching(/^250 /)])
  await wire.cut()
  try {
    expect(await deliver(reporting, mail)).toEqual([expect.stringMatching(/^250 /)])
    expect(await deliver(reporting, freshMail())).toEqual([expect.stringMatching(/^250 /)])
    expect(await deliver(returnPath(app), freshMail())).toEqual([expect.stringMatching(/^451 /)])
    expect(await readdir(folder)).toHaveLength(2)
  } finally {
    await wire.mend()
  }
  await expect.poll(() => keptFor(app, reporting)).toHaveLength(2)
  // The known callers are deleted, too, since the database knows them again.
  await expect.poll(() => readdir(folder)).toEqual([])
  const jobs = await app.rows(`select count(*) from pgboss.job where name = 'take-mailed'`)
  expect(jobs).toEqual([{ count: 2 }])
})
