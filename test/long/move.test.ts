import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openMover } from '../../src/db/move-rows.ts'
import { move, parseMove } from '../../src/processes/move.ts'
import { freshDatabase } from '../support/database.ts'
import { allRowsOf } from '../support/rows.ts'

const admin = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` })
await admin.connect()
afterAll(() => admin.end())

const { url: from, pool } = await freshDatabase()
const other = await freshDatabase()
const now = new Date()
let made = 0

async function emptyDatabase(): Promise<string> {
  const name = inject('templateName').replace('template', `moved_${process.pid}_${++made}`)
  await admin.query(`create database ${name}`)
  return `${inject('serverUrl')}/${name}`
}

const insertKeys = (from: number, until: number) =>
  pool.query(`insert into report_keys (content_hash, reporter_id, report_id)
    select sha256(n::text::bytea), gen_random_uuid(), gen_random_uuid()
    from generate_series(${from}, ${until}) n`)

beforeAll(async () => {
  await other.pool.query('update installation set shingle_seed = 7')
  await insertKeys(1, 9_000)
  await pool.query(`insert into reporters (id, email, created_at)
    select gen_random_uuid(), 'é' || n || '@example.org', now()
    from generate_series(1, 50) n`)
  await pool.query(`insert into tokens (token_hash, reporter_id, name, created_at, scopes, id)
    select sha256(id::text::bytea), id, E'tab\\t\\\\N', now(), array['report'], id from reporters`)
  // The state of a job has a type of its own, whose number differs from database to database.
  await pool.query(`insert into pgboss.job (name, data) values ('analyze-report', '{"a": 1}')`)
})

test('a move that was interrupted leaves the source writable, and continues', async () => {
  const { url: to, pool: target } = await freshDatabase()
  const said: string[] = []
  const tell = (line: string) => said.push(line)
  const cut = (async () => {
    for (;;) {
      await wait(5)
      const found = await target
        .query('select count(*)::int as ranges from signalpost_move.ranges')
        .catch(() => undefined)
      if ((found?.rows[0]?.ranges ?? 0) > 20) break
    }
    await target.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'signalpost move'`)
  })()
  await expect(move({ from, to }, now, tell)).rejects.toThrow()
  await cut
  await insertKeys(9_001, 9_001)
  await expect(move({ from: other.url, to }, now, tell)).rejects.toThrow(
    'an unfinished move of another database',
  )
  await move({ from, to }, now, tell)
  await admin.query(`alter database ${new URL(from).pathname.slice(1)}
    reset default_transaction_read_only`)
  expect(said).toContain('Continuing the move that was interrupted.')
  expect(await allRowsOf(to)).toEqual(await allRowsOf(from))
})

test('a move ends when the new database is lost while a table is copied', async () => {
  const { url: source, pool: full } = await freshDatabase()
  const { url: to, pool: target } = await freshDatabase()
  // More than the buffers of both connections hold.
  await full.query(`insert into reporters (id, email, created_at)
    values (gen_random_uuid(), 'a@example.org', now())`)
  await full.query(`insert into tokens (token_hash, reporter_id, name, created_at, scopes, id)
    select sha256(n::text::bytea), reporters.id, repeat('x', 20000), now(), array['report'],
      gen_random_uuid() from reporters, generate_series(1, 2000) n`)
  await target.query(`create function stall() returns trigger language plpgsql as $$
    begin perform pg_sleep(100); return new; end $$`)
  await target.query(`create trigger stall before insert on tokens
    for each row execute function stall()`)
  const moving = move({ from: source, to }, now, () => undefined)
  const ended = expect(moving).rejects.toThrow()
  await expect.poll(() => stalledIn(target), { timeout: 30_000 }).toBe(1)
  await wait(500)
  await target.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`)
  await ended
}, 60_000)

async function stalledIn(db: pg.Pool): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`select count(*)::int from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`)
  return rows[0]?.count ?? 0
}

test('rows that arrive changed stop the move', async () => {
  const { url: to, pool: target } = await freshDatabase()
  await target.query(`create function spoil() returns trigger language plpgsql as $$
    begin new.wants_answers := not new.wants_answers; return new; end $$`)
  await target.query(`create trigger spoil before insert on reporters
    for each row execute function spoil()`)
  await expect(move({ from, to }, now, () => undefined)).rejects.toThrow(
    'The copied rows of public.reporters differ from the original rows.',
  )
})

test('a database that is in use is not overwritten', async () => {
  await expect(move({ from: other.url, to: from }, now, () => undefined)).rejects.toThrow(
    'already contains reports or accounts',
  )
})

test.for([
  [['--from', 'postgres://a/b'], '--to is missing'],
  [['--to', 'mysql://a/b'], 'must be URLs'],
  [['--to', 'postgres://a/b', '--backend', 'mysql'], 'must be postgres or citus'],
] as const)('%j is refused', ([args, reason]) => {
  expect(() => parseMove(args)).toThrow(reason)
})

test('everything is moved, also what changes meanwhile', async () => {
  const to = await emptyDatabase()
  const said: string[] = []
  let isMoving = true
  let accepted = 0
  const writing = (async () => {
    for (let n = 10_000; isMoving; n++) {
      const sent = Promise.all([
        insertKeys(n, n),
        pool.query(
          `update reporters set wants_answers = not wants_answers where email like 'é${n % 50}%'`,
        ),
        pool.query(`delete from report_keys where content_hash = sha256('${n - 9_000}'::bytea)`),
      ])
      const isDone = await sent.then(
        () => true,
        () => false,
      )
      if (isDone) accepted = n
      await wait(2)
    }
  })()
  const done = await move({ from, to }, now, (line) => said.push(line))
  isMoving = false
  await writing
  const [source, target] = [await allRowsOf(from), await allRowsOf(to)]
  expect(accepted).toBeGreaterThan(10_000)
  expect(target).toEqual(source)
  expect(source['public.report_keys']?.length).toBeGreaterThan(8_000)
  expect(done.rows).toBe(Object.values(source).flat().length)
  expect(said.at(-1)).toContain('read-only')
  await expect(insertKeys(1, 1)).rejects.toMatchObject({ code: '25006' })
  const client = await openMover(to)
  const { rows } = await client.query(`select conname from pg_constraint
    where contype = 'f' and conname = 'tokens_reporter_fkey'`)
  expect(rows).toHaveLength(1)
  await client.end()
})
