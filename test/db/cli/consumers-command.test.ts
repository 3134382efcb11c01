import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/consumers.ts'
import { UsageError } from '../../../src/errors.ts'
import { readConsumerLines } from '../../../src/feedback/consumer-lines.ts'
import { runCommand } from '../../support/command.ts'
import { freshDatabase } from '../../support/database.ts'
import { runProgram } from '../../support/process.ts'

const line = {
  address: 'abuse@desk.example',
  state: 'enrolled',
  format: 'xarf',
  pace: 'digest',
  takes: ['phishing'],
  hourly_max: 60,
  scopes: ['192.0.2.0/24', 'AS64496', 'desk.example'],
}

test('consumers are created, shown, paused, resumed and stopped on the command line', async () => {
  const database = await freshDatabase()
  const app = { pool: database.pool, clock: () => new Date() }
  const run = async (...args: string[]) => {
    const { code, stdout } = await runCommand(operations, args, app)
    return code === 0 ? (JSON.parse(stdout) as Record<string, unknown>) : undefined
  }
  const set = ['--pace', 'campaign', '--scopes', '192.0.2.0-192.0.2.255,AS64496', '--hourly', '9']
  expect(await run('show', 'abuse@desk.example')).toBeUndefined()
  expect(await run('set', 'Abuse@desk.example', '--enroll', ...set)).toMatchObject({
    ...{ address: 'abuse@desk.example', state: 'enrolled', pace: 'campaign', hourly_max: 9 },
    scopes: ['AS64496', '192.0.2.0/24'],
  })
  const more = ['--hourly', 'none', '--takes', 'spam,malware', '--note', 'by telephone']
  expect(await run('set', 'abuse@desk.example', ...more)).toMatchObject({
    ...{ state: 'enrolled', pace: 'campaign', hourly_max: null, takes: ['spam', 'malware'] },
    note: 'by telephone',
  })
  expect(await run('pause', 'abuse@desk.example', '--days', '3')).toMatchObject({ state: 'paused' })
  expect(await run('resume', 'abuse@desk.example')).toMatchObject({ state: 'enrolled' })
  expect(await run('resume', 'abuse@desk.example')).toBeUndefined()
  expect(await run('stop', 'abuse@desk.example')).toMatchObject({ state: 'stopped' })
  expect(await run('resume', 'abuse@desk.example')).toMatchObject({ state: 'enrolled' })
  const { rows } = await database.pool.query('select action from audit_log order by id')
  const actions = rows.map(({ action }: { action: string }) => action.split(' ')[0])
  const expected = ['enroll', 'pause', 'resume', 'resume', 'set', 'set', 'stop']
  expect(actions.sort()).toEqual(expected)
  await database.close()
})

test('an export can be imported, and a second import changes nothing', async () => {
  const database = await freshDatabase()
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-consumers-'))
  try {
    const env = { ...database.env, LOG_LEVEL: 'warn' }
    const file = path.join(folder, 'consumers.jsonl')
    await writeFile(file, `${JSON.stringify(line)}\n\n`)
    const imported = await runProgram(['consumers', 'import', file], env)
    expect(imported).toMatchObject({ code: 0, stdout: 'Imported 1 consumer.\n', stderr: '' })
    const exported = await runProgram(['consumers', 'export'], env)
    expect(JSON.parse(exported.stdout)).toMatchObject({
      ...line,
      scopes: ['AS64496', 'desk.example', '192.0.2.0/24'],
    })
    await writeFile(file, exported.stdout)
    const before = await database.pool.query('select to_jsonb(audit_log) from audit_log')
    expect((await runProgram(['consumers', 'import', file], env)).code).toBe(0)
    const after = await database.pool.query('select to_jsonb(audit_log) from audit_log')
    expect(after.rows).toEqual(before.rows)
    expect((await runProgram(['consumers', 'show', 'nobody@desk.example'], env)).code).toBe(1)
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
})

test.for([
  ['list', '--state', 'gone'],
  ['set', 'nobody'],
  ['set', 'a@desk.example', '--pace', 'never'],
  ['set', 'a@desk.example', '--hourly', '0'],
  ['set', 'a@desk.example', '--scopes', '0.0.0.0/0'],
  ['pause', 'a@desk.example', '--days', '9999'],
  ['import'],
])('%o is refused', async (args) => {
  await expect(runCommand(operations, args, {})).rejects.toThrow(UsageError)
})

test('errors in a file have line numbers, and nothing of the file is imported', () => {
  const faulty = [
    '{',
    JSON.stringify(line),
    '{"address":"nobody"}',
    '{"address":"a@b.example","scopes":["com"]}',
  ]
  expect(readConsumerLines(faulty.join('\n'))).toEqual({
    problems: [
      { message: 'Line 1: This line is not valid JSON.' },
      { message: 'Line 3: address is not a valid email address' },
      { message: 'Line 4: Not a block, AS number or domain: com' },
    ],
  })
})
