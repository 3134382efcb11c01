import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { findShingleSeed } from '../../../src/db/installation.ts'
import { seedShingles } from '../../../src/pieces/shingles/hash.ts'
import { freshDatabase } from '../../support/database.ts'
import { know } from '../../support/listed.ts'
import { type Outcome, runSeveral } from '../../support/process.ts'

const json = (outcome: Outcome | undefined): unknown => JSON.parse(outcome?.stdout ?? '')

test('the lists are published and looked up on the command line', async () => {
  const database = await freshDatabase()
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-lists-'))
  try {
    seedShingles((await findShingleSeed(database.pool)) ?? 0n)
    await know(database.pool, [{ kind: 'address', name: '192.0.2.7', bad: 20, at: new Date() }])
    const exempt = ['exempt', 'hxxp://192.0.2[.]7/', '--why', 'A test', '--days', '30']
    const unexempt = ['unexempt', '192.0.2.7']
    const [published, shown, other, dropped, ...exempted] = await runSeveral(
      [
        ['publish'],
        ['show', '192.0.2[.]7'],
        ['show', 'good.example'],
        ['drop'],
        exempt,
        unexempt,
        unexempt,
      ].map((args) => ['lists', ...args]),
      { ...database.env, LISTS_DIR: folder, LOG_LEVEL: 'warn' },
    )
    expect(published).toMatchObject({ code: 0, stderr: '' })
    expect(json(published)).toMatchObject({ lists: { addresses: { entries: 1 } } })
    expect(await readdir(folder)).toHaveLength(29)
    expect(json(shown)).toMatchObject({ is_listed: true, listed: [{ times: 1 }] })
    expect(json(other)).toEqual({ name: 'good.example', is_listed: false, listed: [] })
    expect(dropped?.code).toBe(2)
    expect(exempted).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stdout: 'Exemption removed.\n' },
      { code: 1 },
    ])
    const { rows } = await database.pool.query('select action from audit_log order by id')
    expect(rows).toEqual([{ action: 'exempt from lists' }, { action: 'unexempt from lists' }])
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
})
