import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readSchema } from '../../scripts/read-schema.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'

const database = await closeAfterTests(freshDatabase())

test('schema.sql equals the result of the migrations (if not, run "npm run schema")', async () => {
  const file = path.join(import.meta.dirname, '..', '..', 'migrations', 'schema.sql')
  expect(await readFile(file, 'utf8')).toBe(await readSchema(database.pool))
})

test.for([
  ['a column', 'alter table consumers add nickname text', '  nickname text,'],
  ['a default', "alter table consumers alter state set default 'found'", "default 'found'::text"],
  ['what may be null', 'alter table consumers alter address drop not null', '  address text,'],
  ['a check', 'alter table consumers add constraint c_a check (true)', 'constraint c_a CHECK'],
  ['an index', 'create index c_b on consumers (state)', 'create index c_b on consumers (state)'],
  [
    'the storage',
    'alter table consumers alter address set storage external',
    'address text storage external',
  ],
  ['a comment', "comment on column consumers.state is 'it''s'", "consumers.state is 'it''s';"],
  ['a function', "create function f() returns int language sql as 'select 1'", 'FUNCTION f()'],
  ['a placement', "delete from table_placements where table_name = 'tokens'", 'placed nowhere'],
] as const)('a change of %s changes the dump', async ([, ddl, expected]) => {
  const client = await database.pool.connect()
  try {
    const before = await readSchema(client)
    expect(before).not.toContain(expected)
    await client.query('begin')
    await client.query(ddl)
    expect(await readSchema(client)).toContain(expected)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('weekly partitions, knex and pg-boss are not in it', async () => {
  const schema = await readSchema(database.pool)
  expect(schema).not.toMatch(/_20\d{6}|schema_migrations|pgboss/)
})
