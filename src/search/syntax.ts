import { storableText } from '../mail/text.ts'
import { refusal } from '../phrase.ts'
import { type FieldName, fieldNames, isFieldName, readValue } from './fields.ts'

/** One condition of a search: the field has one of the values or, with `isNot`, none of them. */
export type Clause = { field: FieldName; values: readonly string[]; isNot: boolean }

/** A search as written: its conditions, all of which must be met, or what is wrong with it. */
export type ParsedSearch = { clauses: readonly Clause[] } | { problems: readonly string[] }

/** Maximum length of a search in characters, and number of conditions and of values in one. */
export const SEARCH_CHARS_MAX = 1_000
const CLAUSES_MAX = 20
const VALUES_MAX = 20

/** The fields that bound the time: a minus sign and several values make no sense there. */
const bounds: readonly FieldName[] = ['after', 'before', 'on']

/**
 * Parses a search like `from:shop.example subject:"free money" -state:kept,failed`. A word without
 * a field is searched in the text. Quotes enclose blanks and commas; inside them, `\` precedes a
 * quote or a backslash. Linear time.
 */
export function parseSearch(written: string): ParsedSearch {
  const text = storableText(written, SEARCH_CHARS_MAX + 1)
  if (text.length > SEARCH_CHARS_MAX)
    return { problems: [refusal('refused.too-long', { max: SEARCH_CHARS_MAX })] }
  const clauses: Clause[] = []
  const problems: string[] = []
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const isNot = text[at] === '-'
    const name = /[a-z]*:|/y
    name.lastIndex = isNot ? at + 1 : at
    const [prefix = ''] = name.exec(text) ?? []
    const field = prefix.slice(0, -1)
    const start = (isNot ? at + 1 : at) + prefix.length
    if (prefix !== '' && !isFieldName(field)) {
      problems.push(refusal('refused.search-field', { field, fields: fieldNames.join(', ') }))
    }
    const read = readValues(text, start)
    if ('problem' in read) return { problems: [...problems, read.problem] }
    at = read.end
    const its = prefix !== '' && isFieldName(field) ? field : 'text'
    const clause = { field: its, values: read.values, isNot }
    problems.push(...problemsOf(clause))
    clauses.push(clause)
  }
  if (clauses.length > CLAUSES_MAX)
    problems.push(refusal('refused.search-conditions', { max: CLAUSES_MAX }))
  return problems.length > 0 ? { problems } : { clauses }
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text[at] ?? '')) at++
  return at
}

/** Reads values separated by commas. */
function readValues(
  text: string,
  start: number,
): { values: string[]; end: number } | { problem: string } {
  const values: string[] = []
  let at = start
  do {
    if (values.length > 0) at++
    const value = text[at] === '"' ? readQuoted(text, at) : readBare(text, at)
    if (!value) return { problem: refusal('refused.search-quote') }
    values.push(value.text)
    at = value.end
  } while (text[at] === ',')
  if (at < text.length && !/\s/.test(text[at] ?? ''))
    return { problem: refusal('refused.search-blank') }
  return { values, end: at }
}

function readQuoted(text: string, start: number): { text: string; end: number } | undefined {
  let value = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return { text: value, end: at + 1 }
    if (text[at] === '\\' && at + 1 < text.length) at++
    value += text[at]
  }
  return undefined
}

function readBare(text: string, start: number): { text: string; end: number } {
  let end = start
  while (end < text.length && !/[\s,]/.test(text[end] ?? '')) end++
  return { text: text.slice(start, end), end }
}

function problemsOf({ field, values, isNot }: Clause): string[] {
  if (values.some((value) => value === '')) return [refusal('refused.search-value', { field })]
  if (values.length > VALUES_MAX) return [refusal('refused.search-values', { max: VALUES_MAX })]
  if (bounds.includes(field) && (isNot || values.length > 1))
    return [refusal('refused.search-bound', { field })]
  if (field === 'id' && isNot) return [refusal('refused.search-minus')]
  return values.flatMap((value) => {
    const read = readValue(field, value)
    return 'problem' in read ? [read.problem] : []
  })
}

/** Writes a search so that parsing it returns the same conditions. */
export function formatSearch(clauses: readonly Clause[]): string {
  return clauses
    .map(({ field, values, isNot }) => {
      const written = values.map(formatValue).join(',')
      const isPlain = field === 'text' && !/^[a-z]*:|^-/.test(written)
      return `${isNot ? '-' : ''}${isPlain ? '' : `${field}:`}${written}`
    })
    .join(' ')
}

function formatValue(value: string): string {
  if (value !== '' && !/[\s,"\\]/.test(value)) return value
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}
