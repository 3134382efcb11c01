import { expect, test } from 'vitest'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { removeMessages } from '../../../src/db/erasures.ts'
import { noteExchangers } from '../../../src/db/mail-exchangers.ts'
import { listRelays } from '../../../src/db/reporter-relays.ts'
import { findReport } from '../../../src/db/reports.ts'
import { runFindContact } from '../../../src/feedback/find-contact.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { answerQuestion, setRelays } from '../../../src/reports/set-relays.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'
import { foldAll, standing } from '../../support/evidence.ts'
import { relayedMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { border, openBorderSite } from '../../support/border-site.ts'

const spammer = '198.51.100.23'
const mine = { cidr: `${border}/32`, name: null, how: 'set' } as const

/** A site whose reporters read mail behind a border of another domain. */
async function site() {
  const opened = await openBorderSite()
  const { app } = opened
  return {
    ...opened,
    /** Says that the machine of the question is not the reporter's. */
    async deny(id: string) {
      const report = await findReport(app.pool, id)
      if (report) await answerQuestion(app, report, { ip: border, isMine: false })
    },
    told: async (id: string) =>
      (await listFeedback(app.pool, [id])).map(
        ({ kind, address, state }) => `${kind} ${address} ${state}`,
      ),
    async send(...ids: string[]) {
      await app.pool.query(
        `update feedback_reports set state = 'sent', finished_at = now(), message_id = '<x@y>'
         where report_id = any($1)`,
        [ids],
      )
    },
    /** What counts for or against a machine. */
    async weigh(ip: string) {
      await foldAll(app.pool, new Date())
      return standing(app.pool, { kind: 'address', name: ip }, new Date())
    },
  }
}

test('a border that was accused three times is cleared when its reporter names it', async () => {
  const { app, analyze, report, deny, told, send, weigh } = await site()
  const first = await report('first')
  expect((await findAnalysis(app.pool, first))?.details.consequence.action).toBe('ask')
  await deny(first)
  await analyze(first)
  const ids = [first, await report('second'), await report('third')]
  for (const id of ids)
    expect(await told(id)).toEqual(['complaint abuse@hosting-one.example queued'])
  await send(...ids.slice(0, 2))
  const others = await report('of-bob', app.bob)
  await deny(others)
  await analyze(others)
  const before = await weigh(border)
  await setRelays(app, app.ann, [mine])
  expect(await told(first)).toEqual([
    'complaint abuse@hosting-one.example sent',
    'redeemed abuse@hosting-one.example queued',
  ])
  expect(await told(ids[2] ?? '')).toEqual(['complaint abuse@hosting-one.example withdrawn'])
  for (const id of ids) await analyze(id)
  for (const id of ids) {
    expect(await findAnalysis(app.pool, id)).toMatchObject({ originIp: spammer })
    expect((await told(id)).at(-1)).toBe('complaint abuse@access-two.example queued')
    expect((await findReport(app.pool, id))?.state).toBe('analyzed')
  }
  // What Bob reported stays, whatever Ann says about her own way.
  expect(await told(others)).toEqual(['complaint abuse@hosting-one.example queued'])
  const after = await weigh(border)
  expect(before.score).toBeLessThan(0)
  expect(after.weight).toBeGreaterThan(0)
  expect(after.weight).toBeLessThan(before.weight / 2)
})

test('a machine that two others deny needs a second sign', async () => {
  const { app, report } = await site()
  const others = [app.bob]
  for (const name of ['carla', 'dora']) {
    const given = { email: `${name}@elsewhere.example`, password: undefined, role: null }
    others.push((await addAccount({ ...given, wantsToken: false }, app)).id)
  }
  const [bob = '', carla = '', dora = ''] = others
  const refuse = (id: string) => setRelays(app, id, [{ ...mine, how: 'refused' }])
  await refuse(bob)
  expect(await setRelays(app, app.ann, [mine])).toBe('done')
  await refuse(carla)
  const id = await report('disputed', dora)
  const asked = await findReport(app.pool, id)
  if (!asked) throw new Error('The report is missing.')
  expect(await answerQuestion(app, asked, { ip: border, isMine: true })).toBe('disputed')
  const block = { ...mine, cidr: '192.0.2.0/24' }
  const customer = { ...mine, name: 'c-192-0-2-10.dyn.elsewhere.example' }
  for (const one of [block, customer]) {
    expect(await setRelays(app, dora, [one])).toBe('disputed')
  }
  expect(await listRelays(app.pool, dora)).toEqual([])
  // The MX records of the address name the machine.
  const named = [{ domain: 'elsewhere.example', host: 'mx.hoster.example' }]
  await noteExchangers(app.pool, named, new Date())
  expect(await answerQuestion(app, asked, { ip: border, isMine: true })).toBe('done')
  expect(await listRelays(app.pool, dora)).toMatchObject([{ cidr: mine.cidr, how: 'set' }])
})

/** Reports a message that accuses the border, because its reporter denied it before. */
async function accused(mark = 'accused') {
  const its = await site()
  await setRelays(its.app, its.app.ann, [{ ...mine, how: 'refused' }])
  return { ...its, id: await its.report(mark) }
}

test('a complaint that is being sent meanwhile is taken back, too', async () => {
  const { app, told, analyze, id } = await accused()
  const mailer = {
    async send() {
      await setRelays(app, app.ann, [mine])
      return { outcome: 'accepted' as const, reply: '250 OK' }
    },
    close: () => Promise.resolve(),
  }
  await runForwardReport([{ reportId: id, number: 1 }], { ...app, parser, mailer })
  await analyze(id)
  expect(await told(id)).toEqual([
    'complaint abuse@hosting-one.example sent',
    'redeemed abuse@hosting-one.example queued',
    'complaint abuse@access-two.example queued',
  ])
})

test('a new complaint to the same desk is not taken back', async () => {
  const its = await site()
  const { app, told, analyze, report } = its
  await app.pool.query(`update networks set abuse = 'abuse@one.example',
    contacts = '{abuse@one.example}'`)
  await setRelays(app, app.ann, [{ ...mine, how: 'refused' }])
  const id = await report('same-desk')
  const mailer = {
    send: () => Promise.resolve({ outcome: 'accepted' as const, reply: '250 OK' }),
    close: () => Promise.resolve(),
  }
  const send = (number: number) =>
    runForwardReport([{ reportId: id, number }], { ...app, parser, mailer })
  await send(1)
  await setRelays(app, app.ann, [mine])
  await analyze(id)
  for (const number of [2, 3]) await send(number)
  expect(await told(id)).toEqual([
    'complaint abuse@one.example sent',
    'redeemed abuse@one.example sent',
    'complaint abuse@one.example sent',
  ])
})

test('a sample of several reports is taken back when the last of them is corrected', async () => {
  const { app, report, told, analyze, id } = await accused('campaign')
  await setRelays(app, app.bob, [{ ...mine, how: 'refused' }])
  const other = await report('campaign', app.bob)
  const state = 'update feedback_reports set state = $2, finished_at = now()'
  await app.pool.query(`${state}, incidents = 2, message_id = '<x@y>' where report_id = $1`, [
    id,
    'sent',
  ])
  await app.pool.query(`${state}, merged_into = $3, merged_number = 1 where report_id = $1`, [
    other,
    'merged',
    id,
  ])
  await setRelays(app, app.ann, [mine])
  await analyze(id)
  expect((await told(id)).filter((one) => one.startsWith('redeemed'))).toEqual([])
  await setRelays(app, app.bob, [mine])
  expect(await told(id)).toContain('redeemed abuse@hosting-one.example queued')
})

test('a report whose message is deleted keeps its analysis, but notifies nobody', async () => {
  const { app, told, id } = await accused()
  await removeMessages(app.pool, [id])
  await setRelays(app, app.ann, [mine])
  expect((await findReport(app.pool, id))?.state).toBe('analyzed')
  expect(await told(id)).toEqual(['complaint abuse@hosting-one.example withdrawn'])
  expect(await app.rows('select id from reported_evidence where id = $1', [id])).toEqual([])
})

test('a report whose search for a contact failed is corrected, too', async () => {
  const { app, id } = await accused()
  await app.pool.query(`update reports set state = 'failed' where id = $1`, [id])
  await setRelays(app, app.ann, [mine])
  expect((await findReport(app.pool, id))?.state).toBe('received')
})

test('an answer of a registry about the former origin is not used', async () => {
  const app = await closeAfterThisTest(openTestApp({ ORIGIN_CONFIDENCE_MIN: '0.7' }))
  await app.pool.query('delete from networks')
  let correct: () => Promise<unknown> = () => Promise.resolve()
  const rdap: NonNullable<TestApp['rdap']> = {
    mayAsk: () => true,
    ask: async (ip: string) => {
      await correct()
      const network = { holdsFor: [`${ip}/32`], name: 'Border', country: null }
      return { is: 'found', contacts: ['abuse@border.example'], network } as never
    },
  } as never
  const its = { ...app, parser, rdap }
  await setRelays(app, app.ann, [{ ...mine, how: 'refused' }])
  const raw = relayedMessage('race').toString().replaceAll('relay.provider', 'mx.hoster')
  const { id } = await app.report(Buffer.from(raw))
  await runAnalyzeReport([{ reportId: id }], its)
  correct = async () => {
    correct = () => Promise.resolve()
    await setRelays(app, app.ann, [mine])
    await runAnalyzeReport([{ reportId: id }], its)
  }
  await runFindContact([{ reportId: id }], its)
  expect(await findAnalysis(app.pool, id)).toMatchObject({ originIp: spammer, network: null })
  expect(await listFeedback(app.pool, [id])).toEqual([])
})
