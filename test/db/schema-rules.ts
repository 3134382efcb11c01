import type { Db } from '../../src/db/pool.ts'

/** A violation of the rules for a distributable schema, with the name of the table. */
export type SchemaBreach = string

/** Tables that knex creates for itself. */
const foreign = ['schema_migrations', 'schema_migrations_lock']

/**
 * Types of columns by which rows are distributed: tables with equal types are colocated, so that
 * all rows of an id are on one node.
 */
const spreadTypes: Readonly<Record<string, string>> = {
  smallint: 'a shard: of a report, a campaign or a key, with all that hangs on it',
  uuid: 'an id and all that hangs on it',
  bytea: 'a hash of content',
  bigint: 'a shingle',
}

/** One table, as read from the catalog, with everything that the rules check. */
type Table = {
  name: string
  placement: 'distributed' | 'reference' | 'local' | null
  key: string | null
  keyType: string | null
  keyIsNullable: boolean | null
  hasPrimaryKey: boolean
  /** Unique constraints: name and columns. */
  uniques: { name: string; columns: string[] }[]
  constraints: { name: string; kind: 'p' | 'u' | 'f' | 'c' | 'x'; columns: string[] }[]
  foreignKeys: { name: string; target: string; pairs: [own: string, far: string][] }[]
  defaults: { column: string; value: string }[]
  triggers: string[]
  rules: string[]
  nested: string[]
}

type Check = (table: Table, tables: ReadonlyMap<string, Table>) => SchemaBreach[]

/**
 * Returns every violation in the schema `public` of a migrated database, in the order of the
 * tables.
 */
export async function schemaBreaches(db: Db): Promise<SchemaBreach[]> {
  const tables = new Map((await readTables(db)).map((table) => [table.name, table]))
  const vanished = (await readPlaced(db)).filter((name) => !tables.has(name))
  return [
    ...vanished.map((name) => `${name}: is placed, but there is no such table`),
    ...[...tables.values()].flatMap((table) => checks.flatMap((check) => check(table, tables))),
  ]
}

const isPlaced: Check = ({ name, placement }) =>
  placement === null ? [`${name}: say where it lives: distribute, reference or keep_local`] : []

const hasKey: Check = ({ name, hasPrimaryKey }) =>
  hasPrimaryKey ? [] : [`${name}: has no primary key`]

const spreads: Check = ({ name, placement, key, keyType, keyIsNullable }) => {
  if (placement !== 'distributed') return []
  if (keyType === null) return [`${name}: is spread by ${key ?? ''}, a column it lacks`]
  if (!(keyType in spreadTypes)) return [`${name}: is spread by ${keyType}, unlike all others`]
  if (/(^|_)id$/.test(key ?? '') && keyType !== 'uuid') return [`${name}: its id is no uuid`]
  return keyIsNullable ? [`${name}: its distribution column may be null`] : []
}

const uniquesHoldKey: Check = ({ name, placement, key, uniques }) =>
  placement !== 'distributed'
    ? []
    : uniques
        .filter(({ columns }) => !columns.includes(key ?? ''))
        .map(({ name: index }) => `${name}: ${index} lacks the distribution column ${key ?? ''}`)

const pointsNear: Check = ({ name, placement, key, foreignKeys }, tables) =>
  foreignKeys.flatMap(({ name: fkey, target, pairs }) => {
    const far = tables.get(target)
    if (far?.placement === 'reference') return []
    const isColocated =
      placement === 'distributed' &&
      far?.placement === 'distributed' &&
      pairs.some(([own, other]) => own === key && other === far.key)
    if (isColocated || (placement === 'local' && far?.placement === 'local')) return []
    return [`${name}: ${fkey} points to ${target}, which may be on another machine`]
  })

const plainDefault = /^(NULL|true|false|-?\d+(\.\d+)?|'([^']|'')*')(::[a-z0-9 ."[\]()]+)?$/

const defaultsArePlain: Check = ({ name, placement, defaults }) =>
  placement !== 'distributed'
    ? []
    : defaults
        .filter(({ value }) => !plainDefault.test(value))
        .map(({ column, value }) => `${name}: ${column} defaults to ${value}: the program says it`)

const hasNothingHidden: Check = ({ name, triggers, rules, nested }) => [
  ...triggers.map((trigger) => `${name}: has the trigger ${trigger}`),
  ...rules.map((rule) => `${name}: has the rule ${rule}`),
  ...nested.map((part) => `${name}: its partition ${part} is partitioned again`),
]

const namesItsConstraints: Check = ({ name, constraints }) =>
  constraints
    .filter((constraint) => !isNamedByHand(name, constraint))
    .map((constraint) => `${name}: give ${constraint.name} a name of its own, from ${name}_`)

/**
 * Whether a name was chosen by hand. Names chosen by PostgreSQL end in `_check`, `_check1` or
 * `_key`, or repeat the columns.
 */
function isNamedByHand(table: string, { name, kind, columns }: Table['constraints'][0]): boolean {
  if (!name.startsWith(`${table}_`)) return false
  if (kind === 'p') return name === `${table}_pkey`
  if (kind === 'u') return /_unique$/.test(name)
  if (kind === 'f') return /_fkey$/.test(name) && name !== `${table}_${columns.join('_')}_fkey`
  return !/_(check|excl)\d*$/.test(name)
}

const checks: readonly Check[] = [
  isPlaced,
  hasKey,
  spreads,
  uniquesHoldKey,
  pointsNear,
  defaultsArePlain,
  hasNothingHidden,
  namesItsConstraints,
]

async function readPlaced(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    'select table_name as name from table_placements order by 1',
  )
  return rows.map(({ name }) => name)
}

async function readTables(db: Db): Promise<Table[]> {
  const { rows } = await db.query<Table>(
    `select relname as name, placement, distribution_key as key,
       (select format_type(atttypid, null) from pg_attribute
        where attrelid = t.oid and attname = distribution_key) as "keyType",
       (select not attnotnull from pg_attribute
        where attrelid = t.oid and attname = distribution_key) as "keyIsNullable",
       exists (select from pg_index where indrelid = t.oid and indisprimary) as "hasPrimaryKey",
       array(select json_build_object('name', indexrelid::regclass::text, 'columns', array(
           select attname from pg_attribute where attrelid = t.oid and attnum = any(indkey)))
         from pg_index where indrelid = t.oid and (indisunique or indisexclusion)
         order by indexrelid::regclass::text) as uniques,
       array(select json_build_object('name', conname, 'kind', contype, 'columns', array(
           select attname from unnest(conkey) with ordinality as k (number, place)
           join pg_attribute on attrelid = t.oid and attnum = number order by place))
         from pg_constraint where conrelid = t.oid and contype in ('p', 'u', 'f', 'c', 'x')
         order by conname) as constraints,
       array(select json_build_object('name', conname, 'target', confrelid::regclass::text,
           'pairs', (select json_agg(json_build_array(own.attname, far.attname))
             from unnest(conkey, confkey) as k (a, b)
             join pg_attribute own on own.attrelid = conrelid and own.attnum = a
             join pg_attribute far on far.attrelid = confrelid and far.attnum = b))
         from pg_constraint where conrelid = t.oid and contype = 'f' and conparentid = 0
         order by conname) as "foreignKeys",
       array(select json_build_object('column', attname, 'value', case
             when attidentity <> '' then 'an identity'
             else pg_get_expr(adbin, adrelid) end)
         from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
         where attrelid = t.oid and attgenerated = '' and (attidentity <> '' or adbin is not null)
         order by attnum) as defaults,
       array(select tgname::text from pg_trigger
         where tgrelid = t.oid and not tgisinternal) as triggers,
       array(select rulename::text from pg_rewrite where ev_class = t.oid) as rules,
       array(select inhrelid::regclass::text from pg_inherits join pg_class c on c.oid = inhrelid
         where inhparent = t.oid and c.relkind = 'p') as nested
     from pg_class t left join table_placements on table_name = relname
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all($1)
     order by relname`,
    [foreign],
  )
  return rows
}
