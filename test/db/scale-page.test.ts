import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import { freshDatabase } from '../support/database.ts'
import { readDocument } from '../support/documents.ts'

const { pool } = await closeAfterTests(freshDatabase())

/** Returns the place of each table as a page states it, in rows of tables, place and reason. */
function placesOf(text: string): Map<string, string> {
  const rows = text.matchAll(
    /^\| (`[^|]*`) \| (distributed by `\w+`|reference|local) \| [^|]+ \|$/gm,
  )
  return new Map(
    [...rows].flatMap(([, tables = '', place = '']) =>
      [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']) => [table, place] as const),
    ),
  )
}

test('the page about several servers states the place of every table', async () => {
  const { rows } = await pool.query<{ table: string; place: string }>(
    `select table_name as table,
       placement || coalesce(' by \`' || distribution_key || '\`', '') as place
     from table_placements`,
  )
  const stated = placesOf(readDocument('docs/scale.md').text)
  expect(Object.fromEntries(stated)).toEqual(
    Object.fromEntries(rows.map(({ table, place }) => [table, place])),
  )
})

test('a page is read by its rows of tables, place and reason', () => {
  const page =
    '| tables | place | why |\n|---|---|---|\n| `a`, `b` | local | few |\n| `c` | near | x |'
  expect([...placesOf(page)]).toEqual([
    ['a', 'local'],
    ['b', 'local'],
  ])
})
