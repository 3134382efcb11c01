import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { findShingleSeed } from '../../../src/db/installation.ts'
import { seedShingles } from '../../../src/pieces/shingles/hash.ts'
import { freshDatabase } from '../../support/database.ts'
import { know } from '../../support/listed.ts'
import { runProgram } from '../../support/process.ts'

test('the lists are published and looked up on the command line', async () => {
  const database = await freshDatabase()
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-lists-'))
  try {
    seedShingles((await findShingleSeed(database.pool)) ?? 0n)
    await know(database.pool, [{ kind: 'address', name: '192.0.2.7', bad: 20, at: new Date() }])
    const env = { ...database.env, LISTS_DIR: folder, LOG_LEVEL: 'warn' }
    const published = await runProgram(['lists', 'publish'], env)
    expect(published).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(published.stdout)).toMatchObject({ lists: { addresses: { entries: 1 } } })
    expect(await readdir(folder)).toHaveLength(11)
    const shown = await runProgram(['lists', 'show', '192.0.2[.]7'], env)
    expect(JSON.parse(shown.stdout)).toMatchObject({ is_listed: true, listed: [{ times: 1 }] })
    const other = await runProgram(['lists', 'show', 'good.example'], env)
    expect(JSON.parse(other.stdout)).toEqual({
      name: 'good.example',
      is_listed: false,
      listed: [],
    })
    expect((await runProgram(['lists', 'drop'], env)).code).toBe(2)
    const exempt = ['lists', 'exempt', 'hxxp://192.0.2[.]7/', '--why', 'A test', '--days', '30']
    expect(await runProgram(exempt, env)).toMatchObject({ code: 0, stderr: '' })
    const unexempt = ['lists', 'unexempt', '192.0.2.7']
    expect(await runProgram(unexempt, env)).toMatchObject({
      code: 0,
      stdout: 'Exemption removed.\n',
    })
    expect((await runProgram(unexempt, env)).code).toBe(1)
    const { rows } = await database.pool.query('select action from audit_log order by id')
    expect(rows).toEqual([{ action: 'exempt from lists' }, { action: 'unexempt from lists' }])
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
})
