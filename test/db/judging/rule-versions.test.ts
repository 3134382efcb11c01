import { expect, test } from 'vitest'
import { listAudit } from '../../../src/db/audit-log.ts'
import { listRuleSets } from '../../../src/db/rule-sets.ts'
import {
  actingRules,
  applyRules,
  dryRunRules,
  findRules,
  rollBackRules,
  shippedRules,
} from '../../../src/judging/rule-versions.ts'
import { factDefinitions, packFacts, unpackFacts } from '../../../src/verdict/facts/facts.ts'
import type { Conclude } from '../../../src/verdict/rules/dry-run.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import type { Packed } from '../../../src/db/rows.ts'
import { parser } from '../../support/parser.ts'
import { freshDatabase } from '../../support/database.ts'
import { keepJudgedFacts } from '../../support/judged-facts.ts'
import { ruleText } from '../../support/rule-facts.ts'

const at = new Date()
const database = await closeAfterTests(freshDatabase())

const deed = { at, reporterId: null, note: '' }
const app = () => ({ pool: database.pool, definitions: factDefinitions })
const first = ruleText('AB', 'links.count > 3') + ruleText('CD', 'true', 2)

test('the shipped rules are active before any others', async () => {
  expect(await actingRules(database.pool)).toEqual({
    version: 0,
    content: shippedRules(),
    isShipped: true,
  })
})

test('rules with an error are not applied, not even in part', async () => {
  const applied = await applyRules(app(), first + ruleText('bad', 'true'), 0, deed)
  expect(applied).toMatchObject({ faults: [{ line: 9 }] })
  expect((await actingRules(database.pool)).version).toBe(0)
})

test('applied rules are the next version, stored byte for byte and logged', async () => {
  const applied = await applyRules(app(), first, 0, { ...deed, note: ' First. ' })
  const changes = expect.stringMatching(/^2 added, \d+ removed$/)
  expect(applied).toEqual({ version: 1, changes })
  expect(await actingRules(database.pool)).toEqual({ version: 1, content: first, isShipped: false })
  const [line] = await listRuleSets(database.pool, { before: undefined, limit: 5 })
  expect(line).toEqual({ version: 1, note: 'First.', appliedAt: at, appliedBy: null })
  const [entry] = await listAudit(database.pool, { before: undefined, limit: 1 })
  expect(entry).toMatchObject({
    action: 'apply rules',
    detail: expect.stringMatching(/^version 1: 2 added, \d+ removed; First\.$/),
  })
})

test('rules edited from an outdated version are refused, not merged', async () => {
  expect(await applyRules(app(), first, 0, deed)).toEqual({ overtakenBy: 1 })
})

test('of two versions applied at once one is refused', async () => {
  const both = await Promise.all([
    applyRules(app(), ruleText('ONE', 'true'), 1, deed),
    applyRules(app(), ruleText('TWO', 'true'), 1, deed),
  ])
  expect(both.filter((applied) => 'version' in applied)).toHaveLength(1)
  expect(both.filter((applied) => 'overtakenBy' in applied)).toEqual([{ overtakenBy: 2 }])
})

test('restoring is a new version with the rules of the old one', async () => {
  expect(await rollBackRules(app(), 1, deed)).toMatchObject({ version: 3 })
  expect(await actingRules(database.pool)).toEqual({ version: 3, content: first, isShipped: false })
  expect(await rollBackRules(app(), 99, deed)).toBeUndefined()
})

test('restoring version 0 activates the shipped rules, also later ones', async () => {
  expect(await rollBackRules(app(), 0, deed)).toMatchObject({ version: 4 })
  expect(await findRules(database.pool, 4)).toMatchObject({ isShipped: true })
  expect(await rollBackRules(app(), 4, deed)).toMatchObject({ version: 5 })
  const { rows } = await database.pool.query(
    'select version from rule_sets where content is null order by version',
  )
  expect(rows).toEqual([{ version: 4 }, { version: 5 }])
})

const judge: Conclude = ({ symbols, estimate }) => {
  const score = symbols.reduce((sum, { weight }) => sum + weight, 0)
  const isSpam = score >= 5 && estimate?.probability === 0.75
  return { class: isSpam ? 'spam' : 'undecided', confidence: 1, score, symbols }
}
const knowledge = {
  definitions: factDefinitions,
  judge,
  unpackFacts,
}

const dryRun = { now: at, readWritten: (packed: Packed) => parser.readWritten(packed) }

test('a dry run shows the changed verdicts by the stored facts, newest first', async () => {
  const ids = Array.from({ length: 450 }, (_, n) => uuidv7(new Date(at.getTime() + n)))
  await keepJudgedFacts(
    database.pool,
    ids.map((id, n) => ({
      id,
      at: new Date(at.getTime() + n),
      facts: packFacts({ links: { count: n } }),
      estimate: { probability: 0.75, isSure: false, isPhishing: false },
    })),
  )
  const told: number[] = []
  const tried = await dryRunRules(
    database.pool,
    ruleText('MANY_LINKS', 'links.count >= 448', 6) +
      ruleText('FAILS', 'attachments.extensions[9] == ""'),
    knowledge,
    { ...dryRun, last: 440, tell: (reports) => told.push(reports) },
  )
  if ('faults' in tried) throw new Error(tried.faults[0]?.reason)
  expect(told).toEqual([200, 400, 440])
  expect(tried.result).toEqual({
    reports: 440,
    changedTotal: 2,
    changed: [ids[449], ids[448]].map((id) => ({
      id,
      before: 'undecided',
      after: 'spam',
      scoreBefore: 0,
      scoreAfter: 6,
      gained: ['MANY_LINKS'],
      lost: [],
    })),
    moves: [{ before: 'undecided', after: 'spam', reports: 2 }],
    symbols: [{ symbol: 'MANY_LINKS', before: 0, after: 2 }],
    errors: [{ symbol: 'FAILS', errors: 440 }],
    cutOff: [],
  })
})

test('a dry run of a file with errors shows them and tests nothing', async () => {
  const told: number[] = []
  const tried = await dryRunRules(database.pool, ruleText('AB', 'no.fact'), knowledge, {
    ...dryRun,
    last: 10,
    tell: (reports) => told.push(reports),
  })
  expect(tried).toMatchObject({ faults: [{ line: 4, column: 9 }] })
  expect(told).toEqual([])
})

test('a dry run of rules about words reads the stored messages', async () => {
  const id = uuidv7(new Date(at.getTime() + 1_000))
  await keepJudgedFacts(database.pool, [{ id, at, facts: packFacts({}) }])
  const raw =
    'From: a@b.example\nSubject: =?utf-8?q?Casino_n=C3=A4cht?=\n\nDear friend, cheap mеds!\n'
  await database.pool.query(
    `insert into raw_messages (id, shard, encoding, content) values ($1, shard_of($1), 'identity', $2)`,
    [id, Buffer.from(raw)],
  )
  const rules =
    ruleText('SUBJECT', JSON.stringify('content.subject.matches("(?i)casino nächt")')) +
    ruleText('DISGUISED', JSON.stringify('content.text_words.contains("cheap meds")'))
  const options = { ...dryRun, last: 1 }
  const tried = await dryRunRules(database.pool, rules, knowledge, options)
  if ('faults' in tried) throw new Error(tried.faults[0]?.reason)
  expect(tried.result.symbols).toEqual([
    { symbol: 'SUBJECT', before: 0, after: 1 },
    { symbol: 'DISGUISED', before: 0, after: 1 },
  ])
})
