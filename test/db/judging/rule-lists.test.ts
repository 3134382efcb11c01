import { pino } from 'pino'
import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { deleteExpiredRows } from '../../../src/db/expired-rows.ts'
import { addRuleListHits, listRuleListEntries, listRuleLists } from '../../../src/db/rule-lists.ts'
import { DAY_MS } from '../../../src/durations.ts'
import { openRules } from '../../../src/judging/live-rules.ts'
import {
  addRuleList,
  addRuleListEntries,
  dropRuleListEntries,
  removeRuleList,
  tryRuleListEntries,
} from '../../../src/judging/rule-lists.ts'
import { applyRules } from '../../../src/judging/rule-versions.ts'
import { factDefinitions, packFacts } from '../../../src/verdict/facts/facts.ts'
import { ruleListBounds } from '../../../src/verdict/rules/rule-lists.ts'
import { uuidv7 } from '../../../src/world.ts'
import { refusal } from '../../../src/phrase.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { keepJudgedFacts } from '../../support/judged-facts.ts'
import { parser } from '../../support/parser.ts'
import { until } from '../../support/process.ts'
import { ruleText } from '../../support/rule-facts.ts'

const { pool } = await closeAfterTests(freshDatabase())
let now = new Date()
const app = { pool, clock: () => now, config: { needsFourEyes: false } }
const rule = ruleText('AB', JSON.stringify('content.text_words.listed("casino-words")'))
const applied = (content: string, base: number) =>
  applyRules({ pool, definitions: factDefinitions }, content, base, {
    ...{ at: now, reporterId: null, note: '' },
  })

test('a rule cannot name a list that does not exist', async () => {
  expect(await applied(rule, 0)).toMatchObject({
    faults: [{ reason: 'Unknown list "casino-words".' }],
  })
})

test('lists are created, filled and emptied, with audit entries', async () => {
  const list = { list: 'casino-words', kind: 'words', note: 'Gambling' }
  expect(await runAction(addRuleList, list, app, null)).toMatchObject({ done: 'created' })
  expect(await runAction(addRuleList, list, app, null)).toMatchObject({
    problems: [{ field: 'list' }],
  })
  const entries = '# From a colleague\n\nFREE  Spins\ncasino\r\nCasino\n'
  const given = { list: 'casino-words', entries, note: 'First', days: '3' }
  expect(await runAction(addRuleListEntries, given, app, null)).toMatchObject({ count: 2 })
  expect(await runAction(addRuleListEntries, given, app, null)).toMatchObject({ count: 0 })
  const stored = await listRuleListEntries(pool, 'casino-words', { limit: 10 })
  expect(stored).toMatchObject([{ value: 'casino' }, { value: 'free spins', note: 'First' }])
  const dropped = { list: 'casino-words', entries: 'Free spins' }
  expect(await runAction(dropRuleListEntries, dropped, app, null)).toMatchObject({ count: 1 })
  const audit = await listAudit(pool, { before: undefined, limit: 9 })
  expect(audit.map(({ action, detail }) => `${action}: ${detail}`).sort()).toEqual([
    expect.stringMatching(/^add list entries: casino-words: free spins; casino, until .*: First$/),
    expect.stringMatching(/^add list entries: casino-words/),
    'add rule list: casino-words (words): Gambling',
    'remove list entries: casino-words: free spins',
  ])
})

test('an import with an error, or beyond the limits, changes nothing', async () => {
  const add = (entries: string) =>
    runAction(addRuleListEntries, { list: 'casino-words', entries, note: 'x' }, app, null)
  expect(await add('poker\n1\n')).toMatchObject({
    problems: [
      { message: refusal('refused.entry-words', { line: 2, max: ruleListBounds.wordsMax }) },
    ],
  })
  const million = Array.from(
    { length: 150_000 },
    (_, at) => `word ${String(at).replaceAll(/\d/g, (digit) => 'bcdfghjklm'[Number(digit)] ?? '')}`,
  ).join('\n')
  expect(await add(million.slice(0, ruleListBounds.importBytesMax))).toMatchObject({
    problems: [{ message: refusal('refused.entries', { max: 100_000 }) }],
  })
  expect(await add('a'.repeat(ruleListBounds.importBytesMax + 1))).toMatchObject({
    problems: [{ message: refusal('refused.entries-large', { megabytes: 4 }) }],
  })
  expect(await listRuleLists(pool)).toMatchObject([{ name: 'casino-words', entries: 1 }])
})

test('a process follows the lists, forgets ended entries, and counts hits', async () => {
  expect(await applied(rule, 0)).toMatchObject({ version: 1 })
  const log = pino({ level: 'silent' })
  const clock = () => now
  const rules = await openRules({ pool, clock, log, name: 'test', definitions: factDefinitions })
  const raised = (text_words: string) =>
    rules.current().run({ content: { text_words } }).length > 0 || undefined
  expect(raised('a casino')).toBe(true)
  const given = { list: 'casino-words', entries: 'poker', note: 'x' }
  await runAction(addRuleListEntries, given, app, null)
  await until('the new entry', () => raised('poker'))
  now = new Date(now.getTime() + 4 * DAY_MS)
  await until('the end of the entry', () => !raised('a casino') || undefined)
  await rules.close()
  const [casino, poker] = await listRuleListEntries(pool, 'casino-words', { limit: 10 })
  expect(casino?.hits).toBeGreaterThan(0)
  expect(poker).toMatchObject({ value: 'poker', hits: 1 })
  await deleteExpiredRows(pool, { rule_list_entries: now })
  expect(await listRuleLists(pool)).toMatchObject([{ entries: 1 }])
})

test('hits of an entry that was removed are dropped', async () => {
  await addRuleListHits(pool, [{ list: 'casino-words', value: 'gone', hits: 3 }], now)
  expect(await listRuleLists(pool)).toMatchObject([{ hits: 1 }])
})

test('a list that the active rules use is not deleted', async () => {
  const removal = () => runAction(removeRuleList, { list: 'casino-words' }, app, null)
  expect(await removal()).toMatchObject({
    problems: [{ message: refusal('refused.list-used') }],
  })
  await applied(ruleText('AB', 'true'), 1)
  expect(await removal()).toMatchObject({ done: 'deleted' })
  expect(await removal()).toEqual({ unchanged: 'nothing' })
})

test('entries are tried on past reports, and wanted mail stands out', async () => {
  const messages = [
    ['undecided', 'Visit https://shop.bad.example/a now'],
    ['legitimate', 'Your order: https://www.bad.example/order'],
    ['undecided', 'Nothing at all'],
  ] as const
  for (const [its, text] of messages) {
    const id = uuidv7(now)
    await keepJudgedFacts(pool, [{ id, at: now, facts: packFacts({}) }])
    await pool.query('update analyses set verdict_class = $1 where id = $2', [its, id])
    await pool.query(
      `insert into raw_messages (id, shard, encoding, content)
       values ($1, shard_of($1), 'identity', $2)`,
      [id, Buffer.from(`From: a@b.example\n\n${text}\n`)],
    )
  }
  const tried = await tryRuleListEntries(
    pool,
    { kind: 'hosts', values: ['bad.example', 'good.example'] },
    { last: 10, readWritten: parser.readWritten },
  )
  expect(tried).toMatchObject({
    reports: 3,
    hits: [{ value: 'bad.example', reports: 2, wanted: 1 }],
  })
})
