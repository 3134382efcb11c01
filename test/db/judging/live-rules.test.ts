import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPool } from '../../../src/db/pool.ts'
import { listRuleProcesses } from '../../../src/db/rule-sets.ts'
import { openRules, type LiveRules } from '../../../src/judging/live-rules.ts'
import { applyRules } from '../../../src/judging/rule-versions.ts'
import { factDefinitions } from '../../../src/verdict/facts/facts.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/process.ts'
import { ruleText } from '../../support/rule-facts.ts'
import type { RulesProcessWord } from '../../support/rules-process.ts'

const facts = { links: { count: 9 } }
const database = await closeAfterTests(freshDatabase())

let version = 0
let children: ChildProcess[] = []

afterEach(() => children.splice(0).forEach((child) => child.kill()))

beforeEach(async () => {
  await apply(ruleText('BEGIN', 'true'))
})

async function apply(content: string | null, definitions = factDefinitions): Promise<number> {
  const app = { pool: database.pool, definitions }
  const deed = { at: new Date(), reporterId: null, note: '' }
  const applied = await applyRules(app, content, version, deed)
  if (!('version' in applied)) throw new Error(JSON.stringify(applied))
  return (version = applied.version)
}

function open(pool = database.pool): Promise<LiveRules> {
  return openRules({
    pool,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    name: 'test',
    definitions: factDefinitions,
  })
}

const symbolsOf = (rules: LiveRules) =>
  rules
    .current()
    .run(facts)
    .map(({ name }) => name)

/** Resolves when a version is active. */
async function untilActing(rules: LiveRules, wanted: number): Promise<void> {
  await until(`version ${wanted}`, () => rules.state().version === wanted || undefined)
}

/** Cuts the connections of all pools whose name starts with `name`. */
async function cut(name: string): Promise<number> {
  const { rowCount } = await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like $1`,
    [`${name}%`],
  )
  return rowCount ?? 0
}

test('a new version is active soon after it is applied', async () => {
  const rules = await open()
  expect(symbolsOf(rules)).toEqual(['BEGIN'])
  await untilActing(rules, await apply(ruleText('FRESH', 'links.count > 3')))
  expect(symbolsOf(rules)).toEqual(['FRESH'])
  await rules.close()
})

test('it becomes active even if the connection just broke', async () => {
  const lost: Error[] = []
  const onLost = (error: Error) => lost.push(error)
  const pool = createPool(database.url, { connectionsMax: 1, name: 'followed', onLost })
  const rules = await open(pool)
  const next = await apply(ruleText('FIRST', 'true'))
  await untilActing(rules, next)
  expect(await cut('followed')).toBe(1)
  const last = await apply(ruleText('LAST', 'true'))
  await untilActing(rules, last)
  expect(symbolsOf(rules)).toEqual(['LAST'])
  await rules.close()
  await pool.end()
})

test('a version that this program cannot run changes nothing, and is logged', async () => {
  const rules = await open()
  const novel = [...factDefinitions, { ...futureFact('novel'), type: 'double' as const }]
  const next = await apply(ruleText('NOVEL', 'future.novel > 1'), novel)
  await until('the fault', () => rules.state().fault)
  expect(rules.state()).toMatchObject({ version: next - 1 })
  expect(rules.state().fault).toContain('4:9 NOVEL: Unknown fact future.novel.')
  expect(symbolsOf(rules)).toEqual(['BEGIN'])
  const told = async () => {
    const processes = await listRuleProcesses(database.pool, new Date(Date.now() - 60_000))
    return processes.find(({ fault }) => fault?.includes('future.novel') === true)
  }
  expect(await until('the word of the process', told)).toMatchObject({
    name: 'test',
    version: next - 1,
  })
  await untilActing(rules, await apply(ruleText('AGAIN', 'true')))
  expect(rules.state().fault).toBeUndefined()
  await rules.close()
})

function futureFact(name: string) {
  return { group: 'future', name, meaning: 'A fact that only a later program has.' }
}

test('the shipped rules become active again when they are restored', async () => {
  const rules = await open()
  await untilActing(rules, await apply(null))
  const reported = rules.current().run({ report: { kind: 'spam', karma: 1 } })
  expect(reported.map(({ name }) => name)).toContain('REPORTED_SPAM')
  await rules.close()
})

test('a process that ends is no longer listed', async () => {
  const rules = await open()
  const listed = async () =>
    (await listRuleProcesses(database.pool, new Date(0))).filter(({ name }) => name === 'test')
  expect(await listed()).toHaveLength(1)
  await rules.close()
  expect(await listed()).toEqual([])
})

test('three processes under load apply every change as a whole', async () => {
  const script = path.join(import.meta.dirname, '../../support/rules-process.ts')
  children = ['one', 'two', 'three'].map((name) => fork(script, [database.url, name]))
  const words = children.map(() => [] as RulesProcessWord[])
  for (const [at, child] of children.entries()) {
    child.on('message', (word: RulesProcessWord) => words[at]?.push(word))
  }
  const acting = (wanted: number) => () => {
    const found = words.map((said) =>
      said.flatMap((word) => (word.is === 'acting' && word.version === wanted ? [word.at] : [])),
    )
    return found.every((at) => at.length > 0) ? found.flat() : undefined
  }
  await until('all three', acting(version))
  for (let change = 1; change <= 3; change++) {
    const content = Array.from({ length: change * 100 }, (_, at) =>
      ruleText(`R${change}_${at}`, `links.count > ${at % 9}`),
    ).join('')
    const next = await apply(content)
    if (change === 2) expect(await cut('three')).toBeGreaterThan(0)
    await until(`version ${next}`, acting(next))
  }
  for (const child of children) child.send('stop')
  await Promise.all(children.map(ended))
  for (const said of words) {
    expect(said.at(-1)).toMatchObject({ is: 'over', mixed: 0 })
    expect(said.at(-1)).toHaveProperty(
      'judged',
      expect.toSatisfy((judged) => judged > 1_000),
    )
  }
})

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, 'exit')
  expect(child.exitCode).toBe(0)
}
