import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import { expect, test } from 'vitest'
import { phrase, type PhraseCode, phraseParameters } from '../../../src/phrase.ts'
import { inEnglish, sayPhrases } from '../../../src/texts/phrases.ts'

const root = path.join(import.meta.dirname, '../../../src')
const catalogOf = (language: string, subject: string) =>
  JSON.parse(readFileSync(path.join(root, 'texts', language, `${subject}.json`), 'utf8')) as Record<
    string,
    string
  >

const subjects = ['events', 'route', 'inbox', 'counting', 'reputation', 'health']

test('the catalogs have each code and no other', () => {
  const codes = subjects.flatMap((subject) => Object.keys(catalogOf('en', subject)))
  expect(codes.toSorted()).toEqual(Object.keys(phraseParameters).toSorted())
})

test('a text needs the parameters of its code, and no other', () => {
  for (const subject of subjects) {
    for (const [code, text] of Object.entries(catalogOf('en', subject))) {
      const needed = parametersOf(new IntlMessageFormat(text, 'en').getAst())
      needed.delete('reader')
      expect({ [code]: [...needed].toSorted() }).toEqual({
        [code]: phraseParameters[code as PhraseCode].toSorted(),
      })
    }
  }
})

type Ast = ReturnType<IntlMessageFormat['getAst']>

function parametersOf(ast: Ast): Set<string> {
  return new Set(
    ast.flatMap((element) => [
      ...('value' in element && element.type !== 0 ? [element.value] : []),
      ...('options' in element
        ? Object.values(element.options).flatMap(({ value }) => [...parametersOf(value)])
        : []),
    ]),
  )
}

test('each code is used', () => {
  const source = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'phrase.ts')
    .map((file) => readFileSync(path.join(root, file), 'utf8'))
    .join('\n')
  const unused = Object.keys(phraseParameters).filter((code) => !source.includes(`'${code}'`))
  expect(unused).toEqual([])
})

test('English calls the reporter "you" only if the reporter reads', () => {
  const said = [phrase('retracted-by-reporter'), phrase('unsent-withdrawn')]
  expect(sayPhrases(said, 'en', 'reporter')).toEqual({
    text: 'You took the report back. Feedback reports that had not been sent were canceled.',
    lang: undefined,
  })
  expect(sayPhrases(said, 'en', 'operator').text).toMatch(/^The reporter took the report back\./)
})

test.for([
  ['en', '1 February 2002'],
  ['fr', '1 f\u00e9vrier 2002'],
  ['ru', '1 \u0444\u0435\u0432\u0440\u0430\u043b\u044f 2002'],
] as const)('a day is written as in %s', ([language, day]) => {
  const old = phrase('too-old', { day: '2002-02-01', hours: 168 })
  expect(sayPhrases(old, language, 'reporter').text).toContain(day)
})

test.for(['en', 'fr', 'ru'] as const)(
  'in %s only operators read the number of a line',
  (language) => {
    for (const [code, names] of Object.entries(phraseParameters)) {
      if (!names.some((name) => name === 'line')) continue
      const params = Object.fromEntries(names.map((name) => [name, name === 'line' ? 4711 : 'x']))
      const said = { code: code as PhraseCode, params }
      expect(sayPhrases(said, language, 'reporter').text).not.toMatch(/4711|4.711/)
      expect(sayPhrases(said, language, 'operator').text).toMatch(/4711|4.711/)
    }
  },
)

test('a stored instant is a day or a time in UTC', () => {
  const counted = phrase('counts-until-slot', {
    firstDay: '2026-11-18T00:00:00.000Z',
    lastAt: '2026-11-20T23:50:00.000Z',
    untilAt: '2026-11-21T00:00:00.000Z',
  })
  expect(inEnglish(counted)).toBe(
    'First counted on 18 November, last on 20 November from 23:50 to 00:00 UTC.',
  )
  expect(sayPhrases(counted, 'ru', 'operator').text).toContain('20 ноября с 23:50 до 00:00 UTC')
})

test('a parameter stays as it is', () => {
  const said = phrase('domain-takes-complaints', { domain: "<b>'{x}'.example" })
  expect(sayPhrases(said, 'fr', 'reporter').text).toContain("<b>'{x}'.example")
})

test.for<[string, Parameters<typeof sayPhrases>[0], string]>([
  ['a meaning', 'The sender is unknown.', 'The sender is unknown.'],
  ['meanings', ['It was seen.', 'It fits.'], 'It was seen. It fits.'],
])('%s of a rule is shown as written, and marked as English', ([, stored, text]) => {
  expect(sayPhrases(stored, 'ru', 'reporter')).toEqual({ text, lang: 'en' })
  expect(sayPhrases(stored, 'en', 'reporter')).toEqual({ text, lang: undefined })
})

test('a code of a newer version is shown as a code', () => {
  const newer = { code: 'from-the-future' as PhraseCode }
  expect(sayPhrases([newer], 'fr', 'reporter')).toEqual({ text: newer.code, lang: 'en' })
})
