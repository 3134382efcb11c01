import type { Breach, Rule, TidyFile } from './tree.ts'

const ours = /(^|\/)migrations\/\d{4}_/

export const migrations: Rule = {
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
