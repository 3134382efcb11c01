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

/** Whether a text begins like a statement of SQL. */
export function looksLikeSql(text: string): boolean {
  return statement.test(text) || /^SELECT\s|^INSERT INTO\s/.test(text)
}

type Ban = { pattern: RegExp; advice: string; example: string }

/**
 * Patterns of SQL that fails or behaves differently in a distributed database (see the rules of the
 * schema).
 */
export const bans: readonly Ban[] = [
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
    // `rate_counts` is only on the coordinator.
    pattern: /\binsert\s+into\b(?!\s+rate_counts\b)[\s\S]*\bselect\b[\s\S]*\bunnest\b/i,
    advice: 'write rows as multi-row VALUES: unnest opens a connection per shard',
    example: 'insert into reports (id) select id from unnest($1::uuid[]) as id',
  },
  {
    pattern: /\bupdate\s+\w+\s+(as\s+)?\w*\s*set\b[\s\S]*\bfrom\s*\(\s*values\b/i,
    advice: 'an update that joins VALUES cannot be distributed: hand in a map',
    example: 'update reports set state = v.state from (values (1)) as v',
  },
]
