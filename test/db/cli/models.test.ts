import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { operations } from '../../../src/cli/train/models.ts'
import { listAudit } from '../../../src/db/audit-log.ts'
import { listModels } from '../../../src/db/models.ts'
import { UsageError } from '../../../src/errors.ts'
import { keepModel, type LiveModel, openModel } from '../../../src/judging/models.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { runCommand } from '../../support/command.ts'
import { freshDatabase } from '../../support/database.ts'
import { sureModel } from '../../support/models.ts'

const database = await closeAfterTests(freshDatabase())
const folder = await makeTestFolder()

beforeEach(() => database.pool.query('delete from models'))

let deeds = 0
const start = Date.now()
const clock = () => new Date(start + ++deeds)
const log = pino({ level: 'silent' })

/**
 * Runs the command and returns its output; throws if the command is refused. Each action has its
 * own instant.
 */
async function models(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(operations, args, {
    pool: database.pool,
    clock,
  })
  if (code !== 0) throw new Error(stdout + stderr)
  return stdout
}

async function bringIn(content: Buffer): Promise<void> {
  const file = path.join(folder, 'model.json')
  await writeFile(file, content)
  const said = await models('import', file, '--format', 'catboost')
  await models('test', /version (\d+)/.exec(said)?.[1] ?? '')
}

const states = async () =>
  (await listModels(database.pool, 10)).map(({ version, state }) => `${version} ${state}`)

const says = (live: LiveModel) => live.current()?.apply({}, []).probability

test('an imported model is not active before it is promoted', async () => {
  await bringIn(sureModel(3))
  expect(await states()).toEqual(['1 candidate'])
  const live = await openModel({ pool: database.pool, log })
  expect(live.current()).toBeUndefined()
  await live.close()
})

test('a model is promoted only after a recent test on the mail of the site', async () => {
  const file = path.join(folder, 'untested.json')
  await writeFile(file, sureModel(3))
  await models('import', file, '--format', 'catboost')
  await expect(models('promote', '1')).rejects.toThrow('Run “signalpost models test 1”.')
  expect(await models('test', '1')).toContain('No report of this site can test it yet')
  const later = { pool: database.pool, clock: () => new Date(start + 8 * 86_400_000) }
  expect(await runCommand(operations, ['promote', '1'], later)).toMatchObject({ code: 1 })
  await models('promote', '1')
  expect(await states()).toEqual(['1 active'])
})

test('a model whose result is not a probability cannot be promoted', async () => {
  // Each leaf is finite, but their sum is infinite, and the resulting probability is not a number.
  const model = JSON.parse(sureModel(1e308).toString()) as { oblivious_trees: unknown[] }
  const [tree] = model.oblivious_trees
  await bringIn(
    Buffer.from(
      JSON.stringify({ ...model, oblivious_trees: [tree, tree], scale_and_bias: [0, [0]] }),
    ),
  )
  await expect(models('promote', '1')).rejects.toThrow('not a probability')
  expect(await states()).toEqual(['1 candidate'])
})

test('a model with unknown or hidden features cannot be promoted', async () => {
  const rest = { format: 'catboost', calibration: { slope: 1, intercept: 0 } } as const
  for (const feature of ['links.gone', 'report.karma']) {
    const model = { ...rest, content: sureModel(3, feature), report: null, origin: 'A test.' }
    const deed = { at: clock(), reporterId: null }
    const version = await keepModel(database.pool, { ...model, trainedAt: clock() }, deed)
    await expect(models('promote', String(version))).rejects.toThrow(feature)
  }
})

test('one model is active at a time, and rollbacks undo promotions in order', async () => {
  for (const logOdds of [1, 2, 3]) await bringIn(sureModel(logOdds))
  await models('promote', '1')
  await models('promote', '3')
  await models('promote', '2')
  expect(await states()).toEqual(['3 retired', '2 active', '1 retired'])
  expect(await models('rollback')).toContain('Version 3 is active again')
  expect(await models('rollback')).toContain('Version 1 is active again')
  expect(await models('rollback')).toContain('No model is active now.')
  expect(await states()).toEqual(['3 retired', '2 retired', '1 retired'])
  await expect(models('rollback')).rejects.toThrow('No model is active')
  const [last] = await listAudit(database.pool, { before: undefined, limit: 1 })
  expect(last).toMatchObject({ action: 'roll back model', detail: '1: no model is active' })
})

test('processes follow promotions and rollbacks within two seconds', async () => {
  await bringIn(sureModel(-4))
  await bringIn(sureModel(4))
  await models('promote', '1')
  const lives = await Promise.all([1, 2, 3].map(() => openModel({ pool: database.pool, log })))
  expect(lives.every((live) => (says(live) ?? 1) < 0.2)).toBe(true)
  const all = (version: number) => lives.every((live) => live.current()?.version === version)
  await models('promote', '2')
  await expect.poll(() => all(2)).toBe(true)
  expect(lives.every((live) => (says(live) ?? 0) > 0.8)).toBe(true)
  await models('rollback')
  await expect.poll(() => all(1)).toBe(true)
  await Promise.all(lives.map((live) => live.close()))
})

test('a model that fails is not promoted and replaces none', async () => {
  await bringIn(sureModel(4))
  await models('promote', '1')
  const broken = { format: 'linear', content: Buffer.from('PK'), report: null } as const
  const rest = { calibration: { slope: 1, intercept: 0 }, origin: 'the tests', trainedAt: clock() }
  await keepModel(database.pool, { ...broken, ...rest }, { at: clock(), reporterId: null })
  await expect(models('promote', '2')).rejects.toThrow(/Refused: /)
  const live = await openModel({ pool: database.pool, log })
  // Simulates another program version, which supports the format and promoted the model.
  await database.pool.query(`update models set state = 'retired' where version = 1`)
  await database.pool.query(
    `update models set state = 'active', promoted_at = $1 where version = 2`,
    [clock()],
  )
  const told: string[] = []
  const write = (line: string) => told.push((JSON.parse(line) as { msg: string }).msg)
  const loud = pino({ level: 'error' }, { write: (line: string) => void write(line) })
  const other = await openModel({ pool: database.pool, log: loud })
  expect(other.current()).toBeUndefined()
  expect(told).toEqual(['Cannot load the new model. The previous one stays active.'])
  expect(says(live)).toBeGreaterThan(0.8)
  await Promise.all([live.close(), other.close()])
})

test('an imported model with forbidden features is refused', async () => {
  await expect(bringIn(sureModel(1, 'report.kind=spam'))).rejects.toThrow(/report\.kind=spam/)
  await expect(bringIn(sureModel(1, 'links.made_up'))).rejects.toThrow(/links\.made_up/)
  await expect(bringIn(Buffer.from('{}'))).rejects.toThrow(
    /model\.json: This is not a CatBoost model/,
  )
  expect(await states()).toEqual([])
})

test('two models imported at once get different versions', async () => {
  const files = await Promise.all(
    [1, 2, 3, 4].map(async (logOdds) => {
      const file = path.join(folder, `${logOdds}.json`)
      await writeFile(file, sureModel(logOdds))
      return file
    }),
  )
  await Promise.all(files.map((file) => models('import', file, '--format', 'catboost')))
  expect(await states()).toHaveLength(4)
})

test.for([
  [],
  ['list', '1'],
  ['promote'],
  ['promote', 'last'],
  ['promote', '0'],
  ['show', '1', '2'],
  ['import', 'a.json'],
  ['import', 'a.json', '--format', 'onnx'],
  ['export', '1'],
  ['rollback', '--format', 'catboost'],
  ['forget', '1'],
])('models %s is a usage error', async (args) => {
  const isMisuse = models(...args).catch(
    (error: unknown) =>
      error instanceof UsageError || (error instanceof TypeError && 'code' in error),
  )
  expect(await isMisuse).toBe(true)
})

test('a missing version changes nothing', async () => {
  await expect(models('promote', '9')).rejects.toThrow(/Unknown version/)
  await expect(models('show', '9')).rejects.toThrow(/Unknown version/)
  await expect(models('test', '9')).rejects.toThrow(/Unknown version/)
})
