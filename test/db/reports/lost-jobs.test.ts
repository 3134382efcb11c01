import { beforeEach, expect, test } from 'vitest'
import { ensureConsumers } from '../../../src/db/consumers.ts'
import { insertInboundMail } from '../../../src/db/inbox.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { queueFeedback } from '../../../src/feedback/queue-feedback.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runKeepHouse, runMarkDead } from '../../../src/reports/keep-house.ts'
import { queueLetter } from '../../../src/letters/send-letter.ts'
import { runAction } from '../../../src/actions.ts'
import { retryDeadLetters } from '../../../src/queue/redrive.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

let made = 0

const app = await closeAfterTests(openTestApp())

beforeEach(() => app.pool.query('delete from pgboss.job'))

type Payload = { reportId: string }

const later = { is: 'later' as const, why: 'It is away.', retryAt: new Date() }
const away = () => Promise.resolve(later)
const rdap = { mayAsk: () => true, ask: away, askDomain: away }
const inAnHour = () => new Date(Date.now() + 3_600_000)

/** Creates a report that waits for a registry. */
async function lookUp(): Promise<Payload> {
  const { id } = await app.report(spamMessage(`lost-${++made}`, { ip: '8.8.4.4' }))
  await runAnalyzeReport([{ reportId: id }], { ...app, parser, rdap })
  return { reportId: id }
}

/** Creates a report whose network has an abuse desk. */
async function owed(): Promise<Payload> {
  const { id } = await app.report(spamMessage(`owed-${++made}`, { ip: '192.0.2.7' }))
  await runAnalyzeReport([{ reportId: id }], { ...app, parser })
  return { reportId: id }
}

async function jobs(name: string): Promise<unknown[]> {
  const rows = await app.rows(
    `select data from pgboss.job where name = $1 and state < 'completed' order by created_on, id`,
    [name],
  )
  return rows.map(({ data }) => data)
}

async function stateOf({ reportId }: Payload) {
  const [row] = await app.rows('select state from reports where id = $1', [reportId])
  return row?.['state']
}

async function die(payload: object, queue: string) {
  const id = await app.boss.send('dead-letter', payload)
  await app.pool.query(`update pgboss.job set source_name = $2 where id = $1`, [id, queue])
}

const house = () => runKeepHouse({ ...app, clock: inAnHour })

test('a look-up without a job is queued again, once, whatever else waits', async () => {
  const lost = await lookUp()
  await app.pool.query('delete from pgboss.job')
  const [inHand, inLine] = [await lookUp(), await lookUp()]
  await app.boss.fetch('find-contact')
  await runKeepHouse(app)
  expect(await jobs('find-contact')).toEqual([inHand, inLine])
  await house()
  await house()
  expect(await jobs('find-contact')).toEqual([inHand, inLine, lost])
})

test('feedback without a job is queued again, but not a dead letter', async () => {
  const [lost, dead] = [await owed(), await owed()]
  await app.pool.query('delete from pgboss.job')
  await die({ ...dead, number: 1 }, 'forward-report')
  await house()
  expect(await jobs('forward-report')).toEqual([{ ...lost, number: 1 }])
  expect(await jobs('find-contact')).not.toContainEqual(lost)
})

test('each feedback report of a report has a separate job', async () => {
  const [told, dead] = [await owed(), await owed()]
  const consumers = await ensureConsumers(
    app.pool,
    [{ address: 'abuse@second.example', source: 'network' }],
    new Date(),
  )
  const consumer = consumers.get('abuse@second.example')
  const second = consumer ? [told, dead].map((one) => ({ ...one, consumer })) : []
  await inTransaction(app.pool, (tx) => queueFeedback(tx, second, app, app.clock()))
  await app.pool.query('delete from pgboss.job')
  await app.boss.send('forward-report', { ...told, number: 1 })
  await die({ ...dead, number: 1 }, 'forward-report')
  await house()
  const again = [told, dead].map((one) => ({ ...one, number: 2 }))
  const inLine = await jobs('forward-report')
  expect(inLine).toEqual(expect.arrayContaining([{ ...told, number: 1 }, ...again]))
  expect(inLine).not.toContainEqual({ ...dead, number: 1 })
  await app.pool.query(`update feedback_reports set state = 'held' where state = 'queued'`)
})

test('mail that was given up for its age starts anew when it is redriven', async () => {
  const { reportId } = await owed()
  await app.pool.query('delete from pgboss.job')
  const payload = { reportId, number: 1, postponedSince: new Date(0).toISOString() }
  await die(payload, 'forward-report')
  const clock = inAnHour
  const moved = await runAction(retryDeadLetters, {}, { ...app, clock }, null)
  expect(moved).toMatchObject({ count: 1 })
  expect(await jobs('forward-report')).toEqual([{ reportId, number: 1 }])
})

test('an address known only from messages is deleted when nothing refers to it', async () => {
  const year = new Date(Date.now() - 4 * 365 * 86_400_000)
  const wanted = ['cfbl', 'network'] as const
  const named = wanted.map((source) => ({ address: `${source}@old.example`, source }))
  await ensureConsumers(app.pool, named, year)
  await ensureConsumers(app.pool, [{ address: 'new@old.example', source: 'cfbl' }], new Date())
  await app.pool.query(
    `insert into consumer_hours select id, now(), 1, 1 from consumers where source = 'cfbl'`,
  )
  await runKeepHouse(app)
  const left = await app.rows(`select address from consumers where address like '%@old.example'`)
  expect(left.map(({ address }) => address).toSorted()).toEqual([
    ...['network@old.example', 'new@old.example'],
  ])
})

test('a letter without a job is queued again, but not a dead letter', async () => {
  const oweTo = (to: string) =>
    inTransaction(app.pool, (tx) => {
      const said = { subject: 'Hello', text: 'Hello.', language: 'en' } as const
      const letter = { kind: 'advice', to, autoSubmitted: 'generated', ...said } as const
      return queueLetter(tx, letter, app, app.clock())
    })
  const [lost, dead] = [await oweTo('lost@reporters.example'), await oweTo('d@reporters.example')]
  await app.pool.query('delete from pgboss.job')
  await die({ letterId: dead }, 'send-letter')
  await house()
  await house()
  expect(await jobs('send-letter')).toEqual([{ letterId: lost }])
})

test('an inbound mail without a job is queued again', async () => {
  const nobody = { reportId: null, number: null, letterId: null, reporterId: null, peerIp: null }
  const to = { mailFrom: '', rcptTo: 'fb@bounces.test.example', purpose: 'other' } as const
  const mail = { ...to, ...nobody }
  const content = { encoding: 'identity', content: Buffer.from('Subject: x\r\n\r\n') } as const
  const id = uuidv7(app.clock())
  await insertInboundMail(app.pool, { id, receivedAt: app.clock(), ...mail, ...content })
  await house()
  await house()
  expect(await jobs('handle-inbound')).toEqual([{ mailId: id }])
})

test('a look-up that is a dead letter marks its report failed once, with an event', async () => {
  const lost = await lookUp()
  await die(lost, 'find-contact')
  await runMarkDead(app)
  await runMarkDead(app)
  expect(await stateOf(lost)).toBe('failed')
  const events = await app.rows(
    `select phrases from report_events where report_id = $1 and event = 'failed'`,
    [lost.reportId],
  )
  expect(events).toEqual([
    { phrases: [{ code: 'look-up-failed' }, { code: 'operators-can-retry' }] },
  ])
  await app.pool.query(`delete from pgboss.job where name = 'find-contact'`)
  await house()
  expect(await jobs('find-contact')).not.toContainEqual(lost)
})

test('a look-up that another run has finished is not marked', async () => {
  const done = await owed()
  await die(done, 'find-contact')
  await runMarkDead(app)
  expect(await stateOf(done)).toBe('analyzed')
})

test('a report whose look-up is a dead letter is not analyzed again', async () => {
  const lost = await lookUp()
  await die(lost, 'find-contact')
  await runMarkDead(app)
  expect(await runAnalyzeReport([lost], { ...app, parser, rdap })).toEqual(['done'])
  expect(await stateOf(lost)).toBe('failed')
})
