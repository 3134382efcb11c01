import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { findReport } from '../../../src/db/reports.ts'
import { createMailboxUsers } from '../../../src/people/mailbox-users.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runDecideAgain } from '../../../src/reports/decide-again.ts'
import { createKnownExchangers } from '../../../src/reports/known-exchangers.ts'
import { addReceivingHost, dropReceivingHost } from '../../../src/reports/receiving-hosts.ts'
import { answerQuestion, setRelays } from '../../../src/reports/set-relays.ts'
import type { Resolve } from '../../../src/world.ts'
import { parser } from '../../support/parser.ts'
import { border, openBorderSite } from '../../support/border-site.ts'

const spammer = '198.51.100.23'
const domain = 'reporters.example'

/** A site whose reporters, of two domains, read mail behind a border of another domain. */
async function site() {
  const opened = await openBorderSite()
  const { app, analyze } = opened
  const addPerson = async (email: string) => {
    const account = { email, password: undefined, role: null, wantsToken: false } as const
    const { id } = await addAccount(account, app)
    return { id, email, role: null }
  }
  const jobs = async () => {
    const rows = await app.rows(
      `select data ->> 'reporterId' as id from pgboss.job where name = 'decide-again'`,
    )
    return rows.map(({ id }) => String(id))
  }
  return {
    ...opened,
    ...{ addPerson, jobs },
    /** Says that the border is not the reporter's, so that it is accused. */
    async deny(id: string) {
      const report = await findReport(app.pool, id)
      if (report) await answerQuestion(app, report, { ip: border, isMine: false })
      await analyze(id)
    },
    add: (host = border) => runAction(addReceivingHost, { domain, host }, app, null),
    drop: () => runAction(dropReceivingHost, { domain, host: border }, app, null),
    async decideAgain() {
      for (const reporterId of await jobs()) await runDecideAgain({ reporterId }, app)
    },
    originOf: async (id: string) => (await findAnalysis(app.pool, id))?.originIp,
    actionOn: async (id: string) => (await findAnalysis(app.pool, id))?.details.consequence.action,
    told: async (id: string) =>
      (await listFeedback(app.pool, [id])).map(
        ({ kind, address, state }) => `${kind} ${address} ${state}`,
      ),
  }
}

test('an operator’s word corrects the reports of all reporters of the domain', async () => {
  const { app, addPerson, analyze, report, deny, add, decideAgain, originOf, told, jobs } =
    await site()
  const { id: cy } = await addPerson('cy@other.example')
  const accused = await report('of-ann')
  await deny(accused)
  const asked = await report('of-bob', app.bob)
  const others = await report('of-cy', cy)
  await deny(others)
  for (const id of [accused, others]) expect(await originOf(id)).toBe(border)
  await app.pool.query(
    `update feedback_reports set state = 'sent', finished_at = now(), message_id = '<x@y>'
     where report_id = $1`,
    [accused],
  )
  expect(await add()).toMatchObject({ done: 'added', count: 2 })
  expect((await jobs()).toSorted()).toEqual([app.ann, app.bob].toSorted())
  await decideAgain()
  for (const id of [accused, asked]) await analyze(id)
  for (const id of [accused, asked]) expect(await originOf(id)).toBe(spammer)
  expect(await told(accused)).toEqual([
    'complaint abuse@hosting-one.example sent',
    'redeemed abuse@hosting-one.example queued',
    'complaint abuse@access-two.example queued',
  ])
  // An address at another domain has other mail servers.
  expect(await originOf(others)).toBe(border)
  expect(await told(others)).toEqual(['complaint abuse@hosting-one.example queued'])
  const [audit] = await app.rows(`select action, detail from audit_log`)
  expect(audit).toEqual({ action: 'add mail server', detail: `${domain}: ${border}/32` })
})

test('it counts for later reports, until it is taken back', async () => {
  const { report, add, drop, originOf, actionOn } = await site()
  await add()
  expect(await add()).toEqual({ unchanged: 'known' })
  const before = await report('before')
  expect([await originOf(before), await actionOn(before)]).toEqual([spammer, 'forward'])
  await drop()
  expect(await actionOn(await report('after'))).toBe('ask')
  expect(await drop()).toEqual({ unchanged: 'unknown' })
})

test('a host is a name, an address or a narrow network', async () => {
  const { app, add } = await site()
  for (const host of ['MX.Hoster.example.', '192.0.2.77/28', '2001:db8::7'])
    expect(await add(host)).toMatchObject({ done: 'added' })
  expect(await app.rows('select host from receiving_hosts order by host')).toEqual([
    { host: '192.0.2.64/28' },
    { host: '2001:db8::7/128' },
    { host: 'mx.hoster.example' },
  ])
  for (const host of ['', 'mx', '0.0.0.0/0', '192.0.0.0/8', '169.254.0.9', 'a b.example'])
    expect(await add(host)).toHaveProperty('problems')
})

test('what is known of a provider’s account counts for its mailbox users', async () => {
  const { app, addPerson, report, analyze, actionOn, originOf, jobs, decideAgain } = await site()
  const provider = await addPerson('mail@provider.example')
  const user = await createMailboxUsers(app, false)(provider, 'user-1')
  if (typeof user !== 'object') throw new Error(user)
  const asked = await report('of-user', user.id)
  expect(await actionOn(asked)).toBe('ask')
  await setRelays(app, provider.id, [{ cidr: `${border}/32`, name: null, how: 'set' }])
  expect(await jobs()).toEqual([user.id])
  await decideAgain()
  await analyze(asked)
  // Nothing but the word of a new reporter speaks against the message.
  expect([await originOf(asked), await actionOn(asked)]).toEqual([spammer, 'keep'])
  const statement = { domain: 'provider.example', host: 'mx.hoster.example' }
  expect(await runAction(addReceivingHost, statement, app, null)).toMatchObject({ count: 2 })
})

test('MX records that name a new host correct the reports of the domain, too', async () => {
  const { app, report, deny, originOf, jobs, decideAgain } = await site()
  const accused = await report('before')
  await deny(accused)
  expect(await originOf(accused)).toBe(border)
  expect(await jobs()).toEqual([])
  const records: Record<string, string[]> = { MX: ['mx.hoster.example'], A: [border] }
  const resolve: Resolve = async (_name, type) =>
    records[type] ? { is: 'found', records: records[type] } : { is: 'none' }
  const exchangersOf = createKnownExchangers({ ...app, resolve })
  const raw = { encoding: 'identity', content: Buffer.from('Subject: x\r\n\r\n') } as const
  for (const known of [exchangersOf, createKnownExchangers({ ...app, resolve })])
    await known(`ann@${domain}`, raw)
  expect((await jobs()).toSorted()).toEqual([app.ann, app.bob].toSorted())
  await decideAgain()
  await runAnalyzeReport([{ reportId: accused }], { ...app, parser, exchangersOf })
  expect(await originOf(accused)).toBe(spammer)
})
