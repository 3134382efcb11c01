import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { checkDatabase } from '../../../src/cli/doctor/database.ts'
import { readConfig } from '../../../src/config.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'

const database = await closeAfterTests(freshDatabase())

const configOf = (url: string) =>
  readConfig({ DATABASE_URL: url, DATA_DIR: tmpdir() }, { cores: 1, cwd: '/' })
const check = (offsetMs = 0) =>
  checkDatabase({
    config: configOf(database.url),
    clock: () => new Date(Date.now() + offsetMs),
  })

test('a migrated database is in order', async () => {
  const findings = await check()
  expect(findings.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok'])
})

test('a clock that differs is a warning, or a problem above a minute', async () => {
  expect((await check(20_000)).at(-1)).toMatchObject({ level: 'warning' })
  expect((await check(-120_000)).at(-1)).toMatchObject({
    level: 'problem',
    says: 'The clock differs from that of the database by 120 seconds.',
  })
})

test('a schema that is too old or too new says what to do', async () => {
  await database.pool.query(`insert into schema_migrations (name, batch) values ('9999_future', 9)`)
  const todo = 'Install the newer version of Signalpost.'
  expect((await check())[1]).toMatchObject({ level: 'warning', todo })
  await database.pool.query(`update installation set needs_migration = '9999_future'`)
  expect((await check())[1]).toMatchObject({ level: 'problem', todo })
  await database.pool.query(`delete from schema_migrations where name > '0001'`)
  expect((await check())[1]).toMatchObject({ level: 'problem', todo: 'Run "signalpost migrate".' })
})

test('a database that does not answer, or is not running, says what to do', async () => {
  const clock = () => new Date()
  const config = configOf('postgres://signalpost:x@127.0.0.1:1/signalpost')
  expect(await checkDatabase({ config, clock })).toMatchObject([
    { level: 'problem', todo: expect.stringContaining('DATABASE_URL') },
  ])
  const none = readConfig({ DATA_DIR: '/nonexistent' }, { cores: 1, cwd: '/' })
  expect(await checkDatabase({ config: none, clock })).toMatchObject([{ level: 'unknown' }])
})
