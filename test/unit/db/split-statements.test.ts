import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { splitStatements } from '../../../src/db/split-statements.ts'

test.for([
  ['statements', 'select 1; select 2;', ['select 1', 'select 2']],
  ['a last statement without a semicolon', 'select 1;\nselect 2\n', ['select 1', 'select 2']],
  ['nothing', ' \n;; -- nothing;\n/* nothing; */', []],
  ['a comment before a statement', '-- a; b\nselect 1;', ['-- a; b\nselect 1']],
  ['a comment after a statement', 'select 1; -- a;\n', ['select 1']],
  ['a comment in a statement', 'select -- a;\n 1;', ['select -- a;\n 1']],
  ['nested comments', 'select /* a; /* b; */ c; */ 1; select 2', null],
  ['a text', `select 'a;''b;'; select 2`, null],
  ['a text that ends in a backslash', String.raw`select 'a;\'; select 2`, null],
  ['a text with escapes', String.raw`select e'a;\';'; select 2`, null],
  ['a comment sign in a text', `select '--', '/*'; select 2`, null],
  ['a quoted name', 'select 1 as "a;""b;"; select 2', null],
  ['a function', 'do $$ begin a; b; end $$; select 2', null],
  ['a text with a tag', 'do $a$ $$; $b$; $a$; select 2', null],
  ['a name with dollar signs', 'select a$$b; select 2', null],
  ['parameters', 'select $1, $2; select 2', null],
  ['other languages', 'select élan$$; select 2', null],
] as const)('splits %s', ([, text, expected]) => {
  const [first = '', ...others] = splitStatements(text)
  if (expected) expect([first, ...others].filter(Boolean)).toEqual(expected)
  else {
    expect(others).toEqual(['select 2'])
    expect(first).toBe(text.slice(0, -'; select 2'.length))
  }
})

test.for([`select 1; select 'a;`, 'select 1; select "a;', 'select 1; do $a$ b; $$'])(
  'what has no end reaches to the end: %s',
  (text) => {
    expect(splitStatements(text)).toEqual(['select 1', text.slice('select 1; '.length)])
  },
)

test('each statement of the migrations begins as one', async () => {
  const folder = path.join(import.meta.dirname, '..', '..', '..', 'migrations')
  const files = (await readdir(folder)).filter((name) => /^\d{4}_/.test(name))
  for (const file of files) {
    const text = await readFile(path.join(folder, file), 'utf8')
    const statements = splitStatements(text)
    expect(statements.length).toBeGreaterThan(1)
    const known =
      /^(?:--[^\n]*\n)*(?:set local|create|alter|drop|select|insert|update|revoke) [^]*[^;]$/
    for (const statement of statements) expect(statement).toMatch(known)
  }
})
