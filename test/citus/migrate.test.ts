import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { checkBackend } from '../../src/db/backend.ts'
import { migrate } from '../../src/db/installation.ts'
import { createPool, type Pool } from '../../src/db/pool.ts'
import { migrateAll } from '../../src/processes/migrate.ts'
import { move } from '../../src/processes/move.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { AHEAD } from '../support/global-setup.ts'

const { url, pool } = await closeAfterTests(freshDatabase())
const name = new URL(url).pathname.slice(1)
const admin = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` })
await admin.connect()
afterAll(() => admin.end())

/** A database of the coordinator alone, with the extension. */
async function withSingle(work: (its: { url: string; pool: Pool }) => Promise<void>) {
  const single = `${name}_single`
  await admin.query(`create database ${single}`)
  const its = `${inject('serverUrl')}/${single}`
  const options = { connectionsMax: 2, name: 'test', onLost: () => undefined }
  const pool_ = createPool(its, options)
  try {
    await pool_.query('create extension citus')
    await work({ url: its, pool: pool_ })
  } finally {
    await pool_.end()
    await admin.query(`drop database ${single} with (force)`)
  }
}

test('migrating again does nothing, and the sessions have the settings', async () => {
  expect(await migrate(url, 'citus')).toEqual([])
  await checkBackend(pool, 'citus')
  await expect(checkBackend(pool, 'postgres')).rejects.toThrow('Set DB_BACKEND=citus')
  const { rows } = await pool.query('show citus.shard_count')
  expect(rows).toEqual([{ 'citus.shard_count': '4' }])
})

test('every table is where its migration says', async () => {
  const { rows } = await pool.query<{ name: string; says: string; is: string }>(
    `select table_name as name, placement as says, case
         when partmethod = 'h' then 'distributed' when repmodel = 't' then 'reference'
         else 'local' end as is
     from table_placements left join pg_dist_partition on logicalrelid = table_name::regclass`,
  )
  expect(rows.length).toBeGreaterThan(50)
  expect(rows.filter(({ says, is }) => says !== is)).toEqual([])
})

test('the size of a table includes all nodes', async () => {
  await pool.query(`insert into report_keys (content_hash, reporter_id, report_id)
    select sha256(n::text::bytea), gen_random_uuid(), gen_random_uuid()
    from generate_series(1, 2000) n`)
  const { rows } = await pool.query<Record<'all' | 'here' | 'total' | 'sessions', number>>(
    `select table_bytes('report_keys') as all, pg_total_relation_size('report_keys') as here,
       citus_total_relation_size('report_keys') as total, table_bytes('sessions') as sessions`,
  )
  expect(rows[0]?.all).toBeGreaterThan(2_000 * 64)
  expect(rows[0]?.all).toBe(rows[0]?.total)
  expect(rows[0]?.here).toBeLessThan(65_536)
  expect(rows[0]?.sessions).toBeGreaterThan(0)
})

test('a worker node is refused as the database', async () => {
  const [worker] = inject('workerUrls')
  await expect(migrate(`${worker}/${name}`, 'citus')).rejects.toThrow(
    'DATABASE_URL names a worker node of Citus. It must name the coordinator.',
  )
})

test('a database that merely has the extension is left as it is', async () => {
  await withSingle(async (single) => {
    await expect(migrate(single.url, 'citus')).rejects.toThrow('has no worker nodes')
    await migrateAll(single.url, new Date(), { ahead: AHEAD })
    const { rows } = await single.pool.query('select logicalrelid from pg_dist_partition')
    expect(rows).toEqual([])
    await expect(migrate(single.url, 'citus')).rejects.toThrow('Set DB_BACKEND=postgres')
  })
})

test('an installation moves from one server to a cluster', async () => {
  const to = await freshDatabase()
  await withSingle(async ({ url: from, pool: source }) => {
    await migrateAll(from, new Date(), { ahead: AHEAD })
    await source.query(`insert into reporters (id, email, created_at)
      select gen_random_uuid(), n || '@example.org', now() from generate_series(1, 50) n`)
    await source.query(`insert into tokens (token_hash, reporter_id, name, created_at, scopes, id)
      select sha256(id::text::bytea), id, '', now(), array['report'], id from reporters`)
    await source.query(`insert into report_keys (content_hash, reporter_id, report_id)
      select sha256(id::text::bytea), id, id from reporters`)
    await source.query(`insert into pgboss.job (name, data) values ('analyze-report', '{}')`)
    await move({ from, to: to.url, backend: 'citus' }, new Date(), () => undefined)
    for (const table of ['reporters', 'tokens', 'report_keys', 'pgboss.job']) {
      const text = `select md5(string_agg(t.row, ' ' order by t.row)) as sum
        from (select row(${table}.*)::text as row from ${table}) as t`
      const [before, after] = [await source.query(text), await to.pool.query(text)]
      expect([table, after.rows]).toEqual([table, before.rows])
    }
  })
  await expect(
    to.pool.query(`update tokens set reporter_id = '00000000-0000-0000-0000-000000000001'`),
  ).rejects.toMatchObject({ code: '23503' })
  await to.close()
})
