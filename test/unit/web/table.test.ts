import path from 'node:path'
import { Eta } from 'eta'
import { expect, test } from 'vitest'
import { shownLine } from '../../../src/mail/text.ts'

const views = path.join(import.meta.dirname, '../../../src/web/views')
const eta = new Eta({ views, autoEscape: true, autoTrim: [false, 'nl'] })
const tools = {
  show: shownLine,
  number: (n: number) => n.toLocaleString('en'),
  when: (at: Date) => ({ iso: at.toISOString(), text: 'then' }),
}
const draw = (cell: unknown, column: object = {}, table: object = {}) =>
  eta.render('parts/table', {
    ...tools,
    ...{
      label: 'All',
      rows: [cell],
      columns: [{ head: 'Head', cell: (row: unknown) => row, ...column }],
    },
    ...table,
  })
const cellOf = (cell: unknown, column?: object) =>
  /<tbody>\n<tr>([^]*)<\/tr>\n<\/tbody>/.exec(draw(cell, column))?.[1]

const evil = '<i>"&\''
const escaped = '&lt;i&gt;&quot;&amp;&#39;'
const button = { name: 'id', value: evil, text: evil, label: evil }

test.for([
  ['a text', evil],
  ['a text in an array', [evil]],
  ['a link', { href: evil, text: evil }],
  ['an element', { as: 'code', class: evil, lang: evil, text: evil }],
  ['a badge', { badge: evil, text: evil }],
  ['a quiet text', { quiet: evil }],
  ['a state', { state: 'sent', text: evil }],
  ['lines', { lines: [evil] }],
  ['items', { items: [evil] }],
  ['a box', { check: evil, value: evil, label: evil }],
  ['a form', { action: evil, fields: { [evil]: evil }, buttons: [button] }],
])('%s is escaped', ([, cell]) => {
  expect(cellOf(cell)).toContain(escaped)
  expect(cellOf(cell)).not.toContain('<i>')
})

test('a table has a name, and its cells say what they head', () => {
  const html = draw(evil, { head: evil, isName: true, class: 'number' }, { label: evil })
  expect(html).toContain(`role="region" aria-label="${escaped}"`)
  expect(html).toContain(`<th scope="col" class="number">${escaped}</th>`)
  expect(html).toContain(`<th scope="row" class="number">${escaped}</th>`)
})

test('a cell without a value is a dash, and a part without a value is left out', () => {
  for (const cell of [undefined, null, false, []]) expect(cellOf(cell)).toBe('<td>–</td>')
  expect(cellOf('')).toBe('<td></td>')
  expect(cellOf([0, null, '', false, 1_000])).toBe('<td>0 1,000</td>')
  expect(cellOf(false, { head: undefined })).toBe('<td></td>')
})

test('a long text is cut, and a time is a time', () => {
  expect(cellOf('abcdef', { max: 3 })).not.toContain('abcdef')
  expect(cellOf(new Date(0))).toContain('<time datetime="1970-01-01T00:00:00.000Z"')
})

test('instead of a table without rows there is a sentence', () => {
  expect(draw('', {}, { rows: [], none: evil }).trim()).toBe(`<p>${escaped}</p>`)
})
