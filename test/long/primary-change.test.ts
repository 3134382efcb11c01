import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { until } from '../support/process.ts'
import { startSmtpSink } from '../support/smtp-sink.ts'
import { keepReplicated } from '../support/torture/line-databases.ts'
import { startLine } from '../support/torture/line.ts'
import { startReporters } from '../support/torture/reporters.ts'
import { settle, untilStored } from '../support/torture/settle.ts'
import { addAccounts, examineSeeded } from '../support/torture/torture-reports.ts'

const FOLLOWED_MS_MAX = 30_000

test('when a standby becomes the primary, all processes follow and nothing is lost', async () => {
  const startedAt = new Date()
  const sink = await closeAfterThisTest(startSmtpSink())
  const line = await closeAfterThisTest(startLine(sink.url, { openDatabase: keepReplicated }))
  const accounts = await addAccounts(line.pool)
  await line.untilReady()
  const reporters = startReporters(line.url, accounts, { seed: 1, clockErrorMs: 0 })
  await wait(5_000)
  await line.kill('primary')
  const promotedAt = Date.now()
  const before = new Set(reporters.ledger.told.keys())
  const isFollowed = async () => {
    const since = [...reporters.ledger.told.keys()].filter((id) => !before.has(id))
    const { rows } = await line.pool.query(
      `select from reports where id = any($1::uuid[]) and state not in ('received', 'retracted')`,
      [since],
    )
    return rows.length > 0 || undefined
  }
  await until('a report that was analyzed after the change', isFollowed, FOLLOWED_MS_MAX)
  expect(Date.now() - promotedAt).toBeLessThan(FOLLOWED_MS_MAX)
  await reporters.stop()
  await untilStored(line.pool, reporters.ledger)
  await settle(line.pool)
  const { faults, accepted } = await examineSeeded(line.pool, reporters.ledger, startedAt)
  expect(accepted).toBeGreaterThan(20)
  expect(faults).toEqual([])
  expect(line.surprises).toEqual([])
})
