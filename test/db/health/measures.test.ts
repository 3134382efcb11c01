import { beforeEach, expect, test } from 'vitest'
import { keepChoreRun } from '../../../src/db/queue-controls.ts'
import { keepHeartbeat, writeTemporary } from '../../../src/db/health.ts'
import { runAction } from '../../../src/actions.ts'
import type { ConditionCode } from '../../../src/health/conditions.ts'
import { noteBackup, setBounds } from '../../../src/health/health-actions.ts'
import type { ProcessFacts } from '../../../src/health/heartbeat.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import { inEnglish } from '../../../src/texts/phrases.ts'
import { uuidv7 } from '../../../src/world.ts'
import { fillSamplesName } from '../../../src/queue/define-queue.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const app = await closeAfterTests(
  openTestApp({ SMTP_URL: 'smtp://mail.test.example', DNS_SERVERS: '192.0.2.53' }),
)
const { pool } = app

/** Reads a condition anew, as another process would. */
async function conditionNow(code: ConditionCode) {
  const { conditions } = await createReadHealth(app)()
  const found = conditions.find((one) => one.code === code)
  if (!found) throw new Error(`${code} is not measured`)
  return { ...found, said: inEnglish(found.reason) }
}

async function beat(name: string, facts: ProcessFacts = {}, now = new Date()) {
  const id = uuidv7(new Date())
  const its = { id, host: 'one.example', name, version: '1.2.3', startedAt: now }
  await keepHeartbeat(pool, { ...its, facts, now })
  return id
}

beforeEach(async () => {
  await pool.query('delete from processes')
})

test('without heartbeats, what only processes know is unknown and not good', async () => {
  for (const code of ['database', 'processes', 'clocks', 'disk', 'dns'] as const) {
    expect(await conditionNow(code)).toMatchObject({ code, level: 'unknown' })
  }
  expect(await conditionNow('backup')).toMatchObject({ level: 'unknown', value: null })
  expect(await conditionNow('mail-leaving')).toMatchObject({ level: 'unknown' })
  expect(await conditionNow('mail-coming-in')).toMatchObject({ level: 'unknown' })
  expect(await conditionNow('networks')).toMatchObject({ level: 'unknown' })
})

test('what the settings switch off is off', async () => {
  expect(await conditionNow('registries')).toMatchObject({ level: 'off' })
  expect(await conditionNow('certificate')).toMatchObject({ level: 'off' })
  expect(await conditionNow('dkim-key')).toMatchObject({ level: 'off' })
})

test('the condition of the database writes a megabyte to a temporary file', async () => {
  const client = await pool.connect()
  const written = async () => {
    await client.query('select pg_stat_force_next_flush()')
    const { rows } = await client.query<{ bytes: number }>(
      'select temp_bytes as bytes from pg_stat_database where datname = current_database()',
    )
    return rows[0]?.bytes ?? 0
  }
  const before = await written()
  await writeTemporary(client)
  expect((await written()) - before).toBeGreaterThan(1_000_000)
  client.release()
})

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

test('a report that waits for analysis ages, also when it is analyzed again', async () => {
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'ok', value: 0 })
  const [report] = await app.reports('waits')
  const id = report?.reportId
  const receivedMinutesAgo = (minutes: number) =>
    pool.query('update reports set received_at = $2 where id = $1', [id, minutesAgo(minutes)])
  await receivedMinutesAgo(3)
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'warning' })
  await pool.query(
    `insert into report_events (report_id, shard, id, at, event, phrases)
     values ($1, shard_of($1), $2, now(), 'changed', '[]')`,
    [id, uuidv7(new Date())],
  )
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'ok' })
  await pool.query('update report_events set at = $1', [minutesAgo(11)])
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'warning' })
  await receivedMinutesAgo(12)
  const late = await conditionNow('reports-analyzed')
  expect(late).toMatchObject({ level: 'critical', said: expect.stringContaining('11 min') })
  // What is dated back by sample data waits from the end of the work that adds it.
  await pool.query(`
    insert into pgboss.job (name, data, state, started_on)
    values ('${fillSamplesName}', '{}', 'active', now() - interval '20 minutes')`)
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'critical' })
  const datedMinutesAgo = async (minutes: number) => {
    await receivedMinutesAgo(minutes)
    await pool.query('update report_events set at = $1', [minutesAgo(minutes)])
  }
  for (const minutes of [5 * 60, 30 * 24 * 60]) {
    await datedMinutesAgo(minutes)
    expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'ok', value: 0 })
  }
  await pool.query(
    `update pgboss.job set state = 'completed', completed_on = now() - interval '3 minutes'
     where name = $1`,
    [fillSamplesName],
  )
  const after = await conditionNow('reports-analyzed')
  expect(after).toMatchObject({ level: 'warning', said: expect.stringContaining('3 min') })
  await pool.query(`delete from pgboss.job where name = '${fillSamplesName}'`)
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'critical' })
  await pool.query(`update reports set state = 'failed'`)
  expect(await conditionNow('reports-analyzed')).toMatchObject({ level: 'ok' })
  expect(await conditionNow('analysis-failed')).toMatchObject({ level: 'warning', value: 1 })
})

test('a refusal of our mail server is shown in its words', async () => {
  await pool.query(`update mail_relay set accepted_at = now()`)
  expect(await conditionNow('mail-leaving')).toMatchObject({ level: 'ok' })
  await pool.query(
    `update mail_relay set refused_since = now() - interval '10 seconds', reply = '554 <no>'`,
  )
  const refused = await conditionNow('mail-leaving')
  expect(refused).toMatchObject({ level: 'warning', action: 'outbox retry' })
  expect(refused.said).toContain('554 <no>')
  // It is a warning after ten seconds.
  const { rows } = await pool.query<{ at: Date }>('select refused_since as at from mail_relay')
  expect(Number(refused.since) - Number(rows[0]?.at)).toBeCloseTo(10_000, -1)
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const seen = { watched: { 'mail-leaving': { badSince: minutesAgo(5).toISOString() } } }
  await pool.query('update alarm_watch set state = $1', [JSON.stringify(seen)])
  // The alarms saw it bad before, with an earlier refusal.
  const before = Number((await conditionNow('mail-leaving')).since)
  expect(Math.abs(before - minutesAgo(5).getTime())).toBeLessThan(20_000)
  await pool.query('update alarm_watch set state = null')
  await pool.query(`update mail_relay set refused_since = now() - interval '2 minutes'`)
  expect(await conditionNow('mail-leaving')).toMatchObject({ level: 'critical' })
  await pool.query(`update mail_relay set refused_since = null, reply = null`)
})

/** Stores feedback reports to a consumer in a state, first owed some minutes ago. */
async function owe(state: string, minutes: number, count = 1, address = 'desk@n.example') {
  const { rows } = await pool.query<{ id: string }>(
    `insert into consumers (id, address, state, created_at) values ($1, $2, 'found', now())
     on conflict (address) do update set address = excluded.address returning id`,
    [uuidv7(new Date()), address],
  )
  for (let made = 0; made < count; made++) {
    await pool.query(
      `insert into feedback_reports
         (report_id, shard, number, consumer_id, state, address, created_at, due_at)
       values ($1, shard_of($1), 1, $2, $3, $4, now() - interval '1 minute' * $5,
         case when $3 = 'waiting' then now() - interval '1 minute' * $5 end)`,
      [uuidv7(new Date()), rows[0]?.id, state, address, minutes],
    )
  }
}

test.for([
  ['queued', 4, 'ok'],
  ['queued', 5, 'warning'],
  ['queued', 60, 'critical'],
  ['waiting', 60, 'critical'],
  ['waiting', -60, 'ok'],
  ['sent', 600, 'ok'],
] as const)('feedback that is %s since %d minutes is %s', async ([state, minutes, level]) => {
  await pool.query('delete from feedback_reports')
  await owe(state, minutes)
  expect(await conditionNow('feedback-owed')).toMatchObject({ level })
})

test('a flood of bounces at one desk shows as its share', async () => {
  await pool.query('delete from feedback_reports')
  await owe('sent', 1, 20, 'good@n.example')
  await owe('bounced', 1, 4, 'few@n.example')
  expect(await conditionNow('bounces')).toMatchObject({ level: 'ok', value: 0 })
  await owe('sent', 1, 4, 'bad@n.example')
  await owe('bounced', 1, 1, 'bad@n.example')
  expect(await conditionNow('bounces')).toMatchObject({ level: 'warning', value: 20 })
  await owe('refused', 1, 3, 'bad@n.example')
  const bad = await conditionNow('bounces')
  expect(bad).toMatchObject({ level: 'critical' })
  expect(bad.said).toContain('50% of the 8 mails')
  expect(bad.said).not.toContain('@')
})

test('a frozen process, a clock that differs and a full disk are found by heartbeats', async () => {
  const disk = { freePercent: 40 }
  const frozen = await beat('work', { disk })
  await beat('count', { disk })
  expect(await conditionNow('processes')).toMatchObject({ level: 'critical' })
  await beat('web', { disk })
  expect(await conditionNow('processes')).toMatchObject({
    level: 'ok',
    said: 'Running: 3 processes.',
  })
  expect(await conditionNow('database')).toMatchObject({ level: 'ok' })
  expect(await conditionNow('disk')).toMatchObject({ level: 'ok', value: 40 })
  expect(await conditionNow('clocks')).toMatchObject({ level: 'ok' })
  const silence = (seconds: number, id: string) =>
    pool.query(`update processes set seen_at = now() - interval '1 second' * $1 where id = $2`, [
      seconds,
      id,
    ])
  await silence(20, frozen)
  const silent = await conditionNow('processes')
  expect(silent).toMatchObject({ level: 'warning', action: 'health forget' })
  expect(silent.said).toContain('“work” on one.example')
  await silence(121, frozen)
  expect(await conditionNow('processes')).toMatchObject({ level: 'critical' })
  await beat('receive', { disk: { freePercent: 4.9 } }, new Date(Date.now() + 86_400_000))
  expect(await conditionNow('disk')).toMatchObject({ level: 'critical' })
  expect(await conditionNow('clocks')).toMatchObject({ level: 'critical' })
})

test('a database that stores nothing is found by the age of the last heartbeat', async () => {
  await beat('work')
  await pool.query(`update processes set seen_at = now() - interval '61 seconds'`)
  expect(await conditionNow('database')).toMatchObject({ level: 'critical' })
})

test('name servers that stopped answering are unknown until the first answer', async () => {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
  await beat('work', { dns: { answeredAt: null, fault: null } })
  expect(await conditionNow('dns')).toMatchObject({ level: 'unknown' })
  await pool.query('delete from processes')
  await beat('work', { dns: { answeredAt: ago(30_000), fault: null } })
  expect(await conditionNow('dns')).toMatchObject({ level: 'ok' })
  await pool.query('delete from processes')
  await beat('work', { dns: { answeredAt: ago(180_000), fault: 'timeout' } })
  const silent = await conditionNow('dns')
  expect(silent).toMatchObject({ level: 'warning' })
  expect(silent.said).toContain('timeout')
})

test('partitions ahead, the size of the database and the age of tables are measured', async () => {
  await runKeepHouse(app)
  expect(await conditionNow('partitions')).toMatchObject({ level: 'ok' })
  const { rows } = await pool.query<{ name: string }>(
    `select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
     where inhparent = 'letters'::regclass order by 1`,
  )
  for (const { name } of rows.slice(-3)) await pool.query(`drop table ${name}`)
  const few = await conditionNow('partitions')
  expect(few.level).not.toBe('ok')
  expect(few.said).toContain('letters')
  const size = await conditionNow('database-size')
  expect(size).toMatchObject({ level: 'ok' })
  expect(size.value).toBeGreaterThan(0.001)
  await pool.query(`update database_sizes set day = day - 1, bytes = 0`)
  expect((await conditionNow('database-size')).said).toContain('more than on the day before')
  await pool.query(`update networks set source = 'mine.csv',
    imported_at = now() - interval '41 days'`)
  const old = await conditionNow('networks')
  expect(old).toMatchObject({ level: 'warning' })
  expect(old.said).toContain('mine.csv, is 41 d')
  const run = { queue: 'refresh-networks', startedAt: new Date(), endedAt: new Date() }
  await keepChoreRun(pool, { ...run, fault: 'own: The file is empty.' })
  const refused = await conditionNow('networks')
  expect(refused).toMatchObject({ level: 'warning' })
  expect(refused.said).toContain('the previous one stays in use. own: The file is empty.')
  await keepChoreRun(pool, { ...run, fault: null })
  expect((await conditionNow('networks')).said).toContain('mine.csv')
})

test('mail that comes in, and mail that nothing handles, is measured', async () => {
  await pool.query(
    `insert into inbound_mails
       (id, received_at, mail_from, rcpt_to, purpose, state, encoding, content)
     values ($1, now() - interval '6 minutes', '', 'x@y.example', 'other', 'received', 'identity',
       '')`,
    [uuidv7(new Date())],
  )
  expect(await conditionNow('mail-coming-in')).toMatchObject({ level: 'ok' })
  expect(await conditionNow('inbound-handled')).toMatchObject({ level: 'warning' })
})

test('a process with old rules or another model counts', async () => {
  expect(await conditionNow('rules')).toMatchObject({ level: 'unknown' })
  await pool.query(
    `insert into rule_processes (id, name, version, model_version, health, seen_at)
     values ($1, 'work', 0, null, '[]', now()), ($2, 'web', 7, 3, '[]', now())`,
    [uuidv7(new Date()), uuidv7(new Date())],
  )
  expect(await conditionNow('rules')).toMatchObject({ level: 'warning', value: 1 })
  expect(await conditionNow('models')).toMatchObject({ level: 'warning', value: 1 })
})

test('bounds and backups that operators set count at once', async () => {
  const set = (given: object) => runAction(setBounds, { condition: 'backup', ...given }, app, null)
  await runAction(noteBackup, {}, app, null)
  expect(await conditionNow('backup')).toMatchObject({ level: 'ok' })
  await pool.query(`update health_settings set done_at = now() - interval '3 days'`)
  expect(await conditionNow('backup')).toMatchObject({ level: 'warning' })
  expect(await set({ warning: '4', critical: '5' })).toMatchObject({ done: 'set' })
  expect(await conditionNow('backup')).toMatchObject({ level: 'ok' })
  expect(await set({ critical: '3.5' })).toMatchObject({ problems: [{ field: 'critical' }] })
  expect(await set({ warning: 'many' })).toMatchObject({ problems: [{ field: 'warning' }] })
})

test('a spool that cannot be written is a warning that says why', async () => {
  const sound = { oldestAt: null, unstorable: 0, fault: null }
  await beat('receive', { spool: sound })
  expect(await conditionNow('spool')).toMatchObject({ level: 'ok' })
  await beat('web', { spool: { ...sound, fault: 'the disk is full' } })
  const found = await conditionNow('spool')
  expect(found).toMatchObject({ level: 'warning' })
  expect(found.said).toContain('“one.example” would refuse new reports: the disk is full')
})
