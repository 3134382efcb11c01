import { beforeEach, expect, test } from 'vitest'
import type { AlarmNotice } from '../../../src/health/alarm-text.ts'
import type { Channel } from '../../../src/health/channels.ts'
import { keepHeartbeat } from '../../../src/db/health.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { createAlarmWatch } from '../../../src/health/run-alarms.ts'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { runOn } from '../../support/own-database.ts'

const app = await closeAfterTests(openTestApp({ SMTP_URL: 'smtp://mail.test.example' }))
const { pool } = app
await runKeepHouse(app)
await pool.query('update mail_relay set accepted_at = now()')

let ahead = 0
const clock = () => new Date(Date.now() + ahead * 1_000)

type Told = AlarmNotice & { by: string }

const name = new URL(app.database.url).pathname.slice(1)
const admin = app.database.url.replace(/[^/]+$/, 'postgres')

for (const process of ['work', 'count', 'web']) {
  const its = { id: uuidv7(new Date()), host: 'one.example', name: process, version: '1.2.3' }
  await keepHeartbeat(pool, { ...its, startedAt: new Date(), facts: {}, now: new Date() })
}

/** A process that evaluates, with channels that record what they get. */
function startProcess(told: Told[], names: readonly string[] = ['one']) {
  const channels: Channel[] = names.map((name) => ({
    name,
    send: (notice) => {
      if (broken.has(name)) return Promise.reject(new Error(broken.get(name)))
      told.push({ ...notice, by: name })
      return Promise.resolve()
    },
  }))
  const own = { ...app, clock }
  const watch = createAlarmWatch(own, { channels, readHealth: createReadHealth(own) })
  return {
    ...watch,
    /** Evaluates every ten seconds for a time, or every half minute for a long one. */
    async pass(seconds: number) {
      const step = seconds < 300 ? 10 : 30
      for (let passed = 0; passed < seconds; passed += step) {
        await watch.evaluate()
        ahead += step
      }
    },
  }
}

const broken = new Map<string, string>()
const subjects = (told: readonly Told[]) => told.map(({ subject }) => subject)

async function refuseMail(reply: string | null): Promise<void> {
  await pool.query('update mail_relay set refused_since = $1, reply = $2', [
    reply === null ? null : clock(),
    reply,
  ])
}

/** Forgets everything, as on a new installation. */
beforeEach(async () => {
  broken.clear()
  await refuseMail(null)
  await pool.query('update processes set seen_at = now()')
  await pool.query(
    `update alarm_watch
     set holder = null, held_until = null, evaluated_at = null, state = null`,
  )
})

test('a refusing mail server raises an alarm in its words, and an all-clear', async () => {
  const told: Told[] = []
  const one = startProcess(told)
  await one.pass(60)
  expect(told).toEqual([])
  await refuseMail('554 5.7.1 <no>')
  await one.pass(100)
  expect(subjects(told)).toEqual(['Warning: Outgoing mail'])
  expect(told[0]?.text).toContain('Its response: 554 5.7.1 <no>')
  expect(told[0]?.text).toContain('What to do: Check the server, user and password in SMTP_URL')
  expect(told[0]?.text).toContain('/admin/health#mail-leaving')
  expect(JSON.parse(told[0]?.json ?? '')).toMatchObject({
    type: 'health.alarm',
    data: { kind: 'alarm', raised: [{ code: 'mail-leaving', action: 'outbox retry' }] },
  })
  await one.pass(80)
  expect(subjects(told)[1]).toBe('Critical: Outgoing mail')
  await refuseMail(null)
  await one.pass(120)
  expect(subjects(told)).toEqual([
    'Warning: Outgoing mail',
    'Critical: Outgoing mail',
    'Over: Outgoing mail',
  ])
})

test('of two processes one evaluates, and the other takes over without a gap', async () => {
  const told: Told[] = []
  const [one, two] = [startProcess(told), startProcess(told)]
  await refuseMail('no')
  for (let times = 0; times < 12; times++) {
    await two.evaluate()
    await one.pass(10)
  }
  expect(told).toHaveLength(1)
  // The process that evaluates is killed, so it does not release its claim.
  await pool.query(`update alarm_watch set held_until = now() - interval '1 second'`)
  await one.pass(120)
  expect(subjects(told)).toEqual(['Warning: Outgoing mail', 'Critical: Outgoing mail'])
  await one.release()
  const three = startProcess(told)
  await three.pass(600)
  expect(told).toHaveLength(2)
  await refuseMail(null)
  await three.pass(120)
  expect(subjects(told).at(-1)).toBe('Over: Outgoing mail')
  await three.release()
})

test('each channel is tried on its own, and the others report one that fails', async () => {
  const told: Told[] = []
  const settings = { ...app.config.alarms, webhookUrl: 'https://pager.example' }
  const config = { ...app.config, alarms: settings }
  const own = Object.assign(app, { config })
  const one = startProcess(told, ['mail', 'webhook'])
  broken.set('mail', '451 try later')
  await refuseMail('no')
  await one.pass(100)
  expect(told.map(({ by }) => by)).toEqual(['webhook'])
  await one.pass(300)
  const { conditions } = await createReadHealth({ ...own, clock })()
  expect(conditions.find(({ code }) => code === 'alarm-channels')).toMatchObject({
    level: 'warning',
    reason: { params: { name: 'mail', reason: '451 try later' } },
  })
  expect(told.some(({ text }) => text.includes('Alarm channels: warning'))).toBe(true)
  broken.clear()
  const missed = subjects(told)
  told.length = 0
  await one.pass(600)
  const byMail = told.filter(({ by }) => by === 'mail')
  expect(subjects(byMail).slice(0, missed.length)).toEqual(missed)
  expect(new Set(told.map(({ id, by }) => `${id} ${by}`)).size).toBe(told.length)
  await one.release()
})

test('a database that is away raises an alarm from memory, and its return ends it', async () => {
  const told: Told[] = []
  const one = startProcess(told)
  const idle = startProcess(told)
  await one.pass(20)
  await idle.pass(10)
  await runOn(admin, `alter database ${name} with allow_connections false`)
  await runOn(
    admin,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  )
  await one.pass(70)
  await idle.pass(20)
  expect(subjects(told)).toEqual(['Critical: Database'])
  expect(told[0]?.text).toContain('is not currently accepting connections')
  await runOn(admin, `alter database ${name} with allow_connections true`)
  await one.pass(150)
  expect(subjects(told)).toEqual(['Critical: Database', 'Over: Database'])
  await idle.pass(60)
  expect(told).toHaveLength(2)
  await one.release()
})

test('a database that stores nothing raises an alarm in its words', async () => {
  const told: Told[] = []
  const one = startProcess(told)
  await one.pass(20)
  await pool.query(`alter database ${name} set default_transaction_read_only = on`)
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = '${name}' and pid <> pg_backend_pid()`
  await runOn(app.database.url, end)
  await one.pass(70)
  expect(subjects(told)).toEqual(['Critical: Database'])
  expect(told[0]?.text).toContain('in a read-only transaction')
  await runOn(admin, `alter database ${name} reset default_transaction_read_only`)
  await runOn(app.database.url, end)
  await one.pass(150)
  expect(subjects(told)).toEqual(['Critical: Database', 'Over: Database'])
  await one.release()
})

test('10,000 failures in a minute make three messages at most', async () => {
  const told: Told[] = []
  const one = startProcess(told)
  await one.pass(10)
  for (let second = 0; second < 6; second++) {
    await pool.query(
      `insert into pgboss.job (name, data, state, source_name)
       select 'dead-letter', jsonb_build_object('n', n), 'created', 'analyze-report'
       from generate_series(1, 1667) n`,
    )
    await one.pass(10)
  }
  await one.pass(600)
  expect(told.length).toBeGreaterThan(0)
  expect(told.length).toBeLessThanOrEqual(3)
  expect(told.some(({ text }) => text.includes('Dead letters: critical'))).toBe(true)
  await pool.query(`delete from pgboss.job where name = 'dead-letter'`)
  await one.release()
})

test('a flood of bounces is one alarm', async () => {
  const told: Told[] = []
  const one = startProcess(told)
  await one.pass(10)
  const id = uuidv7(new Date())
  await pool.query(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'desk@n.example', 'found', now())`,
    [id],
  )
  await pool.query(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     select $1::uuid, shard_of($1::uuid), number, $1::uuid,
       case when number % 3 = 0 then 'sent' else 'bounced' end, 'desk@n.example', now()
     from generate_series(1, 250) as number`,
    [id],
  )
  await one.pass(900)
  expect(subjects(told)).toEqual(['Critical: Bounce rate by abuse team'])
  expect(told[0]?.text).toContain('67% of the 250 mails to one abuse team')
  await one.release()
})
