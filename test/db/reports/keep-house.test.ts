import { expect, inject, test } from 'vitest'
import { migrateAll } from '../../../src/processes/migrate.ts'
import { insertSenderAlert } from '../../../src/db/sender-alerts.ts'
import { insertLayers } from '../../../src/db/networks.ts'
import { runKeepHouse, runMarkDead } from '../../../src/reports/keep-house.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'

const app = await closeAfterTests(openTestApp({ RETENTION_DAYS: '30' }))
await migrateAll(app.database.url, new Date(), { backend: inject('backend') })

const DAY_MS = 86_400_000

function partitions(table: string) {
  return app.rows(
    `select relname as name from pg_class where relname like $1 and relkind = 'r' order by 1`,
    [`${table}\\_2%`],
  )
}

/** Inserts a dead letter as pg-boss stores it. */
async function die({ reportId }: { reportId: string }, queue = 'analyze-report') {
  const id = await app.boss.send('dead-letter', { reportId })
  await app.pool.query(`update pgboss.job set source_name = $2 where id = $1`, [id, queue])
}

async function stateOf({ reportId }: { reportId: string }) {
  const [row] = await app.rows('select state from reports where id = $1', [reportId])
  return row?.['state']
}

test('the coming weeks have partitions, and old ones are dropped with their keys', async () => {
  const [payload = { reportId: '' }] = await app.reports('old')
  await app.pool.query(
    `insert into idempotency_keys (key_hash, body_hash, created_at) values ('\\x01', '\\x02', $1)`,
    [new Date()],
  )
  const before = await partitions('reports')
  await runKeepHouse(app)
  expect(await partitions('reports')).toEqual(before)
  expect(await stateOf(payload)).toBe('received')

  const later = new Date(Date.now() + 45 * DAY_MS)
  await runKeepHouse({ ...app, clock: () => later })
  const after = await partitions('reports')
  expect(after.length).toBeGreaterThan(4)
  expect(after.at(-1)?.['name']).not.toBe(before.at(-1)?.['name'])
  expect(after.map(({ name }) => name)).not.toContain(before[0]?.['name'])
  expect(await stateOf(payload)).toBeUndefined()
  expect(await app.rows('select 1 from report_keys')).toEqual([])
  expect(await app.rows('select 1 from idempotency_keys')).toEqual([])
  expect((await app.reports('old')).length).toBe(1)
})

test('answers of registries are deleted a month after they expire', async () => {
  const now = new Date()
  const answer = (cidr: string, daysAgo: number) => {
    const expiresAt = new Date(now.getTime() - daysAgo * DAY_MS)
    return { cidr, asn: null, name: null, country: null, contacts: [], expiresAt }
  }
  const answers = [answer('203.0.113.0/26', 29), answer('203.0.113.64/26', 31)]
  await insertLayers(app.pool, 'registry', answers, now)
  await runKeepHouse(app)
  const left = await app.rows(`select cidr::text from networks where source = 'registry'`)
  expect(left).toEqual([{ cidr: '203.0.113.0/26' }])
  expect(
    (await app.rows(`select 1 from networks where source <> 'registry'`)).length,
  ).toBeGreaterThan(0)
})

test('alerts about sending users, which contain names, are deleted after 30 days', async () => {
  const day = { sent: 9, unwanted: 9, recipients: 9, complaints: 0, bounces: 0, reads: 0 }
  const counts = { ...day, sentLastHour: 9, unwantedLastHour: 9 }
  for (const daysAgo of [29, 31]) {
    const now = new Date(Date.now() - daysAgo * DAY_MS)
    const alert = { id: uuidv7(now), system: '', user: `${daysAgo} days`, counts, messages: [] }
    await insertSenderAlert(app.pool, { ...alert, cause: 'unwanted' }, { key: 1n, now })
  }
  await runKeepHouse(app)
  expect(await app.rows('select user_name from sender_alerts')).toEqual([{ user_name: '29 days' }])
})

test('a second round of the chores changes nothing', async () => {
  await runKeepHouse(app)
  const before = await partitions('analyses')
  await runKeepHouse(app)
  expect(await partitions('analyses')).toEqual(before)
})

test('reports whose analysis is a dead letter are marked failed once, with an event', async () => {
  const [dead, alive] = await app.reports('dead', 'alive')
  if (!dead || !alive) throw new Error('A report is missing.')
  await die(dead)
  await die(alive, 'forward-report')
  await runMarkDead(app)
  await runMarkDead(app)
  expect([await stateOf(dead), await stateOf(alive)]).toEqual(['failed', 'received'])
  const events = await app.rows('select event from report_events where report_id = $1', [
    dead.reportId,
  ])
  expect(events).toEqual([{ event: 'failed' }])
})

test('a report that was analyzed after all is not marked', async () => {
  const [payload = { reportId: '' }] = await app.reports('late')
  await die(payload)
  await app.pool.query(`update reports set state = 'analyzed' where id = $1`, [payload.reportId])
  await runMarkDead(app)
  expect(await stateOf(payload)).toBe('analyzed')
})

test('reports that wait for a while without a job are queued again, once', async () => {
  await app.boss.deleteQueuedJobs('analyze-report')
  const jobsOf = ({ reportId }: { reportId: string }) =>
    app.rows(
      `select 1 from pgboss.job where name = 'analyze-report' and data ->> 'reportId' = $1`,
      [reportId],
    )
  const [lost] = await app.reports('lost')
  if (!lost) throw new Error('A report is missing.')
  const soon = () => new Date(Date.now() + 60_000)
  const later = () => new Date(Date.now() + 3_600_000)
  await runKeepHouse({ ...app, clock: later })
  expect(await jobsOf(lost)).toHaveLength(1)
  await app.boss.deleteQueuedJobs('analyze-report')
  await runKeepHouse({ ...app, clock: soon })
  expect(await jobsOf(lost)).toHaveLength(0)
  await runKeepHouse({ ...app, clock: later })
  await runKeepHouse({ ...app, clock: later })
  expect(await jobsOf(lost)).toHaveLength(1)
})
