import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ModelReport } from '../../src/verdict/model/figures.ts'
import { closeAfterTests, makeTestFolder } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { labeledMessage } from '../support/models.ts'
import { runProgram } from '../support/process.ts'

const database = await closeAfterTests(freshDatabase())
const folder = await makeTestFolder()
for (const kind of ['phishing', 'ham'] as const) {
  await mkdir(path.join(folder, kind))
  for (let number = 1; number <= 150; number++) {
    await writeFile(path.join(folder, kind, `${number}.eml`), labeledMessage(kind, number))
  }
}

const files = () => [
  ...['--files', `${path.join(folder, 'phishing')}:phishing`],
  ...['--files', `${path.join(folder, 'ham')}:ham`],
]

function signalpost(...args: string[]) {
  return runProgram(args, { DATABASE_URL: database.url, DATA_DIR: folder })
}

test('a model is trained from files, evaluated, reproduced, and promoted', async () => {
  const out = path.join(folder, 'report.json')
  const first = await signalpost('train', ...files(), '--out', out)
  expect(first).toMatchObject({ code: 0 })
  expect(first.stdout).toContain(
    'Saved as version 1. Activate it with "signalpost models promote 1".',
  )
  expect(first.stdout).toMatch(/threshold +precision +recall/)
  const report = JSON.parse(await readFile(out, 'utf8')) as ModelReport
  expect(report.auc).toBeGreaterThan(0.6)
  expect(report.auc).toBeLessThan(1)
  expect(report.importance.length).toBeGreaterThan(0)
  expect(first.stdout).toContain('pieces of text with the largest weights')
  const { train, test: measured } = report.rows
  const counts = [train, measured].flatMap((part) => Object.values(part))
  expect(counts.reduce((sum, count) => sum + count, report.rows.leftOut)).toBe(300)

  expect((await signalpost('train', ...files(), '--out', out)).code).toBe(0)
  const again = JSON.parse(await readFile(out, 'utf8')) as ModelReport & { version: number }
  expect({ ...again, version: 1 }).toEqual({ ...report, version: 1 })
  const same = await database.pool.query<{ one: boolean }>(
    `select count(distinct calibration) = 1 as one from models`,
  )
  expect(same.rows).toEqual([{ one: true }])

  expect((await signalpost('models', 'promote', '2')).code).toBe(0)
  expect((await signalpost('models', 'list')).stdout).toMatch(/2 +active.*\n *1 +candidate/)
})

test('the rows for training elsewhere are written with names that can be read back', async () => {
  const rows = path.join(folder, 'rows.csv')
  expect((await signalpost('train', ...files(), '--rows', rows)).code).toBe(0)
  const [head = '', ...lines] = (await readFile(rows, 'utf8')).trimEnd().split('\n')
  expect(head).toMatch(/^[a-z].*,label$/)
  expect(lines).toHaveLength(300)
  expect(lines.filter((line) => line.endsWith(',1'))).toHaveLength(150)
})

test.for([
  ['too few messages', () => files().slice(0, 2)],
  ['a folder that is not there', () => ['--files', '/nonexistent:ham']],
  ['a label that is none', () => ['--files', `${folder}:good`]],
  ['a split that is none', () => [...files(), '--split', 'chance']],
] as const)('%s is refused', async ([, args]) => {
  const outcome = await signalpost('train', ...args())
  expect(outcome).toMatchObject({ code: 2 })
})
