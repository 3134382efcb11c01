import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packFacts } from '../../src/verdict/facts/facts.ts'
import { uuidv7 } from '../../src/world.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { keepJudgedFacts } from '../support/judged-facts.ts'
import { type Outcome, runProgram } from '../support/process.ts'
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

function rules(args: string, input = ''): Promise<Outcome> {
  return runProgram(['rules', ...args.split(' ')], { ...database.env }, input)
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
  const refused = await runProgram(['rules', 'check', bad], nowhere)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toBe(
    `${bad}:2:11 WORD: A weight must be a number from -20 to 20.\n` +
      `${bad}:4:9 WORD: Unknown fact report.knid. Did you mean report.kind?\n`,
  )
  const taken = await runProgram(['rules', 'check', '-'], nowhere, good)
  expect(taken).toMatchObject({ code: 0, stdout: '- is valid: 1 rules.\n' })
  const facts = await runProgram(['rules', 'facts'], nowhere)
  expect(facts.stdout).toMatch(/^report\.kind +string +\S/m)
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
  await rules(`apply ${await file('none.yaml', '[]')} --note Nothing.`)
  const given = await file('good.yaml', good)
  const compared = await rules(`diff ${given}`)
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringContaining('+ WORD (+5)') })
  expect(compared.stdout).toContain('Against version 1: 1 added.')

  const tried = await rules(`dry-run ${given} --last 2`)
  expect(tried.code).toBe(0)
  expect(tried.stdout).toContain('2 of 2 reports would get a different verdict.')
  expect(tried.stdout).toMatch(new RegExp(`^${ids[2]} +undecided → spam +0 → 5 +\\+WORD$`, 'm'))
  expect(tried.stdout).not.toContain(ids[0])

  const applied = await rules(`apply ${given} --note Spam_again.`)
  expect(applied).toMatchObject({ code: 0 })
  expect(applied.stdout).toContain('Applied version 2: 1 added.')
  expect((await rules('list')).stdout).toMatch(/^WORD +\+5 +What WORD means\.$/m)
  expect((await rules('show')).stdout).toBe(good)
  expect((await rules('rollback 1')).stdout).toContain('Applied version 3: 1 removed.')
  expect((await rules('show')).stdout).toBe('[]')
  expect((await rules('show 2')).stdout).toBe(good)
  const history = await rules('history')
  expect(history.stdout).toMatch(/^3 .*Return to version 1\.\n2 .*Spam_again\.\n1 .*Nothing\.$/m)
})

test.for(['diff', 'dry-run', 'apply'])('"rules %s" refuses a file with errors', async (action) => {
  const bad = await file(`${action}.yaml`, ruleText('WORD', 'no.fact'))
  const refused = await rules(`${action} ${bad}`)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`${bad}:4:9 WORD: Unknown fact no.fact.`)
})

test('a missing version is refused', async () => {
  expect(await rules('rollback 77')).toMatchObject({ code: 1 })
  expect(await rules('show 77')).toMatchObject({ code: 1 })
})
