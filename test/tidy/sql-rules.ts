import ts from 'typescript'
import {
  type Breach,
  collect,
  placeOf,
  type Rule,
  syntaxOf,
  type TidyFile,
  type Tree,
  typescriptIn,
} from './tree.ts'

/**
 * The beginning of a statement: our SQL is in lower case, which distinguishes it from sentences.
 */
const statement = new RegExp(
  [
    String.raw`^\s*(select\s|insert into\s|delete from\s|truncate\s|merge into\s|vacuum\b)`,
    String.raw`^\s*update\s+[\w.]+\s+set\s`,
    String.raw`^\s*(create|drop|alter)\s+(unique\s+)?(table|index|database|schema|function)\b`,
    String.raw`^\s*create or replace\s`,
    String.raw`^\s*(with\s+\w+\s+as\s*\(|lock table\s|analyze\s+\w+[.]\w+$)`,
  ].join('|'),
)

/**
 * Returns every text that is SQL: a template with the tag `sql` or a tag of `db/rows.ts`, or a text
 * that looks like a statement. Placeholders are replaced by `…`.
 */
function sqlOf(file: TidyFile): { at: string; node: ts.Node; sql: string }[] {
  return collect(file, (node) => {
    const text = textOf(node)
    if (text === undefined) return undefined
    const isTagged =
      ts.isTaggedTemplateExpression(node.parent) &&
      /^(?:sql$|(?:named|rowsOf|rowOf|changesAny)\()/.test(node.parent.tag.getText())
    const isSql = statement.test(text) || /^SELECT\s|^INSERT INTO\s/.test(text)
    return isTagged || isSql ? { at: placeOf(file, node), node, sql: text } : undefined
  })
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
}

const home: Rule = {
  name: 'SQL stands in src/db only',
  check: (tree) =>
    typescriptIn(tree, 'src')
      .filter(({ path }) => !path.startsWith('src/db/'))
      .flatMap(sqlOf)
      .map(({ at }) => `${at} holds SQL: move it to src/db, to the file of its table`),
  raises: [
    ['src/web/a.ts:2', { 'src/web/a.ts': "\ndb.query('select id from reports')" }],
    ['src/reports/a.ts:1', { 'src/reports/a.ts': 'const a = `update reports set state = ${b}`' }],
    ['src/reports/a.ts:1', { 'src/reports/a.ts': "tx.query('analyze pgboss.job')" }],
    ['src/reports/a.ts:1', { 'src/reports/a.ts': 'const isDue = sql`due_at < ${now}`' }],
  ],
  passes: [
    { 'src/web/a.ts': "say('Select one of these')\nsay('update your client')" },
    { 'src/db/a.ts': "db.query('select id from reports')", 'test/a.ts': "q('select id from a')" },
  ],
}

type Ban = { pattern: RegExp; advice: string; example: string }

/**
 * Patterns of SQL that fails or behaves differently in a distributed database (see the rules of the
 * schema).
 */
const bans: readonly Ban[] = [
  {
    pattern: /\bselect\s+(\w+\.)?\*/i,
    advice: 'list the columns',
    example: 'select * from reports where id = $1',
  },
  {
    pattern: /\blateral\b/i,
    advice: 'no LATERAL: read by keys, join in the program',
    example: 'select id from reports, lateral unnest(a)',
  },
  {
    pattern: /\bmerge\s+into\b/i,
    advice: 'no MERGE: insert … on conflict',
    example: 'merge into reports using a on true',
  },
  {
    pattern: /\b(now|random|clock_timestamp|gen_random_uuid|uuidv7|statement_timestamp)\s*\(/i,
    advice: 'values come from the program: hand it in as a parameter',
    example: 'insert into reports (at) values (now())',
  },
  {
    pattern: /\bcurrent_(timestamp|date|time)\b|\blocaltimestamp\b/i,
    advice: 'values come from the program: hand it in as a parameter',
    example: 'update reports set at = current_timestamp',
  },
  {
    pattern: /\bxmax\b/i,
    advice: 'no xmax: use on conflict do nothing, returning',
    example: 'insert into reports (id) values ($1) returning xmax = 0',
  },
  {
    pattern:
      /(?<!of\s+pgboss\w*\s+)\bskip\s+locked\b|\bfor\s+(no key\s+)?update\b(?!\s+of\s+pgboss)/i,
    advice: 'no row locks over a table: claim work by its queue',
    example: 'select id from reports for update skip locked',
  },
  {
    pattern: /\binsert\s+into\b[\s\S]*\bselect\b[\s\S]*\bunnest\b/i,
    advice: 'write rows as multi-row VALUES: unnest opens a connection per shard',
    example: 'insert into reports (id) select id from unnest($1::uuid[]) as id',
  },
  {
    pattern: /\bupdate\s+\w+\s+(as\s+)?\w*\s*set\b[\s\S]*\bfrom\s*\(\s*values\b/i,
    advice: 'an update that joins VALUES cannot be distributed: hand in a map',
    example: 'update reports set state = v.state from (values (1)) as v',
  },
]

function sqlTexts(tree: Tree): { at: string; sql: string }[] {
  return typescriptIn(tree, 'src/db').flatMap((file) => [...sqlOf(file), ...columnLists(file)])
}

/** Finds the fragments used in statements: `const columns = …`. */
function columnLists(file: TidyFile): { at: string; sql: string }[] {
  return syntaxOf(file).statements.flatMap((node) => {
    if (!ts.isVariableStatement(node)) return []
    return node.declarationList.declarations.flatMap(({ initializer }) => {
      const sql = initializer && textOf(initializer)
      return sql === undefined ? [] : [{ at: placeOf(file, node), sql }]
    })
  })
}

const distributable: Rule = {
  name: 'our statements keep the rules for a distributable schema',
  check: (tree) =>
    sqlTexts(tree).flatMap(({ at, sql }) =>
      bans.filter(({ pattern }) => pattern.test(sql)).map(({ advice }) => `${at} ${advice}`),
    ),
  raises: [
    ...bans.map(
      ({ example }) =>
        ['src/db/a.ts:1', { 'src/db/a.ts': `db.query(${JSON.stringify(example)})` }] as const,
    ),
    ['src/db/a.ts:1', { 'src/db/a.ts': 'const columns = `id, now() as "at"`' }],
    ['src/db/a.ts:1', { 'src/db/a.ts': 'const isDue = () => sql`due_at < now()`' }],
  ],
  passes: [
    { 'src/db/a.ts': "db.query('select count(*) from networks where now = $1 and random > 2')" },
    { 'src/db/a.ts': "// now() and xmax\ndb.query('insert into a (b) values ($1)')" },
    { 'src/db/a.ts': "say('for update see the manual'); const now = () => 1" },
  ],
}

const ours = /(^|\/)migrations\/\d{4}_/

const migrations: Rule = {
  name: 'a migration is numbered, opens with why, and runs in sequential mode',
  check: (tree) =>
    tree
      .filter(({ path }) => path.startsWith('migrations/') && path !== 'migrations/schema.sql')
      .flatMap((file, index) => migrationBreaches(file, index + 1)),
  raises: [
    ['migrations/3_reports.sql:1', { 'migrations/3_reports.sql': '-- Why.\nset local x;' }],
    ['migrations/0001_a.sql:1', { 'migrations/0001_a.sql': 'create table a ();' }],
    ['migrations/0001_a.sql:1', { 'migrations/0001_a.sql': '-- Why.\nselect 1;' }],
    ['migrations/0002_a.sql:1', { 'migrations/0002_a.sql': migrationSample('select 1;') }],
    [
      'migrations/0001_a.sql:4',
      { 'migrations/0001_a.sql': migrationSample('create table a (id uuid primary key);') },
    ],
    [
      'migrations/0001_a.sql:4',
      { 'migrations/0001_a.sql': migrationSample('alter table a alter b set storage plain;') },
    ],
    [
      'migrations/0001_a.sql:4',
      { 'migrations/0001_a.sql': migrationSample('create table a (id uuid);') },
    ],
    [
      'migrations/0001_a.sql:5',
      { 'migrations/0001_a.sql': migrationSample('create table a (\n  b text storage plain\n);') },
    ],
  ],
  passes: [
    {
      'migrations/0001_a.sql': migrationSample(
        'create table a (id uuid,\n constraint a_pkey primary key (id));\n' +
          'alter table a alter id set storage plain;\n' +
          "select distribute('a', 'id');",
      ),
      'migrations/schema.sql': 'create table a (id uuid primary key);',
    },
  ],
}

function migrationSample(sql: string): string {
  return `-- Why.\nset local citus.multi_shard_modify_mode to 'sequential';\n\n${sql}\n`
}

function migrationBreaches({ path, text, lines }: TidyFile, number: number): Breach[] {
  const breaches: Breach[] = []
  const name = /^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*\.sql$/.exec(path.slice('migrations/'.length))
  if (!ours.test(path) || !name) breaches.push(`${path}:1 is not named NNNN_what_it_makes.sql`)
  else if (Number(name[1]) !== number) breaches.push(`${path}:1 should have the number ${number}`)
  if (!/^-- \S/.test(text)) breaches.push(`${path}:1 does not open with why: begin with a comment`)
  const [first = ''] = text.split('\n').filter((line) => line !== '' && !line.startsWith('--'))
  if (first !== "set local citus.multi_shard_modify_mode to 'sequential';") {
    breaches.push(`${path}:1 does not begin with set local citus.multi_shard_modify_mode`)
  }
  lines.forEach((line, index) => {
    const at = `${path}:${index + 1}`
    const sql = line.replace(/--.*/, '')
    const kind = /\b(primary key|unique \(|foreign key|references \w|check \()/.exec(sql)
    const before = `${lines[index - 1] ?? ''} ${sql}`
    if (kind && !/\bconstraint \w+/.test(before)) breaches.push(`${at} name the constraint`)
    if (/^ +\w+ .*\bstorage \w+/.test(sql)) {
      breaches.push(`${at} PostgreSQL 15 needs alter table … set storage for this`)
    }
    const stored = /^alter table (\w+) .*\bset storage\b/.exec(sql)?.[1]
    if (stored && !lines.slice(index).some((later) => later.includes(`('${stored}'`))) {
      breaches.push(`${at} set the storage before ${stored} is distributed`)
    }
    const table = /^create table (\w+)/.exec(sql)?.[1]
    const isPlaced = (table_: string) =>
      new RegExp(`\\b(distribute|reference|keep_local(_in_step)?)\\('${table_}'`).test(text)
    if (table && !isPlaced(table)) breaches.push(`${at} say where ${table} lives: distribute(…)`)
  })
  return breaches
}

/** Rules about the place and content of SQL. */
export const sqlRules: readonly Rule[] = [home, distributable, migrations]
