import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packFacts } from '../../src/verdict/facts/facts.ts'
import { uuidv7 } from '../../src/world.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { keepJudgedFacts } from '../support/judged-facts.ts'
import { runProgram, runSeveral } from '../support/process.ts'
import { ruleText } from '../support/rule-facts.ts'

let database: TestDatabase
let folder: string

beforeAll(async () => {
  ;[database, folder] = await Promise.all([
    freshDatabase(),
    mkdtemp(path.join(tmpdir(), 'signalpost-rules-')),
  ])
})

afterAll(async () => {
  await Promise.all([database.close(), rm(folder, { recursive: true, force: true })])
})

/** Runs commands of the rules, one after the other. */
function rules(...lines: readonly string[]) {
  const split = lines.map((line) => ['rules', ...line.split(' ')])
  return runSeveral(split, { ...database.env })
}

async function file(name: string, content: string): Promise<string> {
  const written = path.join(folder, name)
  await writeFile(written, content)
  return written
}

const good = ruleText('WORD', 'report.kind == "spam"', 5)

test('a file is checked without a database, and its errors have positions', async () => {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' }
  const bad = await file('bad.yaml', ruleText('WORD', 'report.knid == ""', 50))
  const lines = [
    ['rules', 'check', bad],
    ['rules', 'facts'],
  ]
  const [refused, facts] = await runSeveral(lines, nowhere)
  expect(refused?.code).toBe(1)
  expect(refused?.stderr).toBe(
    `${bad}:2:11 WORD: A weight must be a number from -20 to 20.\n` +
      `${bad}:4:9 WORD: Unknown fact report.knid. Did you mean report.kind?\n`,
  )
  expect(facts?.stdout).toMatch(/^report\.kind +string +\S/m)
  const taken = await runProgram(['rules', 'check', '-'], nowhere, good)
  expect(taken).toMatchObject({ code: 0, stdout: '- is valid: 1 rules.\n' })
})

test('rules are compared, tested, applied, listed and rolled back', async () => {
  const ids = [1, 2, 3].map((at) => uuidv7(new Date(Date.now() + at)))
  await keepJudgedFacts(
    database.pool,
    ids.map((id) => ({
      id,
      at: new Date(),
      facts: packFacts({ report: { kind: 'spam' }, message: { kind: 'message' } }),
    })),
  )
  const [none, given] = [await file('none.yaml', '[]'), await file('good.yaml', good)]
  const [, compared, tried, applied, ...later] = await rules(
    `apply ${none} --note Nothing.`,
    `diff ${given}`,
    `dry-run ${given} --last 2`,
    `apply ${given} --note Spam_again.`,
    'list',
    'show',
    'rollback 1',
    'show',
    'show 2',
    'history',
  )
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringContaining('+ WORD (+5)') })
  expect(compared?.stdout).toContain('Against version 1: 1 added.')

  expect(tried?.code).toBe(0)
  expect(tried?.stdout).toContain('2 of 2 reports would get a different verdict.')
  expect(tried?.stdout).toMatch(new RegExp(`^${ids[2]} +undecided → spam +0 → 5 +\\+WORD$`, 'm'))
  expect(tried?.stdout).not.toContain(ids[0])

  expect(applied).toMatchObject({ code: 0 })
  expect(applied?.stdout).toContain('Applied version 2: 1 added.')
  const [list, show, rollback, shownAfter, showSecond, history] = later.map(({ stdout }) => stdout)
  expect(list).toMatch(/^WORD +\+5 +What WORD means\.$/m)
  expect(show).toBe(good)
  expect(rollback).toContain('Applied version 3: 1 removed.')
  expect(shownAfter).toBe('[]')
  expect(showSecond).toBe(good)
  expect(history).toMatch(/^3 .*Return to version 1\.\n2 .*Spam_again\.\n1 .*Nothing\.$/m)
})

test('"rules diff", "dry-run" and "apply" refuse a file with errors', async () => {
  const bad = await file('unknown.yaml', ruleText('WORD', 'no.fact'))
  const actions = ['diff', 'dry-run', 'apply']
  for (const refused of await rules(...actions.map((action) => `${action} ${bad}`))) {
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`${bad}:4:9 WORD: Unknown fact no.fact.`)
  }
})

test('a missing version is refused', async () => {
  expect(await rules('rollback 77', 'show 77')).toMatchObject([{ code: 1 }, { code: 1 }])
})
