import { expect, test } from 'vitest'
import { readReports } from '../../../src/cli/train/read-reports.ts'
import { type StoredJudgment, insertAnalyses } from '../../../src/db/analyses.ts'
import { factDefinitions, packFacts } from '../../../src/verdict/facts/facts.ts'
import { replaceCountedReports } from '../../../src/db/counter-rows.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { featureReader, modelFeatures } from '../../../src/verdict/model/features.ts'
import { retractReport } from '../../../src/reports/change-report.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { spamMessage } from '../../support/messages.ts'

const app = await closeAfterTests(openTestApp())

type JudgedWith = {
  kind?: 'phishing' | 'not-spam'
  karma: number
  hosts: number
  verdict?: 'spam'
  /** The reporter; ann when absent. */
  reporterId?: string
  campaignId?: string
}

/** Stores a report that was judged with the given facts. */
async function judged(mark: string, told: JudgedWith): Promise<string> {
  const { kind, karma, hosts, verdict, reporterId, campaignId } = told
  const given = { ...(kind && { kind }), ...(reporterId && { reporterId }) }
  const { id } = await app.report(spamMessage(mark), given)
  if (campaignId) {
    await replaceCountedReports(app.pool, [{ id, campaignId, content: Buffer.alloc(0) }])
  }
  const symbol = { name: 'FORGED_HOP', weight: 2, meaning: 'A hop was invented.' }
  const judgment = {
    verdict: { class: verdict ?? 'undecided', confidence: 0.5, score: 2, symbols: [symbol] },
    consequence: { action: 'keep', why: 'The tests keep it.' },
  } as unknown as StoredJudgment
  await insertAnalyses(app.pool, [
    {
      id,
      analyzedAt: new Date(),
      originIp: null,
      originConfidence: null,
      network: null,
      verdictClass: judgment.verdict.class,
      verdictScore: 2,
      subject: mark,
      judgment,
      packed: { encoding: 'identity', content: Buffer.from('{}') },
      facts: packFacts({
        report: { is_given: true, kind: kind ?? 'spam', karma },
        links: { hosts },
      }),
    },
  ])
  return id
}

const read = (since = new Date(0)) => readReports(app.pool, since, () => undefined)

test('conclusive reports become rows, with the facts they were judged by', async () => {
  await judged('trusted', { karma: 0.9, hosts: 3 })
  await judged('a newcomer', { karma: 0.2, hosts: 4 })
  await judged('wanted', { kind: 'not-spam', karma: 0.9, hosts: 5 })
  await judged('wanted by one, and judged to be spam', {
    ...{ kind: 'not-spam', karma: 0.9, hosts: 6, verdict: 'spam' },
  })
  const taken = await judged('taken back', { karma: 0.9, hosts: 7 })
  await retractReport(app, taken, { isReporter: true })

  const rows = await read()
  expect(rows.map(({ kind, facts }) => [kind, facts['links']?.['hosts']])).toEqual([
    ['spam', 3],
    ['ham', 5],
  ])
  expect(rows.every(({ symbols }) => symbols[0]?.name === 'FORGED_HOP')).toBe(true)
  expect(new Set(rows.map(({ campaign }) => campaign)).size).toBe(2)
  expect(Math.abs((rows[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000)

  const texts = await Promise.all(rows.map(async ({ load }) => (await load())?.toString()))
  expect(texts[0]).toContain('trusted')
  expect(rows.every(({ text }) => text.length > 5)).toBe(true)
  expect(rows.every(({ reporterId }) => reporterId === app.ann)).toBe(true)

  const features = modelFeatures(factDefinitions, ['FORGED_HOP'], 'reports')
  const numbers = featureReader(features)?.(rows[0]?.facts ?? {}, rows[0]?.symbols ?? [])
  expect(numbers?.[features.indexOf('symbol.FORGED_HOP')]).toBe(1)
  expect([...(numbers ?? [])].filter((value) => value === 0.9)).toEqual([])
})

test('reports before the first requested day are left out', async () => {
  expect(await read(new Date(Date.now() + 60_000))).toEqual([])
})

test('new accounts create no labels by agreeing, and cancel none', async () => {
  const campaignId = uuidv7(new Date())
  const by = (reporterId: string, told: JudgedWith) =>
    judged(`${told.hosts} by ${reporterId}`, { ...told, reporterId, campaignId })
  const newcomers = await Promise.all(Array.from({ length: 4 }, () => account()))
  const labels = async () =>
    (await read()).map(({ kind, facts }) => [kind, facts['links']?.['hosts']])
  const before = await labels()
  for (const id of newcomers) await by(id, { kind: 'not-spam', karma: 0.2, hosts: 20 })
  expect(await labels()).toEqual(before)
  await by(app.ann, { karma: 0.9, hosts: 21 })
  await by(app.bob, { karma: 0.9, hosts: 22 })
  const told = [...before, ['spam', 21], ['spam', 22]]
  expect(await labels()).toEqual(told)
  await by(await account(), { karma: 0.2, hosts: 23 })
  expect(await labels()).toEqual([...told, ['spam', 23]])
})

async function account(): Promise<string> {
  const [id, createdAt] = [uuidv7(new Date()), new Date()]
  const email = `${id}@reporters.example`
  await insertReporter(app.pool, { id, email, passwordHash: null, role: null, createdAt })
  return id
}
