import { readdirSync, readFileSync } from 'node:fs'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { expectedMigrations, migrate } from '../../src/db/installation.ts'
import { ensurePartitions } from '../../src/db/partitions.ts'
import { createPool } from '../../src/db/pool.ts'
import { splitStatements } from '../../src/db/split-statements.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { systemClock } from '../../src/world.ts'
import { closeAfterThisTest, makeTestFolder } from '../support/after-tests.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { spamMessage } from '../support/messages.ts'
import { locksOf } from '../support/migration-locks.ts'
import { type Program, startCommand, until } from '../support/process.ts'

const root = path.join(import.meta.dirname, '..', '..')
const LOCKED_MS_MAX = 100
const ROWS = 1_000_000
const SECRET = 'a secret of the upgrade test, long enough'

const admin = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` })
await admin.connect()
afterAll(() => admin.end())
const folder = await makeTestFolder()

/** The last migration of the newest release. */
function lastReleased(): string {
  const releases = path.join(root, 'test', 'fixtures', 'releases')
  const released = readdirSync(releases)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => Object.keys(JSON.parse(readFileSync(path.join(releases, name), 'utf8'))))
  return released.toSorted().at(-1) ?? ''
}

/** A database of the newest release, with a million rows in the tables that grow fastest. */
async function releasedDatabase(): Promise<pg.Client> {
  const name = inject('templateName').replace('template', `released_${process.pid}`)
  await admin.query(`create database ${name}`)
  const url = `${inject('serverUrl')}/${name}`
  await migrate(url, 'postgres', lastReleased())
  const pool = createPool(url, { connectionsMax: 1, name: 'test', onLost: () => undefined })
  await ensurePartitions(pool, new Date(), 1)
  await pool.end()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    insert into reports (id, shard, reporter_id, channel, kind, state, received_at, message_bytes,
      received_via)
    select id, ('x' || right(id::text, 1))::bit(4)::int, gen_random_uuid(), 'api', 'spam', 'kept',
      now(), 1000, '{}'
    from (select uuidv7() as id from generate_series(1, ${ROWS})) as ids`)
  await client.query(`
    insert into report_keys (content_hash, reporter_id, report_id)
    select sha256(id::text::bytea), reporter_id, id from reports`)
  await client.query(`
    insert into report_events (report_id, shard, id, at, event, phrases)
    select id, shard, id, received_at, 'analyzed', '[]' from reports`)
  await client.query('analyze')
  return client
}

test('no new migration locks a large table for long, and the check would notice it', async () => {
  const client = await releasedDatabase()
  try {
    const tooLong = async (statements: readonly string[], rollsBack: boolean) =>
      (await locksOf(client, statements, { rollsBack })).filter(({ ms }) => ms > LOCKED_MS_MAX)
    const harmless = ['create table probe (id uuid)', 'alter table reports add column probe text']
    expect(await tooLong(harmless, true)).toEqual([])
    for (const harmful of [
      'alter table reports add column probe uuid default gen_random_uuid()',
      'create index probe_idx on report_keys (reporter_id)',
      'alter table report_keys alter column reporter_id type text',
    ]) {
      expect(await tooLong([harmful], true), harmful).not.toEqual([])
    }
    const released = lastReleased()
    for (const name of (await expectedMigrations()).filter((one) => one > released)) {
      const text = await readFile(path.join(root, 'migrations', `${name}.sql`), 'utf8')
      expect(await tooLong(splitStatements(text), false), name).toEqual([])
    }
  } finally {
    await client.end()
  }
})

/** Copies the program, and adds migrations of a later version. */
async function versionWith(name: string, migrations: Record<string, string>): Promise<string> {
  const its = path.join(folder, name)
  for (const part of ['src', 'migrations', 'package.json']) {
    await cp(path.join(root, part), path.join(its, part), { recursive: true })
  }
  await symlink(path.join(root, 'node_modules'), path.join(its, 'node_modules'))
  for (const [file, text] of Object.entries(migrations)) {
    await writeFile(path.join(its, 'migrations', file), text)
  }
  return path.join(its, 'src', 'main.ts')
}

const adds = `alter table reports add column probe text;
create table probes (id uuid not null, constraint probes_pkey primary key (id));
select keep_local('probes');`
const removes = `alter table reports drop column probe;
update installation set needs_migration = '9999_removes';`

type Side = { url: string; main: string; env: Record<string, string>; program?: Program }

test('two versions share a database, in both orders, and no request is refused', async () => {
  const database = await closeAfterThisTest(freshDatabase())
  const token = await prepare(database)
  const now = await sideOn(path.join(root, 'src', 'main.ts'), database)
  const next = await sideOn(await versionWith('next', { '9998_adds.sql': adds }), database)
  const last = await sideOn(
    await versionWith('last', { '9998_adds.sql': adds, '9999_removes.sql': removes }),
    database,
  )
  const worker = startCommand([process.execPath, now.main, 'work'], now.env)
  const balancer = balance([now, next])
  try {
    await start(now)
    const load = loadOn(balancer, token)
    await migrateWith(next)
    await start(next)
    await replace(now, balancer)
    await wait(2_000)
    // Going back by one version.
    await start(now)
    await replace(next, balancer)
    await wait(2_000)
    const { accepted, refused } = await load.stop()
    expect(refused).toEqual([])
    expect(accepted).toBeGreaterThan(100)
    await until('all analyses', async () => {
      const { rows } = await database.pool.query(`select id from reports where state = 'received'`)
      return rows.length === 0 || undefined
    })
    await now.program?.stop()
    await migrateWith(last)
    const tooOld = startCommand([process.execPath, now.main, 'web'], now.env)
    expect((await tooOld.ended).code).not.toBe(0)
    expect(tooOld.said()).toMatch(/too old for the database.*9999_removes/)
  } finally {
    balancer.close()
    await Promise.all([worker.stop(), now.program?.stop(), next.program?.stop()])
  }
})

async function prepare({ pool }: TestDatabase): Promise<string> {
  await pool.query('update rate_limits set attempts_max = 10000000')
  const request = { email: 'ann@reporters.example', password: undefined, role: null }
  return (
    (await addAccount({ ...request, wantsToken: true }, { pool, clock: systemClock })).token ?? ''
  )
}

async function sideOn(main: string, database: TestDatabase): Promise<Side> {
  const port = await freePort()
  const env = {
    ...database.env,
    HTTP_PORT: String(port),
    DATA_DIR: folder,
    SECRET,
    DRAIN_SECONDS: '3',
    RDAP_BOOTSTRAP_URL: 'none',
    DNS_SERVERS: 'none',
    LOG_LEVEL: 'info',
  }
  return { url: `http://127.0.0.1:${port}`, main, env }
}

async function start(side: Side): Promise<void> {
  side.program = startCommand([process.execPath, side.main, 'web'], side.env)
  await until('web', () => isReady(side))
}

async function isReady({ url }: Side): Promise<true | undefined> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  return answer?.status === 200 || undefined
}

async function migrateWith({ main, env }: Side): Promise<void> {
  const program = startCommand([process.execPath, main, 'migrate'], env)
  const { code } = await program.ended
  if (code !== 0) throw new Error(program.said())
}

type Balancer = { pick: () => Side | undefined; look: () => Promise<void>; close: () => void }

/** A load balancer that checks `/readyz` ten times a second. */
function balance(sides: readonly Side[]): Balancer {
  let ready: Side[] = []
  let turn = 0
  const look = async () => {
    const states = await Promise.all(sides.map(isReady))
    ready = sides.filter((_side, index) => states[index])
  }
  const timer = setInterval(() => void look(), 100)
  return { pick: () => ready[turn++ % ready.length], look, close: () => clearInterval(timer) }
}

/** Stops a process while another one answers. */
async function replace(side: Side, balancer: Balancer): Promise<void> {
  await balancer.look()
  await side.program?.stop()
}

/** Reports messages without a pause until it is stopped. */
function loadOn(balancer: Balancer, token: string) {
  const refused: string[] = []
  let accepted = 0
  let isOver = false
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  const report = async (lane: number) => {
    for (let number = 0; !isOver; number++) {
      const side = balancer.pick()
      if (!side) {
        await wait(20)
        continue
      }
      const options = { method: 'POST', headers, body: spamMessage(`lane-${lane}-${number}`) }
      const answer = await fetch(`${side.url}/api/v1/reports`, options).catch(String)
      if (typeof answer !== 'string' && answer.status === 202) accepted++
      else refused.push(typeof answer === 'string' ? answer : `${answer.status}`)
      if (typeof answer !== 'string') await answer.arrayBuffer()
    }
  }
  const lanes = [1, 2, 3].map(report)
  return {
    async stop() {
      isOver = true
      await Promise.all(lanes)
      return { accepted, refused }
    },
  }
}
