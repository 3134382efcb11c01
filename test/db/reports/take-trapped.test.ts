import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/sources.ts'
import { insertInboundMail } from '../../../src/db/inbox.ts'
import { pack, type Packed, unpack } from '../../../src/db/rows.ts'
import { feedbackFormats } from '../../../src/mail/feedback-format.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { createIntake, type Intake } from '../../../src/reports/accept-report.ts'
import { createTrapMemory, runTakeTrapped } from '../../../src/reports/take-trapped.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { analyzeReports } from '../../support/judge.ts'
import { leaksIn } from '../../support/leaks.ts'
import { contentOf } from '../../support/feedback-reports.ts'
import { freshMail, greeted, keptFor, listenFor } from '../processes/listener.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

async function addSource(address: string, kind = 'trap'): Promise<void> {
  const ran = await runCommand(operations, ['add', address, '--kind', kind], app)
  expect(ran).toMatchObject({ code: 0 })
}

/** A mail of a campaign, as it arrives at a trap. */
function trapMail(mark: string, campaign: string): Buffer {
  const words = 'our pills are the best pills of the whole world and cost nothing this week only'
  const text = [
    'From: "Pills" <pills@shop.example>',
    'To: old@trap.example',
    `Subject: Offer ${campaign} ${mark}`,
    `Message-ID: <${mark}@shop.example>`,
    'Content-Type: text/plain',
    '',
    `${campaign} ${words.replaceAll('pills', campaign)}`,
    `Buy ${campaign} at https://${campaign}.example/ now, dear old@trap.example of ${mark}.`,
  ]
  return Buffer.from(`${text.join('\r\n')}\r\n`)
}

async function arrived(raw: Buffer, rcptTo = 'old@trap.example'): Promise<{ mailId: string }> {
  const id = uuidv7(new Date())
  const [source] = await app.rows(
    `select id from mail_sources where address = any($1) order by address like '@%'`,
    [[rcptTo, rcptTo.replace(/^.*@/, '@')]],
  )
  const nothing = { reportId: null, number: null, letterId: null }
  await insertInboundMail(app.pool, {
    ...{ id, rcptTo, purpose: 'trap', ...nothing, receivedAt: new Date() },
    ...{ mailFrom: 'x@shop.example', peerIp: '198.51.100.23', ...(await pack(raw)) },
    reporterId: String(source?.['id']),
  })
  return { mailId: id }
}

function take(
  mails: readonly { mailId: string }[],
  more: Partial<Parameters<typeof runTakeTrapped>[1]> = {},
) {
  const trapMemory = createTrapMemory()
  return runTakeTrapped(mails, { ...app, parser, intake: createIntake(app), trapMemory, ...more })
}

async function reported(campaign: string) {
  return app.rows(
    `select id, channel, kind, reporter_id as "reporterId" from reports
     where subject like $1 order by id`,
    [`Offer ${campaign} %`],
  )
}

async function listed(address: string): Promise<Record<string, unknown>> {
  const { stdout } = await runCommand(operations, ['list'], app)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return lines.find((line) => line['address'] === address) ?? {}
}

test('a mail to a trap is a report with the origin that delivered it', async () => {
  await addSource('@trap.example')
  expect(await take([await arrived(trapMail('first', 'watches'))])).toEqual(['done'])
  const [report] = await reported('watches')
  const { id } = await listed('@trap.example')
  expect(report).toMatchObject({ channel: 'trap', kind: 'spam', reporterId: id })
  const reportId = String(report?.['id'])
  await analyzeReports({ ...app, parser }, [reportId])
  expect(
    await app.rows('select host(origin_ip) as ip from analyses where id = $1', [reportId]),
  ).toEqual([{ ip: '198.51.100.23' }])
  expect(await keptFor(app, 'old@trap.example')).toEqual([])
  expect(await app.rows('select from letters')).toEqual([])
})

test('abuse desks do not see the address of the trap', async () => {
  const [report] = await reported('watches')
  const [stored] = await app.rows('select encoding, content from raw_messages where id = $1', [
    report?.['id'],
  ])
  const raw = await unpack(stored as Packed)
  expect(raw.toString()).toMatch(/for <old@trap.example>; /)
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const [reporter] = await app.rows('select email from reporters where id = $1', [
    report?.['reporterId'],
  ])
  const addresses = [String(reporter?.['email'])]
  const secrets = { addresses: ['old@trap.example'], words: ['old@trap', 'trap.example'] }
  for (const format of feedbackFormats) {
    const content = contentOf(1, { format, reporter: { addresses } })
    const mail = await composeFeedback(raw, analysis, content)
    expect(await leaksIn(mail.raw, secrets)).toEqual([])
  }
})

test('a trap reports one mail of a campaign a day, and counts the others', async () => {
  await addSource('second@trap.example')
  const to = 'second@trap.example'
  const mails = await Promise.all(
    ['a', 'b', 'c', 'd'].map((mark) =>
      arrived(trapMail(mark, mark === 'd' ? 'loans' : 'diets'), to),
    ),
  )
  await take(mails)
  expect(await reported('diets')).toHaveLength(1)
  expect(await reported('loans')).toHaveLength(1)
  const ids = [...(await reported('diets')), ...(await reported('loans'))].map(({ id }) =>
    String(id),
  )
  await analyzeReports({ ...app, parser }, ids)
  // Another process knows the campaign from the database: the first mail after the analysis tells
  // which trap reported it.
  await take([await arrived(trapMail('e', 'diets'), to)])
  await take([await arrived(trapMail('f', 'diets'), to)])
  expect((await reported('diets')).length).toBeLessThanOrEqual(2)
  const { received, reported: count, repeated } = await listed(to)
  expect(received).toBe(6)
  expect(Number(count) + Number(repeated)).toBe(6)
  // Another trap is another source.
  await take([await arrived(trapMail('g', 'loans'))])
  expect(await reported('loans')).toHaveLength(2)
})

test('a campaign that goes on is reported again on the next day', async () => {
  const trapMemory = createTrapMemory()
  for (const [mark, hours] of [...'abc'].map((one, at) => [one, at * 12] as const)) {
    const clock = () => new Date(Date.UTC(2026, 10, 20, 1 + hours))
    await take([await arrived(trapMail(mark, 'lottery'))], { trapMemory, clock })
  }
  expect(await reported('lottery')).toHaveLength(2)
})

test('a worker that is killed before it counted the mails makes no second report', async () => {
  const mails = [await arrived(trapMail('killed', 'casino'))]
  const intake = createIntake(app)
  const dying: Intake = {
    accept: async (submission) => {
      await intake.accept(submission)
      throw new Error('killed')
    },
  }
  await expect(take(mails, { intake: dying })).rejects.toThrow('killed')
  expect(await reported('casino')).toHaveLength(1)
  await take(mails)
  await take(mails)
  expect(await reported('casino')).toHaveLength(1)
  expect(await app.rows('select from inbound_mails where id = $1', [mails[0]?.mailId])).toEqual([])
})

test('what is no mail, or goes to a disabled reporter, is only counted', async () => {
  await addSource('third@trap.example')
  const { id } = await listed('third@trap.example')
  await take([await arrived(Buffer.from('\r\nnothing'), 'third@trap.example')])
  await app.pool.query(`update reporters set state = 'disabled' where id = $1`, [id])
  await take([await arrived(trapMail('off', 'gold'), 'third@trap.example')])
  expect(await listed('third@trap.example')).toMatchObject({ received: 2, refused: 2 })
  expect(await reported('gold')).toEqual([])
})

test('the listener takes mail to a trap always, and above the limits only counts it', async () => {
  await addSource('fourth@trap.example')
  const limits = { mailsPerMinute: 2, bytesPerMinute: 1_000_000, allPerMinute: 10 }
  const listener = await listenFor(app, {}, { trap: limits })
  const talk = await greeted(listener.port)
  for (let count = 0; count < 5; count++) {
    await talk.say('MAIL FROM:<x@shop.example>')
    expect(await talk.say('RCPT TO:<Fourth@Trap.example>')).toMatch(/^250 /)
    await talk.say('DATA')
    expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  }
  await talk.say('MAIL FROM:<x@shop.example>')
  expect(await talk.say('RCPT TO:<fifth@other.example>')).toMatch(/^550 /)
  talk.end()
  await listener.close()
  expect(await keptFor(app, 'Fourth@Trap.example')).toHaveLength(2)
  expect(await listed('fourth@trap.example')).toMatchObject({ received: 3, dropped: 3 })
  const [jobs] = await app.rows(
    `select count(*) as count from pgboss.job where name = 'take-trapped'`,
  )
  expect(jobs).toEqual({ count: 2 })
})

test.for([
  ['trap.example', /Enter an address such as/],
  ['*@trap.example', /Enter an address such as/],
  ['@bounces.test.example', /has other uses/],
] as const)('"%s" cannot be a trap', async ([address, why]) => {
  const ran = runCommand(operations, ['add', address, '--kind', 'trap'], app)
  const said = await ran.then(({ stderr }) => stderr, String)
  expect(said).toMatch(why)
})

test('a removed trap refuses mail; added again, it is the same reporter', async () => {
  const { id } = await listed('second@trap.example')
  await runCommand(operations, ['remove', 'second@trap.example'], app)
  expect(await listed('second@trap.example')).toEqual({})
  await addSource('second@trap.example')
  expect(await listed('second@trap.example')).toMatchObject({ id, received: 0 })
  const audit = await app.rows(
    `select action, detail from audit_log where detail like 'second@%' order by at`,
  )
  expect(audit.map(({ action }) => action)).toEqual([
    'add mail source',
    'remove mail source',
    'add mail source',
  ])
})

test.for([
  ['MAIL FROM: x@shop.example', 'x@shop.example'],
  ['MAIL FROM:<"john doe"@shop.example> SIZE=100', '"john doe"@shop.example'],
  ['MAIL FROM:<"a@b"@shop.example>', '"a@b"@shop.example'],
  ['MAIL FROM:<john..doe@shop.example>', 'john..doe@shop.example'],
  ['mail from <x@shop.example>', 'x@shop.example'],
] as const)('a trap accepts %j', async ([command, mailFrom]) => {
  const trap = `loose-${mailFrom.length}-${command.length}@loose.example`
  await addSource(trap)
  const listener = await listenFor(app)
  const talk = await greeted(listener.port)
  expect(await talk.say(command)).toMatch(/^250 /)
  expect(await talk.say('MAIL FROM: other@shop.example')).toMatch(/^503 /)
  expect(await talk.say(`RCPT TO: ${trap}`)).toMatch(/^250 /)
  await talk.say('DATA')
  expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  expect(await talk.say('MAIL FROM:<x\u007f@shop.example>')).toMatch(/^501 /)
  talk.end()
  await listener.close()
  expect(await keptFor(app, trap)).toMatchObject([{ mailFrom }])
})
