import { expect, test } from 'vitest'
import { fieldNames, type SearchField, searchFields } from '../../../src/search/fields.ts'
import { textsIn } from '../../../src/texts/messages.ts'
import { readDocument } from '../../support/documents.ts'

test('the table of fields in the documents is that of the code', () => {
  const { text } = readDocument('docs/operators/search.md')
  const rows = fieldNames.map((name) => {
    const { example, values }: SearchField = searchFields[name]
    const summary = textsIn('en')(`fields.${name}.summary`)
    const known = values ? ` One of ${values.map((value) => `\`${value}\``).join(', ')}.` : ''
    return `| \`${name}:\` | ${summary}${known} | \`${example}\` |`
  })
  const table = text.split('\n').filter((line) => /^\| `\w+:` \|/.test(line))
  expect(table).toEqual(rows)
})
