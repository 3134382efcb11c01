import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { listJudgedReports } from '../../../src/db/models.ts'
import { sumMarkedReports } from '../../../src/db/simulations.ts'
import { uuidFloor } from '../../../src/world.ts'
import { runSendNews } from '../../../src/letters/reporter-news.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { confirmReport, retractReport } from '../../../src/reports/change-report.ts'
import {
  addSimulation,
  makeSimulationKey,
  readSimulations,
  stopSimulation,
} from '../../../src/reports/simulations.ts'
import { refusalIn } from '../../../src/texts/phrases.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { lettersTo } from '../../support/letters.ts'
import { spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { fakeDns, rsaKey, signed } from '../../support/signing.ts'

const key = rsaKey()
const domain = 'training.example.org'
const { resolve } = fakeDns({ [`TXT s1._domainkey.${domain}`]: [key.record] })
const dns = { resolve, listings: async () => [] }
const marks = ['X-Mailer: gophish', 'X-Gophish-Contact: it@example.org', 'X-PHISHTEST: 1']

/** A simulated message; by default without any proof. */
function lure(mark: string, fields: readonly string[] = [], ip?: string): Buffer {
  const text = spamMessage(mark, ip === undefined ? {} : { ip }).toString()
  const from = `From: "Payroll" <payroll@${domain}>`
  return Buffer.from(text.replace(/^From: .*$/m, [...fields, from].join('\r\n')))
}

const signedLure = (mark: string) => signed(lure(mark, marks), { domain, key })

/** A site on which reports are analyzed as they come. */
async function site() {
  const app = await closeAfterThisTest(openTestApp())
  const its = { ...app, parser, dns }
  return {
    app: its,
    add: (given: object) =>
      runAction(addSimulation, { name: 'Spring', vendor: 'gophish', ...given }, app, null),
    analyze: async (raw: Buffer, more: Parameters<typeof app.report>[1] = {}) => {
      const { id } = await app.report(raw, { kind: 'phishing', ...more })
      await runAnalyzeReport([{ reportId: id }], its)
      return id
    },
    again: (reportId: string) => runAnalyzeReport([{ reportId }], its),
    actionOf: async (id: string) => (await findAnalysis(app.pool, id))?.details.consequence.action,
    counts: async () => {
      const [first] = await readSimulations(app.pool, { before: undefined, limit: 9 })
      return first && { people: first.people, rate: first.rate }
    },
    stored: (table: string) => app.rows(`select * from ${table}`),
    people: async (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, n) => {
          const email = `p${n}@reporters.example`
          return (
            await addAccount({ email, password: undefined, role: null, wantsToken: false }, app)
          ).id
        }),
      ),
  }
}

test('a signed simulation is counted and thanked for, and has no other effect', async () => {
  const { app, add, analyze, actionOf, counts, stored, people } = await site()
  expect(await add({ signers: domain, recipients: '8' })).toMatchObject({ done: 'added' })
  expect(await app.rows('select name, vendor, signers from simulations')).toEqual([
    { name: 'Spring', vendor: 'gophish', signers: [domain] },
  ])
  const raw = await signedLure('spring')
  const ids = [await analyze(raw), await analyze(raw, { reporterId: app.bob })]
  expect(await counts()).toEqual({ people: null, rate: null })
  for (const reporterId of await people(2)) ids.push(await analyze(raw, { reporterId }))
  expect(await counts()).toEqual({ people: 4, rate: 0.5 })
  for (const id of ids) {
    expect(await actionOf(id)).toBe('simulation')
    expect(await listFeedback(app.pool, [id])).toEqual([])
  }
  const tables = ['reported_evidence', 'counted_reports', 'reports_to_count', 'campaigns']
  for (const table of [...tables, 'campaign_days', 'simulation_marks', 'advices']) {
    expect([table, await stored(table)]).toEqual([table, []])
  }
  const found = await findAnalysis(app.pool, ids[0] ?? '')
  expect(found?.details.verdict).toMatchObject({ class: 'legitimate' })
  const all = { after: uuidFloor(new Date(0)), limit: 9 }
  expect(await listJudgedReports(app.pool, all)).toEqual([])
  const tomorrow = new Date(Date.now() + 86_400_000)
  await runSendNews({ ...app, clock: () => tomorrow })
  const [letter] = await lettersTo(app.pool, 'bob@reporters.example')
  expect(JSON.stringify(letter)).toContain('You recognized a phishing simulation')
})

test('each person counts once, whatever they do with their report', async () => {
  const { app, add, analyze, again, stored } = await site()
  await add({ signers: domain })
  const raw = await signedLure('once')
  const id = await analyze(raw)
  await retractReport(app, id, { isReporter: true })
  expect(await analyze(raw)).toBe(id)
  await again(id)
  await analyze(await signedLure('once-more'))
  await analyze(raw, { reporterId: app.bob, kind: 'not-spam' })
  const rows = await stored('simulation_reports')
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(app.ann)
})

test('a held reporter is not counted', async () => {
  const { add, analyze, actionOf, stored } = await site()
  await add({ signers: domain })
  const id = await analyze(await signedLure('held'), { isShadowed: true })
  expect(await actionOf(id)).toBe('simulation')
  expect(await stored('simulation_reports')).toEqual([])
})

test('a claim of the domain without its signature is ordinary mail', async () => {
  const { app, add, analyze, actionOf, stored } = await site()
  await add({ signers: domain })
  const forged = Buffer.from(
    (await signedLure('forged')).toString().replace('Buy at', 'Pay me at once at'),
  )
  const others = await signed(lure('others'), { domain: 'attacker.example', key: rsaKey() })
  for (const raw of [lure('claimed'), others]) {
    const id = await analyze(raw)
    expect(await actionOf(id)).toBe('forward')
    expect(await listFeedback(app.pool, [id])).toHaveLength(1)
  }
  expect(await actionOf(await analyze(forged))).toBe('confirm')
  expect(await stored('simulation_reports')).toEqual([])
})

test('addresses count as a certain origin, and a key in any field of the header', async () => {
  const { app, add, analyze, actionOf } = await site()
  const secret = makeSimulationKey()
  await add({ ranges: '198.51.100.128/25' })
  await add({ key: secret })
  const both = makeSimulationKey()
  await add({ key: both, ranges: '198.51.100.0/26' })
  const inside = lure('inside', [], '198.51.100.130')
  expect(await actionOf(await analyze(inside))).toBe('simulation')
  const inBody = inside.toString().replace('198.51.100.130', '198.51.100.90')
  const claimed = `Received: from x (x [198.51.100.130]) by y; Mon, 16 Nov 2026 09:00:00 +0000`
  const below = Buffer.from(inBody.replace('From:', `${claimed}\r\nFrom:`))
  expect(await actionOf(await analyze(below))).not.toBe('simulation')
  const keyed = (one: string) => [`X-Training: ${one}`]
  expect(await actionOf(await analyze(lure('keyed', keyed(secret))))).toBe('simulation')
  const wrong = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`
  expect(await actionOf(await analyze(lure('wrong', keyed(wrong))))).toBe('forward')
  const beside = lure('beside', keyed(both), '198.51.100.90')
  expect(await actionOf(await analyze(beside))).toBe('forward')
  const whole = lure('whole', keyed(both), '198.51.100.23')
  expect(await actionOf(await analyze(whole))).toBe('simulation')
  const stored = JSON.stringify(await app.rows('select * from simulations, audit_log'))
  for (const one of [secret, both]) expect(stored).not.toContain(one)
})

test('marks of a vendor delay the first complaint by one question, and no other', async () => {
  const { app, analyze, again, actionOf } = await site()
  const first = await analyze(lure('marked', marks))
  expect(await findAnalysis(app.pool, first)).toMatchObject({
    details: { consequence: { action: 'confirm', why: [{ code: 'simulation-marks' }, {}] } },
  })
  expect(await listFeedback(app.pool, [first])).toEqual([])
  expect(await sumMarkedReports(app.pool)).toMatchObject([
    { vendor: 'gophish', reports: 1, lastId: first },
  ])
  expect(await confirmReport(app, first)).toBe(true)
  await again(first)
  expect(await actionOf(first)).toBe('forward')
  expect(await sumMarkedReports(app.pool)).toMatchObject([{ reports: 1 }])
  const unmarked = await analyze(lure('marked'))
  expect(await actionOf(unmarked)).toBe('forward')
})

test('an ended simulation is ordinary mail, and its counts stay', async () => {
  const { app, add, analyze, actionOf, stored } = await site()
  const added = await add({ signers: domain })
  await analyze(await signedLure('before'))
  const id = 'id' in added ? added.id : ''
  expect(await runAction(stopSimulation, { id }, app, null)).toMatchObject({ done: 'ended' })
  const late = await analyze(await signedLure('late'), { reporterId: app.bob })
  expect(await actionOf(late)).not.toBe('simulation')
  expect(await stored('simulation_reports')).toHaveLength(1)
})

test.for([
  ['no proof', {}, /Without proof/],
  ['a signature that thousands share', { signers: 'sendgrid.net' }, /signs for many customers/],
  ['a mailbox provider', { signers: 'gmail.com' }, /anyone can have a mailbox/],
  ['a range of a whole provider', { ranges: '52.0.0.0/8' }, /too wide/],
  ['a key that can be guessed', { key: 'phish' }, /This is not a key/],
] as const)('%s is refused as proof', async ([, given, problem]) => {
  const { add } = await site()
  const outcome = await add(given)
  const refused = 'problems' in outcome ? outcome.problems : []
  expect(refused.map(({ message }) => refusalIn('en', message).text).join(' ')).toMatch(problem)
})
