import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import { expect, test } from 'vitest'
import {
  type Code,
  createMessages,
  type Language,
  message,
  textsIn,
} from '../../../src/texts/messages.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

const root = path.join(import.meta.dirname, '../../../src')
const translations = ['fr', 'ru'] as const

function subjectsOf(language: Language): string[] {
  return readdirSync(path.join(root, 'texts', language)).filter((file) => file.endsWith('.json'))
}

function catalogOf(language: Language): [code: string, message: string | string[]][] {
  return subjectsOf(language).flatMap((file) => {
    const text = readFileSync(path.join(root, 'texts', language, file), 'utf8')
    return Object.entries(JSON.parse(text) as Record<string, string | string[]>)
  })
}

const english = catalogOf('en')

test('no two subjects have a message with the same code', () => {
  const codes = english.map(([code]) => code)
  expect(codes.filter((code, place) => codes.indexOf(code) !== place)).toEqual([])
})

test.for(translations)('%s has the subjects and codes of English, in its order', (language) => {
  expect(subjectsOf(language)).toEqual(subjectsOf('en'))
  expect(catalogOf(language).map(([code]) => code)).toEqual(english.map(([code]) => code))
})

test.for(['en', ...translations] as const)('every message of %s can be parsed', (language) => {
  for (const [code, said] of catalogOf(language)) {
    for (const one of [said].flat()) {
      expect(() => holesOf(one), `${code}: ${one}`).not.toThrow()
      expect(one.trim(), code).not.toBe('')
    }
  }
})

test.for(translations)('the messages of %s have the placeholders of English', (language) => {
  const other = new Map(catalogOf(language))
  for (const [code, said] of english) {
    expect({ [code]: allHolesOf(other.get(code) ?? '') }).toEqual({ [code]: allHolesOf(said) })
  }
})

test.for(translations)(
  'a plural of %s has a form for each category of the language',
  (language) => {
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories
    for (const [code, said] of catalogOf(language)) {
      for (const forms of [said].flat().flatMap(pluralsOf)) {
        expect({ [code]: forms.filter((form) => !form.startsWith('=')).toSorted() }).toEqual({
          [code]: categories.toSorted(),
        })
      }
    }
  },
)

test('every message is used by the source or a template', () => {
  const unused = english.map(([code]) => code).filter((code) => !mentions(code))
  expect(unused).toEqual([])
})

/** Placeholders of a message with their types, without those that the program adds. */
function allHolesOf(said: string | string[]): string[] {
  const holes = [said].flat().flatMap(holesOf)
  return [...new Set(holes)].filter((hole) => !hole.endsWith('_begins')).toSorted()
}

function holesOf(said: string): string[] {
  return elementsOf(said).flatMap((element) =>
    'value' in element && element.type !== 0 ? [element.value] : [],
  )
}

function pluralsOf(said: string): string[][] {
  return elementsOf(said).flatMap((element) =>
    element.type === 6 && 'options' in element ? [Object.keys(element.options)] : [],
  )
}

function elementsOf(said: string): Element[] {
  const inside = (elements: readonly Element[]): Element[] =>
    elements.flatMap((element) => [
      element,
      ...('options' in element
        ? Object.values(element.options).flatMap(({ value }) => inside(value))
        : []),
    ])
  return inside(new IntlMessageFormat(said, 'en', undefined, { ignoreTag: true }).getAst())
}

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|eta)$/.test(file))
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
const literals = new Set(
  sources.flatMap((source) =>
    [...source.matchAll(/(['"`])([\w.-]+)\1/g)].map(([, , text = '']) => text),
  ),
)
/** Codes with a variable part: `states.${state}`. */
const patterns = [
  ...new Set(
    sources.flatMap((source) =>
      [...source.matchAll(/`([\w-]+\.(?:[\w.-]|\$\{[^`{}]*\})*)`/g)].map(([, text = '']) => text),
    ),
  ),
].map(
  (text) => new RegExp(`^${text.replaceAll('.', '\\.').replaceAll(/\$\{[^}]*\}/g, '[\\w-]+')}$`),
)

function mentions(code: string): boolean {
  return literals.has(code) || patterns.some((pattern) => pattern.test(code))
}

test('a text is in the language that was asked for, with its parameters', () => {
  const highest = { value: '<b>', when: '1 May' }
  expect(textsIn('en')('chart.highest', highest)).toBe('The highest bar is <b> (1 May).')
  expect(message('fr', 'chart.highest', highest)).toEqual({
    text: 'La plus haute barre est <b> (1 May).',
    lang: undefined,
  })
})

test('a code that no language has is an error, or undefined when it came from outside', () => {
  expect(() => textsIn('fr')('chart.lowest' as Code)).toThrow('chart.lowest')
  expect(message('fr', 'chart.lowest')).toBeUndefined()
})

test('a parameter that is missing is an error', () => {
  expect(() => textsIn('en')('chart.highest', { value: '1' })).toThrow('when')
})

const sample = createMessages({
  en: {
    only: 'Only {n, number} in English',
    list: ['One', 'Two {name}'],
    reports: '{n, plural, one {# report} other {# reports}}',
  },
  fr: { from: 'Un message {name_begins, select, vowel {d’} other {de }}{name}' },
  ru: {
    reports: '{n, plural, one {# письмо} few {# письма} many {# писем} other {# письма}}',
    day: '{day, date, long}',
  },
})

test('a message without a translation is in English, and says so', () => {
  expect(sample.message('ru', 'only', { n: 1234 })).toEqual({
    text: 'Only 1,234 in English',
    lang: 'en',
  })
  expect(sample.message('en', 'only', { n: 1 })?.lang).toBeUndefined()
})

test('a list of messages takes the parameters of all', () => {
  expect(sample.textsIn('fr')('list' as Code, { name: 'x' })).toEqual(['One', 'Two x'])
  expect(sample.message('en', 'list', { name: 'x' })).toBeUndefined()
})

test.for([
  ['Orange', 'Un message d’Orange'],
  ['Élan', 'Un message d’Élan'],
  ['Yahoo', 'Un message de Yahoo'],
  ['H&M', 'Un message de H&M'],
  ['{x}', 'Un message de {x}'],
] as const)('French elides before %s as before a vowel', ([name, text]) => {
  expect(sample.message('fr', 'from', { name })?.text).toBe(text)
})

test.for([
  [1, '1 письмо'],
  [3, '3 письма'],
  [5, '5 писем'],
  [1.5, '1,5 письма'],
  [1234, '1\u00a0234 письма'],
] as const)('Russian counts %d by its rules, and groups four digits', ([n, text]) => {
  expect(sample.message('ru', 'reports', { n })?.text).toBe(text)
})

test('a day is in UTC', () => {
  const day = new Date('2026-11-22T23:59:00Z')
  expect(sample.message('ru', 'day', { day })?.text).toBe('22 ноября 2026 г.')
})
