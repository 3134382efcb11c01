import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { schemaBreaches } from './schema-rules.ts'

const database = await closeAfterTests(freshDatabase())

test('every table follows the rules for a distributable schema', async () => {
  expect(await schemaBreaches(database.pool)).toEqual([])
})

test('there are tables to check', async () => {
  const { rows } = await database.pool.query('select table_name from table_placements')
  expect(rows.length).toBeGreaterThan(12)
})

const sound = 'id uuid not null, constraint bad_pkey primary key (id)'
const placed = "select distribute('bad', 'id')"

/** Runs a statement, returns the violations, and rolls back. */
async function breachesAfter(ddl: string): Promise<string[]> {
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    await client.query(ddl)
    return await schemaBreaches(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test.for([
  ['a table that lives nowhere', `create table bad (${sound})`, /^bad: say where it lives/],
  ['a placement without its table', "select keep_local('gone')", /^gone: is placed, but/],
  [
    'a table without a primary key',
    `create table bad (id uuid not null); ${placed}`,
    /^bad: has no primary key/,
  ],
  [
    'a primary key without the distribution column',
    `create table bad (id uuid not null, a text, constraint bad_pkey primary key (a)); ${placed}`,
    /^bad: bad_pkey lacks the distribution column id/,
  ],
  [
    'another uniqueness without it',
    `create table bad (${sound}, email text, constraint bad_email_unique unique (email)); ${placed}`,
    /^bad: bad_email_unique lacks the distribution column id/,
  ],
  [
    'a unique index that is no constraint',
    `create table bad (${sound}, email text); create unique index bad_once on bad (email); ${placed}`,
    /^bad: bad_once lacks/,
  ],
  [
    'a distribution column that is not there',
    `create table bad (${sound}); select distribute('bad', 'nothing')`,
    /^bad: is spread by nothing, a column it lacks/,
  ],
  [
    'a distribution by a type that colocates with nothing',
    `create table bad (a text not null, constraint bad_pkey primary key (a));
     select distribute('bad', 'a')`,
    /^bad: is spread by text, unlike all others/,
  ],
  [
    'an id that is no uuid',
    `create table bad (id bigint not null, constraint bad_pkey primary key (id)); ${placed}`,
    /^bad: its id is no uuid/,
  ],
  [
    'a distribution column that may be null',
    `create table bad (a uuid not null, id uuid, constraint bad_pkey primary key (a)); ${placed}`,
    /^bad: its distribution column may be null/,
  ],
  [
    'a foreign key from a local table to a distributed one',
    `create table bad (${sound}, constraint bad_report_fkey
       foreign key (id) references report_events_none (id)); select keep_local('bad')`,
    /^bad: bad_report_fkey points to report_events_none/,
  ],
  [
    'a foreign key between distributed tables beside the distribution column',
    `create table bad (${sound}, other uuid, constraint bad_other_fkey0_fkey
       foreign key (other) references report_events_none (id)); ${placed}`,
    /^bad: bad_other_fkey0_fkey points to report_events_none/,
  ],
  [
    'a foreign key from a reference table to a distributed one',
    `create table bad (${sound}, constraint bad_report_fkey
       foreign key (id) references report_events_none (id)); select reference('bad')`,
    /^bad: bad_report_fkey points to report_events_none/,
  ],
  [
    'a foreign key from a distributed table to a local one',
    `create table bad (${sound}, sid varchar, constraint bad_session_fkey
       foreign key (sid) references sessions (sid)); ${placed}`,
    /^bad: bad_session_fkey points to sessions/,
  ],
  [
    'now() as a default',
    `create table bad (${sound}, at timestamptz default now()); ${placed}`,
    /^bad: at defaults to now\(\)/,
  ],
  [
    'the present day as a default',
    `create table bad (${sound}, at date default current_date); ${placed}`,
    /^bad: at defaults to CURRENT_DATE/,
  ],
  [
    'chance as a default',
    `create table bad (${sound}, a uuid default gen_random_uuid()); ${placed}`,
    /^bad: a defaults to gen_random_uuid\(\)/,
  ],
  ['a serial', `create table bad (${sound}, a serial); ${placed}`, /^bad: a defaults to nextval/],
  [
    'an identity',
    `create table bad (${sound}, a int generated always as identity); ${placed}`,
    /^bad: a defaults to an identity/,
  ],
  [
    'a trigger',
    `create table bad (${sound}); ${placed};
     create trigger shout before update on bad for each row
       execute function suppress_redundant_updates_trigger()`,
    /^bad: has the trigger shout/,
  ],
  [
    'a rule',
    `create table bad (${sound}); ${placed};
     create rule hush as on delete to bad do instead nothing`,
    /^bad: has the rule hush/,
  ],
  [
    'a partition that is partitioned again',
    `create table bad (${sound}) partition by range (id); ${placed};
     create table bad_part partition of bad default partition by range (id)`,
    /^bad: its partition bad_part is partitioned again/,
  ],
  [
    'a check that PostgreSQL named',
    `create table bad (${sound}, a int check (a > 0)); ${placed}`,
    /^bad: give bad_a_check a name/,
  ],
  [
    'a uniqueness that PostgreSQL named',
    `create table bad (${sound}, a int, unique (id, a)); ${placed}`,
    /^bad: give bad_id_a_key a name/,
  ],
  [
    'a foreign key that PostgreSQL named',
    `create table bad (${sound}, owner_id uuid references reporters (id)); ${placed}`,
    /^bad: give bad_owner_id_fkey a name/,
  ],
  [
    'a constraint that is named for another table',
    `create table bad (id uuid not null, constraint worse_pkey primary key (id)); ${placed}`,
    /^bad: give worse_pkey a name/,
  ],
] as const)('%s is reported', async ([, ddl, expected]) => {
  const target = `create table report_events_none (id uuid not null,
    constraint report_events_none_pkey primary key (id));
    select distribute('report_events_none', 'id');`
  const breaches = await breachesAfter(`${target} ${ddl}`)
  expect(breaches.filter((breach) => expected.test(breach))).toHaveLength(1)
  expect(breaches.filter((breach) => !/^(bad|gone): /.test(breach))).toEqual([])
})

test.for([
  [
    'a foreign key to a reference table',
    `create table good (id uuid not null, owner_id uuid, constraint good_pkey primary key (id),
       constraint good_owner_fkey foreign key (owner_id) references reporters (id))`,
  ],
  [
    'a foreign key between distributed tables on the distribution column',
    `create table good (id uuid not null, number int, constraint good_pkey primary key (id, number),
       constraint good_report_fkey foreign key (id) references near (id))`,
  ],
  [
    'a default that is a plain value, and a generated column',
    `create table good (id uuid not null, n int default -1, s text default 'it''s', b boolean
       default false, l int generated always as (n * 2) stored,
       constraint good_pkey primary key (id))`,
  ],
  [
    'a unique constraint with the distribution column in any place',
    `create table good (id uuid not null, a int, constraint good_pkey primary key (a, id),
       constraint good_a_unique unique (a, id))`,
  ],
] as const)('%s is allowed', async ([, ddl]) => {
  const near = `create table near (id uuid not null, constraint near_pkey primary key (id));
    select distribute('near', 'id');`
  expect(await breachesAfter(`${near} ${ddl}; select distribute('good', 'id')`)).toEqual([])
})
