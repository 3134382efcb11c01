import type { Db } from '../src/db/pool.ts'

type Column = {
  name: string
  type: string
  /** Empty if it is the default of the column's type. */
  storage: string
  notNull: boolean
  /** How a column gets its value if none is given. */
  rest: string
  comment: string | null
}

type Table = {
  name: string
  comment: string | null
  partitionedBy: string | null
  placement: string | null
  key: string | null
  columns: Column[]
  constraints: { name: string; definition: string }[]
  indexes: string[]
}

const header = `-- The schema that the migrations create, ordered by name. Written by
-- "npm run schema" and compared by a test; never run, and never changed by hand. Weekly partitions,
-- the tables of knex and the schema of pg-boss are left out.
`

/**
 * Returns the schema `public` of a database as readable SQL: the same text from every PostgreSQL
 * version since 15. Columns are in their original order; everything else is sorted by name.
 */
export async function readSchema(db: Db): Promise<string> {
  const functions = await readFunctions(db)
  const tables = await readTables(db)
  return [header, ...functions, ...tables.map(textOf)].join('\n')
}

function textOf(table: Table): string {
  const { name, placement, key, partitionedBy, comment } = table
  const lines = [
    ...table.columns.map(({ name: column, type, storage, notNull, rest }) =>
      [`${column} ${type}`, storage, notNull ? ' not null' : '', rest].join(''),
    ),
    ...table.constraints.map(
      (constraint) => `constraint ${constraint.name} ${constraint.definition}`,
    ),
  ]
  const place = placement === 'distributed' ? `distributed by ${key ?? ''}` : placement
  const partition = partitionedBy === null ? '' : ` partition by ${partitionedBy}`
  return [
    `-- ${name}: ${place ?? 'placed nowhere'}`,
    `create table ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${partition};`,
    ...table.indexes.map((index) => `${index};`),
    ...(comment === null ? [] : [`comment on table ${name} is ${quoted(comment)};`]),
    ...table.columns.flatMap((column) =>
      column.comment === null
        ? []
        : [`comment on column ${name}.${column.name} is ${quoted(column.comment)};`],
    ),
    '',
  ].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

async function readFunctions(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ definition: string }>(
    `select pg_get_functiondef(p.oid) as definition
     from pg_proc p
     where pronamespace = 'public'::regnamespace and prokind in ('f', 'p')
       and not exists (select from pg_depend
         where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
     order by p.oid::regprocedure::text`,
  )
  return rows.map(
    ({ definition }) => `${definition.replace('FUNCTION public.', 'FUNCTION ').trimEnd()};\n`,
  )
}

async function readTables(db: Db): Promise<Table[]> {
  // PostgreSQL 18 also stores "not null" as constraints (contype n), which are read with the
  // columns.
  const { rows } = await db.query<Table>(
    `select relname as name, obj_description(t.oid, 'pg_class') as comment,
       pg_get_partkeydef(t.oid) as "partitionedBy", placement, distribution_key as key,
       array(select json_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
           'notNull', attnotnull, 'comment', col_description(t.oid, attnum), 'storage',
           case when attstorage = typstorage then '' else ' storage ' || case attstorage
             when 'e' then 'external' when 'm' then 'main' when 'p' then 'plain'
             else 'extended' end end, 'rest',
           case when attidentity = '' then '' else ' generated as identity' end ||
           case when adbin is null then '' when attgenerated = 's'
             then ' generated always as (' || pg_get_expr(adbin, adrelid) || ') stored'
             else ' default ' || pg_get_expr(adbin, adrelid) end)
         from pg_attribute join pg_type on pg_type.oid = atttypid
           left join pg_attrdef on adrelid = attrelid and adnum = attnum
         where attrelid = t.oid and attnum > 0 and not attisdropped
         order by attnum) as columns,
       array(select json_build_object('name', conname, 'definition',
           pg_get_constraintdef(pg_constraint.oid))
         from pg_constraint where conrelid = t.oid and contype in ('p', 'u', 'f', 'c', 'x')
         order by array_position('{p,u,f,x,c}', contype::text), conname) as constraints,
       array(select pg_get_indexdef(indexrelid)
         from pg_index where indrelid = t.oid
           and not exists (select from pg_constraint where conindid = indexrelid and contype <> 'f')
         order by indexrelid::regclass::text) as indexes
     from pg_class t left join table_placements on table_name = relname
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not like 'schema\\_migrations%'
     order by relname`,
  )
  return rows.map((table) => ({
    ...table,
    indexes: table.indexes.map((index) =>
      index
        .replace(/^CREATE (UNIQUE )?INDEX/, (words) => words.toLowerCase())
        .replace(/ ON (ONLY )?public\./, ' on ')
        .replace(' USING btree', ''),
    ),
  }))
}
