import { beforeEach, expect, test } from 'vitest'
import type { App } from '../../../src/app.ts'
import { keepHeartbeat } from '../../../src/db/health.ts'
import { keepChoreRun, pauseQueue } from '../../../src/db/queue-controls.ts'
import {
  causes,
  type Condition,
  type ConditionCode,
  conditionCodes,
} from '../../../src/health/conditions.ts'
import type { ProcessFacts } from '../../../src/health/heartbeat.ts'
import { createReadHealth } from '../../../src/health/read-health.ts'
import { runKeepHouse, runMarkDead } from '../../../src/reports/keep-house.ts'
import { textsIn } from '../../../src/texts/messages.ts'
import { inEnglish } from '../../../src/texts/phrases.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { growCampaign, mailInSlot, surge } from '../../support/floods.ts'

const app = await closeAfterTests(
  openTestApp({
    ...{ SMTP_URL: 'smtp://mail.test.example', DNS_SERVERS: '192.0.2.53' },
    ...{ RDAP_BOOTSTRAP_URL: 'https://rdap.test.example/', ALARM_MAIL: 'ops@test.example' },
    ...{ RECEIVE_TLS_CERT_FILE: '/nowhere/cert.pem', RECEIVE_TLS_KEY_FILE: '/nowhere/key.pem' },
    ...{ DKIM_KEY_FILE: '/nowhere/dkim.pem', DKIM_SELECTOR: 's1', DKIM_DOMAIN: 'test.example' },
  }),
)
const { pool } = app
await runKeepHouse(app)

type Settings = Partial<App['config']>
type Cause = {
  of: ConditionCode
  /** Brings it about, with settings that differ. */
  by: () => Promise<unknown>
  settings?: Settings
  level: Condition['level']
  /** What the reason contains. */
  says: string
  /** What the advice contains, and what it must not say. */
  advises: string
  not?: string
  action: string | null
  page?: string | null
}

async function beat(name: string, facts: ProcessFacts = {}, silentSeconds = 0) {
  const id = uuidv7(new Date())
  const now = new Date()
  await keepHeartbeat(pool, {
    ...{ id, host: 'one.example', name, version: '1', startedAt: now, facts, now },
  })
  await pool.query(
    `update processes set seen_at = database_clock() - interval '1 second' * $2 where id = $1`,
    [id, silentSeconds],
  )
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000)
const run = (text: string, ...params: unknown[]) => pool.query(text, params).then(() => undefined)

/** Stores a feedback report to a desk, or a letter, created some seconds ago. */
async function mail(kind: 'feedback' | 'letter', state: string, seconds = 400): Promise<void> {
  const id = uuidv7(new Date())
  if (kind === 'letter') {
    return run(
      `insert into letters
         (id, reporter_id, address, kind, state, created_at, encoding, content)
       values ($1, $2, 'ann@reporters.example', 'advice', $3, $4, 'identity', '')`,
      ...[id, app.ann, state, ago(seconds)],
    )
  }
  await run(
    `insert into consumers (id, address, state, created_at)
     values ($1, 'desk@n.example', 'found', now()) on conflict do nothing`,
    id,
  )
  await run(
    `insert into feedback_reports
       (report_id, shard, number, consumer_id, state, address, created_at)
     select $1, shard_of($1), 1, id, $2, address, $3 from consumers
     where address = 'desk@n.example'`,
    ...[id, state, ago(seconds)],
  )
}

const pause = (queue: string) =>
  pauseQueue(pool, { queue, at: ago(600), by: null, reason: 'test' }).then(() => undefined)

const waitingReport = async () => {
  await app.reports(`waits for its analysis ${uuidv7(new Date())}`)
  await run(`update reports set received_at = now() - interval '310 seconds'`)
}

const deadLetter = (source: string, seconds = 10) =>
  run(
    `insert into pgboss.job (name, data, state, source_name, source_created_on, created_on)
     values ('dead-letter', '{}', 'created', $1, $2, $2)`,
    ...[source, ago(seconds)],
  )

const soundSpool = { oldestAt: null, unstorable: 0, fault: null }
const start = 'signalpost start'

const all: readonly Cause[] = [
  {
    ...{ of: 'database', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'No process has stored', advises: start, not: 'PostgreSQL', action: null },
  },
  {
    ...{ of: 'database', by: () => beat('web', {}, 61), level: 'critical' },
    ...{ says: 'last stored something 1 min', advises: 'PostgreSQL runs', action: null },
  },
  {
    ...{ of: 'spool', by: () => beat('work'), level: 'unknown' },
    ...{ says: 'No process “web” is running', advises: start, action: null },
  },
  {
    ...{ of: 'spool', by: () => beat('web'), level: 'unknown' },
    ...{ says: '“web” runs, but has not told', advises: 'Wait half a minute', action: null },
  },
  {
    of: 'spool',
    by: () => beat('web', { spool: { ...soundSpool, fault: 'the disk is full' } }),
    ...{ level: 'warning', says: 'the disk is full', advises: 'reports are accepted all the same' },
    ...{ not: 'wait in SPOOL_DIR', action: null },
  },
  {
    of: 'spool',
    by: () => beat('web', { spool: { ...soundSpool, unstorable: 2 } }),
    ...{ level: 'warning', says: '2 files', advises: '.refused', action: null },
  },
  {
    of: 'spool',
    by: () => beat('web', { spool: { ...soundSpool, oldestAt: ago(90).toISOString() } }),
    ...{ level: 'warning', says: 'waiting for 1 min', advises: 'wait in SPOOL_DIR', action: null },
  },
  {
    ...{ of: 'reports-analyzed', by: waitingReport, level: 'warning' },
    ...{ says: 'waiting for 5 min', advises: 'process “work” runs', action: null },
  },
  {
    of: 'reports-analyzed',
    by: () => waitingReport().then(() => pause('analyze-report')),
    ...{ level: 'warning', says: 'waiting for 5 min', advises: 'paused' },
    ...{ not: 'work', action: 'queue resume', page: '/admin/queues' },
  },
  {
    of: 'analysis-failed',
    by: () => waitingReport().then(() => run(`update reports set state = 'failed'`)),
    ...{ level: 'warning', says: 'Failed in the last', advises: 'retry', action: 'queue retry' },
  },
  {
    of: 'mail-leaving',
    by: () => run(`update mail_relay set refused_since = $1, reply = '535 no'`, ago(20)),
    ...{ level: 'warning', says: '535 no', advises: 'user and password', action: 'outbox retry' },
  },
  {
    of: 'mail-leaving',
    by: () => run(`update mail_relay set refused_since = $1, reply = 'It hung up.'`, ago(20)),
    ...{ level: 'warning', says: 'last attempt: It hung up.', advises: 'mail server of SMTP_URL' },
    ...{ not: 'password', action: 'outbox retry' },
  },
  {
    of: 'mail-leaving',
    by: () => mail('feedback', 'held'),
    settings: { smtpUrl: undefined },
    ...{ level: 'warning', says: 'SMTP_URL is not set', advises: 'set SMTP_URL and restart' },
    ...{ not: 'password', action: null, page: '/admin/outbox?state=held' },
  },
  {
    ...{ of: 'mail-leaving', by: () => mail('feedback', 'held'), level: 'warning' },
    ...{ says: 'Held since SMTP_URL was not set: 1 mail', advises: 'Send the held mail' },
    ...{ not: 'password', action: 'outbox retry' },
  },
  {
    ...{ of: 'mail-leaving', by: () => mail('letter', 'queued', 130), level: 'critical' },
    ...{ says: 'No mail has left yet', advises: '“work” runs', not: 'password', action: null },
  },
  {
    ...{ of: 'mail-leaving', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'No mail has been sent', advises: 'SMTP_URL', action: 'outbox retry' },
  },
  {
    ...{ of: 'feedback-owed', by: () => mail('feedback', 'queued'), level: 'warning' },
    ...{ says: 'waiting for 6 min', advises: 'why its mail waits', action: null },
  },
  {
    of: 'feedback-owed',
    by: () => mail('feedback', 'queued').then(() => pause('*')),
    ...{ level: 'warning', says: 'waiting for 6 min', advises: 'paused', action: 'queue resume' },
  },
  {
    ...{ of: 'letters-owed', by: () => mail('letter', 'queued'), level: 'warning' },
    ...{ says: 'waiting for 6 min', advises: 'process “work” runs', action: null },
  },
  {
    ...{ of: 'mail-coming-in', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'No mail has come in', advises: 'RETURN_PATH_DOMAIN', action: null },
  },
  {
    of: 'inbound-handled',
    by: () =>
      run(
        `insert into inbound_mails
           (id, received_at, mail_from, rcpt_to, purpose, state, encoding, content)
         values ($1, now() - interval '370 seconds', '', 'x@y.example', 'other', 'received',
           'identity', '')`,
        uuidv7(new Date()),
      ),
    ...{ level: 'warning', says: 'waiting for 6 min', advises: '“work” runs', action: null },
  },
  {
    of: 'bounces',
    by: async () => {
      for (let number = 0; number < 5; number++) await mail('feedback', 'bounced')
    },
    ...{ level: 'critical', says: '100% of the 5 mails', advises: 'read the responses' },
    action: null,
  },
  {
    ...{ of: 'bounce-wave', by: () => mailInSlot(pool, { sent: 27, bounced: 9, refused: 3 }) },
    ...{ level: 'critical', says: '40% of 30 mails', advises: 'pause the feedback reports' },
    ...{ action: 'queue pause', page: '/admin/outbox?state=bounced' },
  },
  {
    of: 'busy-clients',
    by: () => beat('web', surge('account', app.ann, 400)),
    ...{ level: 'warning', says: 'One account made 400 requests', advises: 'hold them' },
    ...{ not: 'firewall', action: 'bans add', page: `/admin/accounts/${app.ann}` },
  },
  {
    of: 'busy-clients',
    by: () => beat('web', surge('token', `${app.ann}/0123456789ab`, 400)),
    ...{ level: 'warning', says: 'One token of an account made', advises: 'revoke the token' },
    ...{ action: null, page: `/admin/accounts/${app.ann}` },
  },
  {
    of: 'busy-clients',
    // Together, the two processes saw more of it than of any account.
    async by() {
      for (const recent of [2_000, 1_500])
        await beat('web', surge('network', '192.0.2.0/24', recent))
      await beat('web', surge('account', app.ann, 2_900))
    },
    ...{ level: 'critical', says: 'The network 192.0.2.0/24 made 3,500 requests' },
    ...{ advises: 'firewall', not: 'account', action: null, page: '/admin/limits' },
  },
  {
    of: 'busy-clients',
    // The one is usual, and the process that saw the other is gone.
    by: () =>
      beat('web', surge('account', app.ann, 4_000, 500)).then(() =>
        beat('web', surge('account', app.ann, 4_000), 60),
      ),
    ...{ level: 'ok', says: 'ten times as many requests as usual', advises: '', action: null },
  },
  {
    ...{ of: 'refusals', by: () => beat('web', surge('limit', 'sign-up-network', 1_200, 20)) },
    ...{ level: 'warning', says: '“sign-up-network” stopped 1,200 requests' },
    ...{ advises: 'raise the limit', action: null, page: '/admin/activity?group=people' },
  },
  {
    ...{
      of: 'campaign-growth',
      by: () => growCampaign(pool, 150, 12).then((facts) => beat('work', facts)),
      level: 'warning',
    },
    ...{ says: '150 times in the last hour, and 12 times before', advises: 'whole campaign' },
    action: null,
  },
  {
    ...{
      of: 'campaign-growth',
      by: () => growCampaign(pool, 150, 16).then((facts) => beat('work', facts)),
      level: 'ok',
    },
    ...{ says: 'No campaign has grown ten times', advises: 'campaign', action: null },
  },
  {
    ...{ of: 'dead-letters', by: () => deadLetter('analyze-report'), level: 'warning' },
    ...{ says: 'ran out of retries: 1', advises: 'retry the jobs', action: 'queue retry' },
  },
  {
    of: 'dead-letters',
    // Its process was killed, and the next run was sound.
    async by() {
      await deadLetter('keep-house', 300)
      const times = { startedAt: ago(100), endedAt: ago(90) }
      await keepChoreRun(pool, { queue: 'keep-house', ...times, fault: null })
      await runMarkDead(app)
    },
    ...{ level: 'ok', says: 'ran out of retries: 0', advises: 'retry', action: 'queue retry' },
  },
  {
    of: 'dead-letters',
    async by() {
      await deadLetter('keep-house', 300)
      const times = { startedAt: ago(100), endedAt: ago(90) }
      await keepChoreRun(pool, { queue: 'keep-house', ...times, fault: 'no partition' })
      await runMarkDead(app)
    },
    ...{ level: 'warning', says: 'ran out of retries: 1', advises: 'correct their cause' },
    action: 'queue retry',
  },
  {
    ...{ of: 'queues-paused', by: () => pause('send-letter'), level: 'warning' },
    ...{ says: 'send-letter', advises: 'Resume the queues', action: 'queue resume' },
  },
  {
    of: 'delistings-decided',
    by: () =>
      run(
        `insert into delisting_requests
           (id, token_hash, list, name, state, asker, contact, done, asker_hash)
         values ($1, '', 'domains', 'n.example', 'open', 'owner', 'a@n.example', 'cleaned', '')`,
        uuidv7(ago(3 * 86_400 + 60)),
      ),
    ...{ level: 'warning', says: '3 d', advises: 'Decide about the requests', action: null },
  },
  {
    of: 'registries',
    by: () =>
      run(
        `insert into pgboss.job (name, data, state, created_on)
         values ('find-contact', '{}', 'created', now() - interval '121 minutes')`,
      ),
    ...{ level: 'warning', says: 'waiting for 2 h', advises: 'HTTPS requests', action: null },
  },
  {
    ...{ of: 'dns', by: () => beat('web'), level: 'unknown' },
    ...{ says: 'No process “work” is running', advises: start, not: 'DNS_SERVERS', action: null },
  },
  {
    of: 'dns',
    by: () => beat('work', { dns: { answeredAt: ago(180).toISOString(), fault: 'timeout' } }),
    ...{ level: 'warning', says: 'timeout', advises: 'DNS_SERVERS', action: null },
  },
  {
    of: 'networks',
    by: () =>
      run(`update networks set imported_at = now() - interval '985 hours', source = 'a.csv'`),
    ...{ level: 'warning', says: 'a.csv, is 41 d', advises: 'NETWORK_TABLES', action: null },
  },
  {
    of: 'networks',
    by: () =>
      keepChoreRun(pool, {
        ...{ queue: 'refresh-networks', startedAt: ago(9), endedAt: ago(8), fault: 'It is empty.' },
      }),
    ...{ level: 'warning', says: 'It is empty.', advises: 'Correct NETWORK_TABLES', action: null },
  },
  {
    ...{ of: 'rules', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'No process that judges', advises: start, action: null },
  },
  {
    ...{ of: 'models', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'No process that judges', advises: start, action: null },
  },
  {
    ...{ of: 'processes', by: () => beat('web'), level: 'critical' },
    ...{ says: 'No process “work”', advises: start, not: 'forget', action: null },
  },
  {
    of: 'processes',
    by: async () => {
      for (const name of ['web', 'count', 'work']) await beat(name, {}, name === 'work' ? 30 : 0)
    },
    ...{ level: 'warning', says: '“work” on one.example has been silent', advises: 'forget it' },
    action: 'health forget',
  },
  {
    of: 'clocks',
    by: () => beat('web').then(() => run('update processes set clock_ahead_seconds = 7200')),
    ...{ level: 'critical', says: 'one.example', advises: 'Synchronize the clocks', action: null },
  },
  {
    ...{ of: 'disk', by: () => beat('web', { disk: { freePercent: 4 } }), level: 'critical' },
    ...{ says: '4% is free', advises: 'Free space', action: null },
  },
  {
    ...{ of: 'database-size', by: () => Promise.resolve(), level: 'ok' },
    ...{ says: 'The database has', advises: 'RETENTION_DAYS', action: null },
  },
  {
    ...{ of: 'certificate', by: () => beat('web'), level: 'unknown' },
    ...{ says: 'No process “receive”', advises: start, not: 'Renew', action: null },
  },
  {
    of: 'certificate',
    by: () => beat('receive', { certificate: { fault: 'no such file' } }),
    ...{ level: 'unknown', says: 'no such file', advises: 'may read it', not: 'Renew' },
    action: null,
  },
  {
    of: 'certificate',
    by: () => beat('receive', { certificate: { endsAt: ago(-5 * 86_400 - 60).toISOString() } }),
    ...{ level: 'critical', says: 'valid for another 5 d', advises: 'Renew', action: null },
  },
  {
    of: 'dkim-key',
    by: () => beat('work'),
    settings: { dnsServers: 'none' },
    ...{ level: 'unknown', says: 'DNS_SERVERS is “none”', advises: 'set DNS_SERVERS' },
    ...{ not: 'Publish', action: null },
  },
  {
    of: 'dkim-key',
    by: () => beat('work', { dkim: { fault: 'permission denied' } }),
    ...{ level: 'unknown', says: 'permission denied', advises: 'read DKIM_KEY_FILE', action: null },
  },
  {
    ...{ of: 'dkim-key', by: () => beat('work', { dkim: { state: 'differs' } }) },
    ...{ level: 'critical', says: 'another key than ours', advises: 'Publish', action: null },
  },
  {
    ...{ of: 'backup', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'not known', advises: 'signalpost backup', action: 'health backup-done' },
  },
  {
    ...{ of: 'alarms', by: () => Promise.resolve(), level: 'unknown' },
    ...{ says: 'never been evaluated', advises: '“work” or “count” runs', action: null },
  },
  {
    of: 'alarm-channels',
    by: () =>
      run(
        `update alarm_watch set evaluated_at = now(), state = $1`,
        JSON.stringify({
          watched: {},
          failing: { mail: { since: ago(60).toISOString(), reason: '451 later' } },
        }),
      ),
    ...{ level: 'warning', says: '451 later', advises: 'ALARM_MAIL', action: null },
  },
]

beforeEach(async () => {
  for (const table of [
    'processes',
    'queue_controls',
    'chore_runs',
    'letters',
    'feedback_reports',
  ]) {
    await run(`delete from ${table}`)
  }
  await run(`update mail_relay set refused_since = null, reply = null, accepted_at = null`)
  await run(`update alarm_watch set evaluated_at = null, state = null`)
  await run(`update reports set state = 'analyzed'`)
  await run(`delete from pgboss.job`)
})

const texts = textsIn('en')
const met = new Set<string>()

async function find(of: ConditionCode, config: Settings = {}): Promise<Condition> {
  const { conditions } = await createReadHealth({ ...app, config: { ...app.config, ...config } })()
  const found = conditions.find(({ code }) => code === of)
  if (!found) throw new Error(`${of} is not measured`)
  return found
}

test.for(all.map((one) => [one.of, one.says, one] as const))(
  '%s that says "%s" gives the advice and the button for that',
  async ([of, , { by, settings, level, says, advises, not, action, page }]) => {
    await by()
    const found = await find(of, settings)
    const advice = texts(`health.advice.${found.advice}`)
    expect(found).toMatchObject({ level, action })
    expect(inEnglish(found.reason)).toContain(says)
    expect(advice).toContain(advises)
    if (not !== undefined) expect(advice).not.toContain(not)
    if (page !== undefined) expect(found.page).toBe(page)
    met.add(of).add(found.advice)
  },
)

test('every condition and every cause is among them', () => {
  // Other tests bring these about: they need a full disk, a broken table, old counts.
  const elsewhere = ['database-full', 'unmeasured', 'counters', 'partitions']
  const expected = [...conditionCodes, ...causes].filter((one) => !elsewhere.includes(one))
  expect(expected.filter((one) => !met.has(one))).toEqual([])
})

test('a condition whose measure fails does not repeat the advice of another fault', async () => {
  await run('alter table delisting_requests rename to delisting_requests_gone')
  const found = await find('delistings-decided')
  await run('alter table delisting_requests_gone rename to delisting_requests')
  expect(found).toMatchObject({ level: 'unknown', advice: 'unmeasured', action: null, page: null })
})
