import { afterEach, beforeEach, expect, test } from 'vitest'
import { headOf } from '../../../src/counting/packed/delta-packing.ts'
import { learnerEmail } from '../../../src/reports/learn-message.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { type CheckSite, increments, openCheckSite } from './check-site.ts'

let site: CheckSite
const mail = checkedMail('one', 'https://bad.example/')

beforeEach(async () => {
  site = await openCheckSite()
})
afterEach(() => site.close())

const reports = () =>
  site.app.rows(
    `select reports.id, kind, reports.state, channel, email from reports
     join reporters on reporters.id = reporter_id order by reports.id`,
  )
const learn = (as: 'spam' | 'ham', body = mail) => site.post(`/learn${as}`, body)

test('a lesson is a report by the mail server, queued for analysis', async () => {
  expect(await learn('spam')).toMatchObject({ status: 200, json: { success: true } })
  const [report, ...others] = await reports()
  expect(others).toEqual([])
  expect(report).toMatchObject({
    kind: 'spam',
    state: 'received',
    channel: 'learn',
    email: learnerEmail,
  })
  const jobs = await site.app.rows(`select data from pgboss.job where name = 'analyze-report'`)
  expect(jobs).toEqual([{ data: { reportId: report?.['id'] } }])
})

test('repeating a lesson changes nothing, and the answer says so', async () => {
  await learn('spam')
  const { status, json } = await learn('spam')
  expect([status, json.error]).toEqual([208, 'The message was already learned as spam.'])
  expect(await reports()).toHaveLength(1)
})

test('with a key, the lesson is a report by a user of the mail server', async () => {
  const by = async (user: string) =>
    (await site.post('/learnspam', mail, { 'on-behalf-of': user })).status
  await site.app.rows(`update rate_limits set attempts_max = 2 where name = 'mailbox-user-hour'`)
  expect([await by('one'), await by('two'), await by('one')]).toEqual([200, 200, 208])
  expect(await by('not a key')).toBe(400)
  const users = await site.app.rows(
    `select user_account.id, server.email from reporters as user_account
     join reporters as server on server.id = user_account.provider_id`,
  )
  expect(users.map(({ email }) => email)).toEqual([learnerEmail, learnerEmail])
  expect([await by('one'), await by('three')]).toEqual([429, 200])
})

test('the opposite lesson changes the report, in both directions', async () => {
  const statuses = []
  for (const as of ['spam', 'ham', 'ham', 'spam'] as const) statuses.push((await learn(as)).status)
  expect(statuses).toEqual([200, 200, 208, 200])
  expect((await reports()).map(({ kind, state }) => [kind, state])).toEqual([['spam', 'received']])
  const changes = await site.app.rows(`select 1 from report_events where event = 'changed'`)
  expect(changes).toHaveLength(2)
})

test('of many concurrent lessons one counts, and of both classes one remains', async () => {
  const same = await Promise.all(Array.from({ length: 10 }, () => learn('spam')))
  expect(same.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(208)])
  const other = checkedMail('two', 'https://bad.example/')
  const both = ['spam', 'ham', 'spam', 'ham'] as const
  const mixed = await Promise.all(both.map((as) => learn(as, other)))
  expect(mixed.every(({ status }) => status === 200 || status === 208)).toBe(true)
  expect(await reports()).toHaveLength(2)
})

test('a message retracted by an administrator may be learned again', async () => {
  await learn('spam')
  const [{ id } = { id: '' }] = await reports()
  const administratorId = '00000000-0000-7000-8000-00000000000a'
  await retractReport(site.app, String(id), { isReporter: false, administratorId })
  expect((await learn('spam')).status).toBe(200)
  expect((await reports()).map(({ state }) => state)).toEqual(['received'])
})

test.for([
  ['nothing', Buffer.alloc(0), 400],
  ['what is no message', Buffer.from('hello'), 400],
])('%s is not learned', async ([, body, status]) => {
  expect(await learn('spam', body as Buffer<ArrayBuffer>)).toMatchObject({ status })
  expect(await reports()).toEqual([])
})

test('each check counts once: every shingle of the message, under "checks"', async () => {
  for (let times = 0; times < 3; times++) await site.post('/checkv2', mail)
  await site.post('/checkv2', checkedMail('two', 'https://bad.example/'))
  await site.stop()
  const sums = await increments(site)
  const link = await site.app.rows('select count(*)::int as rows from counter_deltas')
  expect(link[0]?.['rows']).toBeGreaterThan(0)
  const amounts = new Set([...sums.values()])
  // A piece was counted four times if it is in both messages, three times if only in the first, and
  // once if only in the second.
  expect(amounts).toEqual(new Set([4, 3, 1]))
  expect([...sums.keys()].every((key) => key.startsWith(`${headOf(1, 1, 0)} `))).toBe(true)
})
