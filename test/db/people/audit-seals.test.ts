import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import type { App } from '../../../src/app.ts'
import { insertAudit } from '../../../src/db/audit-log.ts'
import { runSealAudit, verifyAudit } from '../../../src/people/audit-seals.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase, isDistributed } from '../../support/database.ts'
import { ringOf } from '../../support/key-ring.ts'

const { pool } = await closeAfterTests(freshDatabase())
const HOUR_MS = 3_600_000
let now = new Date()
const start = now

const app = {
  pool,
  clock: () => now,
  config: { secret: ringOf('a secret of the tests, long enough'), retentionDays: 400 },
  log: pino({ level: 'silent' }),
} as unknown as App

const write = (detail: string) =>
  insertAudit(pool, { at: now, reporterId: null, action: 'purge', detail })

/** Changes the log as a superuser can. */
const tamper = (change: string) => pool.query(change)

/** Three hours with two entries each, sealed after each hour. */
beforeEach(async () => {
  await pool.query('truncate audit_log, audit_seals')
  now = start
  for (let hour = 0; hour < 3; hour++) {
    await write(`${hour} a`)
    await write(`${hour} b`)
    now = new Date(now.getTime() + HOUR_MS)
    await runSealAudit(app)
  }
})

test('an untouched log is intact since its first seal', async () => {
  expect(await verifyAudit(app)).toMatchObject({ seals: 3, entries: 6, faults: [] })
  expect((await verifyAudit(app)).since).toBeInstanceOf(Date)
})

// Citus refuses another role in a transaction that changed tables.
test.skipIf(isDistributed)(
  'the owner of the tables may add entries, but neither change nor delete them',
  async () => {
    const name = `owner_${process.pid}`
    const client = await pool.connect()
    for (const change of [`update audit_log set detail = 'x'`, 'delete from audit_log']) {
      await client.query(`begin; create role ${name}; grant all on schema public to ${name};
      alter table audit_log owner to ${name}; set local role ${name}`)
      await client.query('select count(*) from audit_log')
      await expect(client.query(change)).rejects.toThrow('permission denied for table audit_log')
      await client.query('rollback')
    }
    client.release()
  },
)

test.for([
  [`delete from audit_log where detail = '1 a'`, 'Seal 2,', '1 entries were removed.'],
  [`update audit_log set detail = 'x' where detail = '1 a'`, 'Seal 2,', 'was changed.'],
  [`update audit_log set reporter_id = id where detail = '1 a'`, 'Seal 2,', 'was changed.'],
  ['delete from audit_seals where number = 2', 'Seal 3,', 'the seal before it is missing.'],
  ['update audit_seals set entries = 1, seal = seal where number = 2', 'Seal 2,', 'added later.'],
  ['update audit_seals set previous = null where number = 3', 'Seal 3,', 'does not follow'],
] as const)('after "%s" the check fails', async ([change, where, reason]) => {
  await tamper(change)
  const { faults } = await verifyAudit(app)
  expect(faults).toHaveLength(1)
  expect(faults[0]).toContain(where)
  expect(faults[0]).toContain(reason)
})

test('after a broken seal the log is intact since the next one', async () => {
  await tamper(`delete from audit_log where detail = '0 a'`)
  const { since, faults } = await verifyAudit(app)
  expect(faults).toHaveLength(1)
  expect(since?.getTime()).toBeGreaterThan(start.getTime())
})

test('who has the database but not the secret cannot seal a changed log', async () => {
  await tamper(`delete from audit_log where detail = '2 b'; truncate audit_seals`)
  await runSealAudit({ ...app, config: { ...app.config, secret: ringOf('another secret') } })
  expect((await verifyAudit(app)).faults[0]).toContain('was changed.')
})

test('two processes that seal at the same time make one seal', async () => {
  await write('late')
  now = new Date(now.getTime() + HOUR_MS)
  await Promise.all([runSealAudit(app), runSealAudit(app)])
  expect(await verifyAudit(app)).toMatchObject({ seals: 4, entries: 7, faults: [] })
})

test('entries that the retention deleted are no fault', async () => {
  await tamper(`delete from audit_log where detail like '0 %'`)
  now = new Date(now.getTime() + 401 * 24 * HOUR_MS)
  expect(await verifyAudit(app)).toMatchObject({ faults: [] })
})
