import type { Wanted } from '../db/search.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { parseBlock } from '../mail/ip-blocks.ts'
import { isId } from '../actions.ts'
import { refusal } from '../phrase.ts'
import { verdictClasses } from '../verdict/verdict.ts'
import { bareId, blockTerms, NAME_WORDS_MAX, pairTerms } from './terms.ts'
import { wordsIn } from './words.ts'

/**
 * What a value of a field means: terms of the report, a bound of the time at which it was received,
 * its id, or an error that says what to write.
 */
export type FieldValue =
  | { terms: Wanted }
  | { from?: Date; until?: Date }
  | { id: string }
  | { problem: string }

export type SearchField = {
  example: string
  /** The possible values, if they are few. */
  values?: readonly string[]
  /** Whether every report has one of these values. */
  isInAll?: true
  read: (value: string) => FieldValue
}

const QUERY_WORDS_MAX = 20

function one(field: string, value: string): FieldValue {
  return { terms: { all: [`${field}:${value}`] } }
}

function oneOf(field: string, values: readonly string[]): Pick<SearchField, 'values' | 'read'> {
  const read = (value: string): FieldValue => {
    const known = value.toLowerCase()
    if (values.includes(known)) return one(field, known)
    return { problem: refusal('refused.search-choice', { value, field, words: values.join(', ') }) }
  }
  return { values, read }
}

/**
 * A name that is found as a whole if it contains a dot or `@` and no blank, and otherwise by its
 * words.
 */
function named(field: string): (value: string) => FieldValue {
  return (value) => {
    const plain = value.toLowerCase().replace(/^@/, '')
    return /^\S*[.@]\S*$/.test(plain) ? one(field, plain) : byWords(field, plain)
  }
}

function byWords(field: string, value: string, max = QUERY_WORDS_MAX): FieldValue {
  const words = wordsIn(value, max)
  if (words.length === 0) return { problem: refusal('refused.search-words', { value }) }
  return { terms: { all: words.map((word) => `${field}:${word}`) } }
}

function subject(value: string): FieldValue {
  const words = wordsIn(value, QUERY_WORDS_MAX)
  if (words.length < 2) return byWords('subject', value)
  return { terms: { all: pairTerms(words) } }
}

function origin(value: string): FieldValue {
  if (parseBlock(value) === undefined)
    return { problem: refusal('refused.search-block', { value }) }
  const terms = blockTerms(value)
  if (!terms) return { problem: refusal('refused.search-range', { value }) }
  return { terms: { any: terms } }
}

function network(value: string): FieldValue {
  const block = /[/:]|^\d+(?:\.\d+){3}$/.test(value) ? parseBlock(value) : undefined
  return block === undefined ? byWords('network', value) : one('network', block)
}

function file(value: string): FieldValue {
  const plain = value.toLowerCase()
  if (/^[0-9a-f]{64}$/.test(plain)) return one('file', plain)
  return byWords('file', value, NAME_WORDS_MAX)
}

function id(field: string): (value: string) => FieldValue {
  return (value) => {
    if (!isId(value)) return { problem: refusal('refused.search-id', { value }) }
    return field === 'id' ? { id: value.toLowerCase() } : one(field, value.toLowerCase())
  }
}

/** A day (UTC) as the range of its instants. */
function day(value: string): { start: Date; end: Date } | { problem: string } {
  const start = new Date(`${value}T00:00:00Z`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(start.getTime())
  if (!isDay || dateOf(start) !== value)
    return { problem: refusal('refused.search-day', { value }) }
  return { start, end: new Date(start.getTime() + DAY_MS) }
}

function days(bounds: (range: { start: Date; end: Date }) => FieldValue) {
  return (value: string): FieldValue => {
    const range = day(value)
    return 'problem' in range ? range : bounds(range)
  }
}

export const searchFields = {
  text: {
    example: 'text:invoice',
    read: (value) => byWords('text', value),
  },
  subject: {
    example: 'subject:"free money"',
    read: subject,
  },
  from: {
    example: 'from:shop.example',
    read: named('from'),
  },
  to: {
    example: 'to:ann@reporters.example',
    read: named('to'),
  },
  messageid: {
    example: 'messageid:m1@shop.example',
    read: (value) => named('messageid')(bareId(value)),
  },
  comment: {
    example: 'comment:invoice',
    read: (value) => byWords('comment', value),
  },
  origin: {
    example: 'origin:192.0.2.0/24',
    read: origin,
  },
  network: {
    example: 'network:"example hosting"',
    read: network,
  },
  as: {
    example: 'as:64500',
    read: (value) => {
      const number = /^(?:as)?(\d{1,10})$/i.exec(value)?.[1]
      if (number === undefined) return { problem: refusal('refused.search-system', { value }) }
      return one('as', String(Number(number)))
    },
  },
  country: {
    example: 'country:fr',
    read: (value) =>
      /^[a-z]{2}$/i.test(value)
        ? one('country', value.toLowerCase())
        : { problem: refusal('refused.search-country', { value }) },
  },
  link: {
    example: 'link:login.example',
    read: named('link'),
  },
  file: {
    example: 'file:invoice.pdf',
    read: file,
  },
  campaign: {
    example: 'campaign:019ab3de-0000-7000-8000-000000000000',
    read: id('campaign'),
  },
  reporter: {
    example: 'reporter:ann@reporters.example',
    read: (value) => (value.includes('@') ? one('reporter', value) : id('reporter')(value)),
  },
  desk: {
    example: 'desk:abuse@network.example',
    read: named('desk'),
  },
  verdict: {
    example: 'verdict:phishing',
    ...oneOf('verdict', verdictClasses),
  },
  symbol: {
    example: 'symbol:SUBJECT_SHOUTS',
    read: (value) => one('symbol', value.toUpperCase()),
  },
  state: {
    example: 'state:kept',
    isInAll: true,
    ...oneOf('state', ['received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed']),
  },
  kind: {
    example: 'kind:phishing',
    isInAll: true,
    ...oneOf('kind', ['spam', 'phishing', 'not-spam']),
  },
  channel: {
    example: 'channel:api',
    isInAll: true,
    ...oneOf('channel', [
      'api',
      'signaler',
      'form',
      'mail',
      'import',
      'learn',
      'trap',
      'feedback-loop',
    ]),
  },
  on: {
    example: 'on:2026-11-20',
    read: days(({ start, end }) => ({ from: start, until: end })),
  },
  after: {
    example: 'after:2026-11-01',
    read: days(({ start }) => ({ from: start })),
  },
  before: {
    example: 'before:2026-12-01',
    read: days(({ start }) => ({ until: start })),
  },
  id: {
    example: 'id:019ab3de-0000-7000-8000-000000000000',
    read: id('id'),
  },
} satisfies Record<string, SearchField>

export type FieldName = keyof typeof searchFields

/** The names of the fields, in the order of the documents. */
export const fieldNames = Object.keys(searchFields) as FieldName[]

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(searchFields, name)
}

export function readValue(field: FieldName, value: string): FieldValue {
  const its: SearchField = searchFields[field]
  return its.read(value)
}
