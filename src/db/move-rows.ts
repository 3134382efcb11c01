import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import sql from 'sql-template-tag'
import { excluded, hasTable, rowsOf } from './rows.ts'

/** A table, or one partition of it, whose rows are moved to another database. */
export type MovedTable = {
  /** Schema and name, quoted where necessary. */
  name: string
  /** The partitioned table, the bounds and the storage options of a partition. */
  partition: { of: string; bounds: string; options: string | null } | null
  columns: string[]
  /**
   * The values of a row that are compared. Types of our own are compared as text, because their
   * numbers, which are part of the binary form, differ between databases.
   */
  compared: string[]
  /** The columns of the primary key, in its order. */
  key: { column: string; type: string }[]
}

/** The key of a row: one text per column. */
type Key = readonly string[]

/** The rows of a table with keys after `after` up to `until`; null is the end of the table. */
export type KeyRange = { after: Key | null; until: Key | null }

/** What a range held when it was copied. */
export type RangeState = {
  rows: number
  /** Every later change of the range was made by a transaction with this id or a higher one. */
  since: string
}

/** Types with lower numbers come with PostgreSQL and are the same everywhere. */
const FIRST_OWN_OID = 16_384

const ownTables = [
  'public.schema_migrations',
  'public.schema_migrations_lock',
  'public.table_placements',
  'public.installation',
  'pgboss.version',
]

/**
 * Opens a connection for moving rows. It does not wait for locks without limit, so that it never
 * stops the processes that use the database.
 */
export async function openMover(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'signalpost move',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // A lost connection is noticed by the next statement.
  client.on('error', () => undefined)
  await client.connect()
  await client.query(`set lock_timeout = '60s'`)
  await client.query('set idle_in_transaction_session_timeout = 0')
  // As in all sessions of a database of Citus, which this may become; ignored by others.
  await client.query(`set citus.multi_shard_modify_mode = 'sequential'`)
  return client
}

/** Returns the tables with rows to move, sorted by name. */
export async function listMovedTables(db: pg.Client): Promise<MovedTable[]> {
  const { rows } = await db.query<MovedTable>(sql`
    select format('%I.%I', nspname, relname) as name,
      case when relispartition then json_build_object(
        'of', (select inhparent::regclass::text from pg_inherits where inhrelid = c.oid),
        'bounds', pg_get_expr(relpartbound, c.oid),
        'options', array_to_string(reloptions, ', ')) end as partition,
      (select array_agg(quote_ident(attname) order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '')
        as columns,
      (select array_agg(quote_ident(attname)
          || case when atttypid >= ${FIRST_OWN_OID} then '::text' else '' end order by attnum)
        from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '')
        as compared,
      coalesce((select json_agg(json_build_object('column', quote_ident(attname),
          'type', format_type(atttypid, atttypmod)) order by place)
        from pg_index, unnest(indkey) with ordinality as part (number, place), pg_attribute
        where indrelid = c.oid and indisprimary and attrelid = c.oid and attnum = number), '[]')
        as key
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname in ('public', 'pgboss')
      and format('%s.%s', nspname, relname) <> all(${ownTables}::text[])
    order by 1`)
  return rows
}

/** Creates a partition unless it exists. */
export async function createMovedPartition(db: pg.Client, table: MovedTable): Promise<void> {
  if (!table.partition) return
  const { of, bounds, options } = table.partition
  const storage = options === null ? '' : ` with (${options})`
  await db.query(`create table if not exists ${table.name} partition of ${of} ${bounds}${storage}`)
}

/**
 * Returns the keys that divide a range into parts of `rowsMax` rows; the last part has up to twice
 * as many.
 */
export async function divide(
  db: pg.Client,
  table: MovedTable,
  range: KeyRange,
  rowsMax: number,
): Promise<Key[]> {
  const { rows } = await db.query<{ key: string[] }>(`
    select key from (
      select array[${keyTextsOf(table)}] as key, count(*) over () as total,
        row_number() over (order by ${orderOf(table)}) as number
      from ${table.name} where ${conditionOf(table, range)}
    ) as numbered
    where number % ${rowsMax} = 0 and number + ${rowsMax} <= total order by number`)
  return rows.map(({ key }) => key)
}

/** The rows of a range at one moment, and the keys of those that are new or changed. */
export type Changes = RangeState & { keys: Key[] }

/** Returns the rows of a range that are new or changed since it was copied. */
export async function changesOf(
  source: pg.Client,
  table: MovedTable,
  range: KeyRange,
  { since }: RangeState,
): Promise<Changes> {
  const { rows } = await source.query<Changes>(`
    select count(*)::int as rows, pg_snapshot_xmin(pg_current_snapshot())::text as since,
      coalesce(json_agg(array[${keyTextsOf(table)}]::text[]) filter (where ${isNewer(since)}), '[]')
        as keys
    from ${table.name} where ${conditionOf(table, range)}`)
  return rows[0] ?? { rows: 0, since, keys: [] }
}

/** The condition that a row is new or changed, by the last 32 bits of the transaction id. */
function isNewer(since: string): string {
  return `age(xmin) <= age('${BigInt.asUintN(32, BigInt(since))}'::xid)`
}

/** A connection to each of the two databases. */
export type Link = { source: pg.Client; target: pg.Client }

/**
 * Replaces the rows of a range in the target by those of the source, and compares the checksums of
 * both. Returns what was copied.
 *
 * @throws when the checksums differ; both connections may then be in the middle of a copy, and
 *   can only be ended
 */
export async function copyRange(
  link: Link,
  table: MovedTable,
  range: KeyRange,
): Promise<RangeState> {
  await beginCopy(link)
  const { rows: snapshots } = await link.source.query<{ since: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as since',
  )
  const where = conditionOf(table, range)
  await link.target.query(`delete from ${table.name} where ${where}`)
  const rows = await copyRows(link, table, where)
  await endCopy(link, 'commit')
  return { rows, since: snapshots[0]?.since ?? '0' }
}

/**
 * Like `copyRange`, for the new and changed rows of a range that had `rowsBefore` rows when it was
 * copied. Returns the number of copied rows; undefined, and changes nothing, if rows were deleted.
 */
export async function copyChanges(
  link: Link,
  table: MovedTable,
  rowsBefore: number,
  { rows, keys }: Changes,
): Promise<number | undefined> {
  await beginCopy(link)
  const where = isOneOf(table, keys)
  const { rowCount } = await link.target.query(`delete from ${table.name} where ${where}`)
  const copied = await copyRows(link, table, where)
  const isWhole = rowsBefore - (rowCount ?? 0) + copied === rows
  await endCopy(link, isWhole ? 'commit' : 'rollback')
  return isWhole ? copied : undefined
}

async function beginCopy({ source, target }: Link): Promise<void> {
  await source.query('begin isolation level repeatable read read only')
  await target.query('begin')
}

async function endCopy({ source, target }: Link, how: 'commit' | 'rollback'): Promise<void> {
  await target.query(how)
  await source.query('commit')
}

/** Copies the rows of a condition, and compares them on both sides. */
async function copyRows(
  { source, target }: Link,
  { name, columns, compared }: MovedTable,
  where: string,
): Promise<number> {
  const list = columns.join(', ')
  await pipeline(
    source.query(copyTo(`copy (select ${list} from ${name} where ${where}) to stdout`)),
    target.query(copyFrom(`copy ${name} (${list}) from stdin`)),
  )
  // Of the binary form of the values, which does not depend on settings such as the time zone.
  const row = `md5(record_send(row(${compared.join(', ')})))`
  const sums = `select count(*)::int as rows,
    coalesce(sum(('x' || left(${row}, 15))::bit(60)::bigint), 0)::text as checksum
    from ${name} where ${where}`
  type Sums = { rows: number; checksum: string }
  const { rows: sent } = await source.query<Sums>(sums)
  const { rows: arrived } = await target.query<Sums>(sums)
  if (sent[0]?.rows !== arrived[0]?.rows || sent[0]?.checksum !== arrived[0]?.checksum) {
    throw new Error(`The copied rows of ${name} differ from the original rows.`)
  }
  return sent[0]?.rows ?? 0
}

/**
 * The condition that a row is in a range. Texts are compared byte by byte, because the two
 * databases may sort texts differently.
 */
function conditionOf(table: MovedTable, { after, until }: KeyRange): string {
  const compare = (operator: '>' | '<=', key: Key | null) =>
    key === null ? [] : [`(${orderOf(table)}) ${operator} (${literals(table, key)})`]
  return [...compare('>', after), ...compare('<=', until)].join(' and ') || 'true'
}

/** The condition that a row has one of the given keys. */
function isOneOf({ key }: MovedTable, keys: readonly Key[]): string {
  const lists = key.map(({ type }, at) => {
    const values = keys.map((one) => pg.escapeLiteral(one[at] ?? '')).join(', ')
    return `array[${values}]::${type}[]`
  })
  const columns = key.map(({ column }) => column).join(', ')
  return `(${columns}) in (select * from unnest(${lists.join(', ')}))`
}

function keyTextsOf({ key }: MovedTable): string {
  return key.map(({ column }) => `${column}::text`).join(', ')
}

function orderOf({ key }: MovedTable): string {
  return key.map(({ column, type }) => (isText(type) ? `${column} collate "C"` : column)).join(', ')
}

function literals({ key }: MovedTable, values: Key): string {
  return key.map(({ type }, at) => `${pg.escapeLiteral(values[at] ?? '')}::${type}`).join(', ')
}

function isText(type: string): boolean {
  return /^(text|character varying)/.test(type)
}

/** A foreign key, as the statements that drop and restore it. */
export type ForeignKey = { drop: string; restore: string }

/** Returns the foreign keys of a database. Citus hides its parts of tables in `pg_class` only. */
export async function listForeignKeys(db: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await db.query<{ table: string; name: string; definition: string }>(sql`
    select conrelid::regclass::text as table, quote_ident(conname) as name,
      pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0
      and connamespace = any(array['public', 'pgboss']::regnamespace[])
    order by 1, 2`)
  return rows.map(({ table, name, definition }) => ({
    drop: `alter table ${table} drop constraint if exists ${name}`,
    restore: `alter table ${table} add constraint ${name} ${definition}`,
  }))
}

/** Drops foreign keys, so that rows can be copied in any order. */
export async function dropForeignKeys(db: pg.Client, keys: readonly ForeignKey[]): Promise<void> {
  for (const { drop } of keys) await db.query(drop)
}

/** Restores dropped foreign keys; the database checks all rows. */
export async function restoreForeignKeys(
  db: pg.Client,
  keys: readonly ForeignKey[],
): Promise<void> {
  for (const { drop, restore } of keys) {
    await db.query(drop)
    await db.query(restore)
  }
}

/** Drops a partition that the source no longer has. */
export async function dropMovedTable(db: pg.Client, name: string): Promise<void> {
  await db.query(`drop table if exists ${name}`)
}

export async function emptyTables(db: pg.Client, tables: readonly MovedTable[]): Promise<void> {
  const names = new Set(tables.map(({ name, partition }) => partition?.of ?? name))
  for (const name of names) await db.query(`truncate ${name}`)
}

/** Whether a database has reports or accounts. */
export async function isInUse(db: pg.Client): Promise<boolean> {
  const { rows } = await db.query<{ isInUse: boolean }>(sql`
    select exists (select id from reports) or exists (select id from reporters) as "isInUse"`)
  return rows[0]?.isInUse ?? false
}

/** Gives the target the seed of the source, on which all stored hashes depend. */
export async function setShingleSeed(db: pg.Client, seed: bigint): Promise<void> {
  await db.query(sql`update installation
    set shingle_seed = ${BigInt.asIntN(64, seed).toString()}`)
}

/**
 * Makes a database read-only for everyone, ends all other connections to it, and waits until they
 * have ended.
 *
 * @throws when connections of another account cannot be ended
 */
export async function stopWriting(db: pg.Client): Promise<void> {
  await setReadOnly(db, true)
  for (;;) {
    const { rows } = await db.query<{ pid: number }>(sql`
      select pg_terminate_backend(pid) as ended, pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and application_name <> 'signalpost move'`)
    const ended = await runOnWorkers(
      db,
      `select count(pg_terminate_backend(pid)) from pg_stat_activity
       where datname = current_database() and application_name like 'signalpost %'`,
    )
    if (rows.length === 0 && ended.every((count) => count === '0')) return
    await wait(50)
  }
}

/**
 * Runs a statement on each worker of a distributed database, and returns the results; none on a
 * single server.
 */
async function runOnWorkers(db: pg.Client, statement: string): Promise<string[]> {
  const { rows: found } = await db.query<{ is: boolean }>('select is_distributed() as is')
  if (found[0]?.is !== true) return []
  const { rows } = await db.query<{ success: boolean; result: string }>(sql`
    select success, result from run_command_on_workers(${statement})`)
  const failed = rows.find(({ success }) => !success)
  if (failed) throw new Error(`A server of the database refused a command: ${failed.result}`)
  return rows.map(({ result }) => result)
}

/** Sets whether new connections to the database of this connection may only read. */
export async function setReadOnly(db: pg.Client, isReadOnly: boolean): Promise<void> {
  const { rows } = await db.query<{ name: string }>(sql`
    select quote_ident(current_database()) as name`)
  const database = `alter database ${rows[0]?.name ?? ''}`
  // This connection may have begun while the database was read-only.
  await db.query('set default_transaction_read_only = off')
  const change = isReadOnly
    ? `${database} set default_transaction_read_only = on`
    : `${database} reset default_transaction_read_only`
  await db.query(change)
  await runOnWorkers(db, `set transaction read write; ${change}`)
}

/** Updates the statistics of the planner, which copied rows do not have. */
export async function analyzeTables(db: pg.Client): Promise<void> {
  await db.query('analyze')
}

/** A range of a table, and its contents when it was last copied; null if it was not copied yet. */
export type MovedRange = KeyRange & {
  table: string
  /** The position of the range in its table. */
  number: number
  state: RangeState | null
}

/** A move that has begun, with the foreign keys that the target had. */
export type Move = { shingleSeed: bigint; foreignKeys: ForeignKey[] }

/** Returns the unfinished move into a database, if there is one. */
export async function findMove(target: pg.Client): Promise<Move | undefined> {
  if (!(await hasTable(target, 'signalpost_move.move'))) return undefined
  const [move] = await rowsOf(target)<{ seed: string; foreignKeys: ForeignKey[] }>`
    select shingle_seed::text as seed, foreign_keys as "foreignKeys" from signalpost_move.move`
  return move && { shingleSeed: BigInt(move.seed), foreignKeys: move.foreignKeys }
}

/** Records a move in the target, so that it can be resumed. */
export async function insertMove(target: pg.Client, move: Move): Promise<void> {
  await target.query('create schema if not exists signalpost_move')
  await target.query(`create table if not exists signalpost_move.ranges (
    table_name text, number integer, after text[], until text[], state jsonb,
    primary key (table_name, number))`)
  await target.query(`create table if not exists signalpost_move.move (
    shingle_seed text not null, foreign_keys jsonb not null)`)
  await target.query(sql`insert into signalpost_move.move (shingle_seed, foreign_keys)
    values (${String(move.shingleSeed)}, ${JSON.stringify(move.foreignKeys)})`)
}

/** Removes the record of a finished move. */
export async function deleteMove(target: pg.Client): Promise<void> {
  await target.query('drop schema if exists signalpost_move cascade')
}

/** Returns all ranges, in the order of the rows. */
export function listRanges(target: pg.Client): Promise<MovedRange[]> {
  return rowsOf(target)<MovedRange>`
    select table_name as table, number, after, until, state from signalpost_move.ranges
    order by table_name, number`
}

/** Inserts ranges, or updates their limits and states. */
export async function saveRanges(target: pg.Client, ranges: readonly MovedRange[]): Promise<void> {
  for (const { table, number, after, until, state } of ranges) {
    await target.query(sql`
      insert into signalpost_move.ranges (table_name, number, after, until, state)
      values (${table}, ${number}, ${after as string[] | null}, ${until as string[] | null},
        ${state && JSON.stringify(state)})
      on conflict (table_name, number) do update set ${excluded`after, until, state`}`)
  }
}

export async function deleteRanges(target: pg.Client, table: string): Promise<void> {
  await target.query(sql`delete from signalpost_move.ranges where table_name = ${table}`)
}
