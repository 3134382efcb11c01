import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../../src/cli/train/models.ts'
import { trainNightly } from '../../../src/cli/train/nightly.ts'
import { type StoredJudgment, insertAnalyses } from '../../../src/db/analyses.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { replaceCountedReports } from '../../../src/db/counter-rows.ts'
import { listModels } from '../../../src/db/models.ts'
import { analyzeForCounting } from '../../../src/pieces/analyze.ts'
import { factsOf, packFacts } from '../../../src/verdict/facts/facts.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { runCommand } from '../../support/command.ts'
import { labeledMessage } from '../../support/models.ts'

const app = await closeAfterTests(openTestApp())
const nightly = (clock = app.clock) => trainNightly({ ...app, clock }, () => undefined)
const states = async () =>
  (await listModels(app.pool, 10)).map(({ version, state }) => `${version} ${state}`)

/** Stores reports by a trusted reporter; the model then active gave them the probability. */
async function judged(from: number, to: number, estimated?: (kind: string) => number) {
  const numbers = Array.from({ length: to - from }, (_, at) => from + at)
  const analyses = await Promise.all(numbers.map((number) => judgedOne(number, estimated)))
  await insertAnalyses(app.pool, analyses)
  // Rows are split by campaign; without campaigns the random ids of the reports would decide.
  await replaceCountedReports(
    app.pool,
    analyses.map(({ id }, at) => ({
      ...{ id, content: Buffer.of() },
      campaignId: `00000000-0000-4000-8000-${zeros(from + at)}`,
    })),
  )
}

const zeros = (number: number) => String(number).padStart(12, '0')

async function judgedOne(number: number, estimated?: (kind: string) => number) {
  const kind = number % 2 === 0 ? 'phishing' : 'not-spam'
  // Only numbers of messages that are typical of their kind, so that chance decides nothing.
  const raw =
    kind === 'phishing'
      ? labeledMessage('phishing', 6 * number + 2)
      : labeledMessage('ham', 6 * number + 1)
  const { id } = await app.report(raw, { kind })
  const { features } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: true })
  const probability = estimated?.(kind)
  const estimate = probability === undefined ? {} : { estimate: { probability } }
  const judgment = {
    verdict: { class: 'undecided', confidence: 0.5, score: 2, symbols: [], ...estimate },
    consequence: { action: 'keep', why: [] },
  } as unknown as StoredJudgment
  const facts = { ...factsOf({ features, now: new Date() }), report: { kind, karma: 1 } }
  return {
    ...{ id, analyzedAt: new Date(), originIp: null, originConfidence: null, network: null },
    ...{ verdictClass: 'undecided', verdictScore: 2, subject: null, judgment },
    packed: { encoding: 'identity', content: Buffer.from('{}') } as const,
    facts: packFacts(facts),
  }
}

beforeAll(() => judged(0, 100))

test('too few reports give no model', async () => {
  expect(await nightly()).toMatch(/^100 reports can be used for training. At least 200/)
  expect(await states()).toEqual([])
})

test('a model is offered with its figures, and promoted only if that is allowed', async () => {
  const weekLater = new Date(Date.now() + 7 * 86_400_000)
  await judged(100, 260)
  expect(await nightly(() => weekLater)).toBe(
    'Saved as version 1.\nIt is no worse than no model for any kind of mail.',
  )
  expect(await states()).toEqual(['1 candidate'])
  const shown = await runCommand(operations, ['show', '1'], app)
  expect(shown.stdout).toMatch(/Of 100 messages that it calls unwanted, [\d.]+ are\./)
  // All of the newest week, and what the training set apart of the older reports.
  const [, unwanted] = /unwanted mail found +[\d.]+ % .* of (\d+)\)/.exec(shown.stdout) ?? []
  expect(Number(unwanted)).toBeGreaterThan(80)
  expect(Number(unwanted)).toBeLessThan(105)
  const allowed = await runCommand(operations, ['automatic', 'on'], app)
  expect(allowed).toMatchObject({ code: 0 })
  expect(await nightly()).toContain('Promoted it automatically.')
  expect(await states()).toEqual(['2 active', '1 candidate'])
})

test('a model is followed by one as good, and rolled back if reports contradict it', async () => {
  expect(await nightly()).toContain('no worse than version 2')
  expect(await states()).toContain('3 active')
  await judged(260, 380, (kind) => (kind === 'phishing' ? 0.1 : 0.9))
  expect(await nightly()).toMatch(
    /^Rolled back version 3: it agrees with 0\.0 % of 120 reports, not [\d.]+ %\.\n/,
  )
  const [, fallen] = await listModels(app.pool, 2)
  const day = new Date().toISOString().slice(0, 10)
  expect(fallen).toMatchObject({ version: 3, agreement: [{ day, reports: 120, agreed: 0 }] })
  const details = (await listAudit(app.pool, { before: undefined, limit: 20 })).map(
    ({ action, detail }) => {
      return `${action}: ${detail}`
    },
  )
  expect(details).toContainEqual(expect.stringMatching(/^roll back model: 3: it agrees with 0/))
  expect(details).toContain('promote model: 3: automatically')
})
