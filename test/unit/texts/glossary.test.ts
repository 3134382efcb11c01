import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../../..')
const glossaries = path.join(root, 'docs/developers')

const LITERAL = 0

type CatalogText = { code: string; text: string }

/**
 * Returns the texts of a language as in its files, without the names of programs, menus and
 * parameters.
 */
function textsOf(language: string): CatalogText[] {
  const folder = path.join(root, 'src/texts', language)
  return readdirSync(folder).flatMap((file) => {
    const catalog = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as object
    return Object.entries(catalog).flatMap(([code, said]: [string, string | string[]]) =>
      [said].flat().map((text) => ({ code, text: ownText(code, text) })),
    )
  })
}

function ownText(code: string, text: string): string {
  if (/^help\..*\.name$/.test(code)) return ''
  const hasMenus = /^help\.|^report\.pasteHelp$|^mailIn\.howTo\./.test(code)
  const words = hasMenus ? text.replaceAll(/«[^»]*»/g, '«»') : text
  return withoutNames(words)
}

type Elements = ReturnType<IntlMessageFormat['getAst']>

/**
 * Returns the literal texts of a message, without the names of parameters and of selected values.
 */
function withoutNames(message: string): string {
  const inside = (elements: Elements): string =>
    elements
      .map((element) => {
        if ('options' in element) {
          return Object.values(element.options)
            .map(({ value }) => inside(value))
            .join(' | ')
        }
        return element.type === LITERAL ? element.value : '{}'
      })
      .join('')
  return inside(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst())
}

/** Returns the words in the columns "Not" of a glossary. Each is the last column of its table. */
function wordsToAvoid(glossary: string): string[] {
  let isListed = false
  return glossary.split('\n').flatMap((line) => {
    const cell = line.startsWith('| ') ? (line.split('|').at(-2) ?? '') : undefined
    if (cell === undefined) isListed &&= line.startsWith('|-')
    else if (cell.trim() === 'Not') isListed = true
    if (cell === undefined || !isListed) return []
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
  })
}

/**
 * Returns a pattern for a word or several; `*` stands for any letters. It ignores case if the word
 * has no capitals.
 */
function patternOf(word: string): RegExp {
  const letters = word.replaceAll('*', '\\p{L}*').replaceAll(' ', '\\s')
  return new RegExp(`(?<!\\p{L})${letters}(?!\\p{L})`, /\p{Lu}/u.test(word) ? 'u' : 'iu')
}

const words = readdirSync(glossaries).flatMap((file) => {
  const language = /^glossary-(\w+)\.md$/.exec(file)?.[1]
  if (language === undefined) return []
  const found = wordsToAvoid(readFileSync(path.join(glossaries, file), 'utf8'))
  const texts = textsOf(language)
  return found.map((word) => ({ language, word, texts }))
})

test('the words to avoid are read from the glossaries', () => {
  expect(words.filter(({ language }) => language === 'ru').length).toBeGreaterThan(50)
  expect(words.filter(({ language }) => language === 'fr').length).toBeGreaterThan(70)
  expect(words.map(({ word }) => word)).toContain('служб* безопасности')
  expect(wordsToAvoid('| a | Not |\n|---|---|\n| `x` | `y`, `z` |\n\n| `v` | Note |')).toEqual([
    'y',
    'z',
  ])
})

test('names of parameters and the values that select a text are not words', () => {
  expect(withoutNames('{n, number} hosts of {host}')).toBe('{} hosts of {}')
  const selected = 'Of {x, select, spam {a virus} other {{host}s}}'
  expect(withoutNames(selected)).toBe('Of a virus | {}s')
})

test('a word to avoid is found in any form and case, but not inside another word', () => {
  expect('Служба безопасности сети').toMatch(patternOf('служб* безопасности'))
  expect('через интернет').not.toMatch(patternOf('Интернет*'))
  expect('через Интернет').toMatch(patternOf('Интернет*'))
  expect('приоткрыть').not.toMatch(patternOf('открыть'))
})

test.for(words)('no text of $language has «$word»', ({ word, texts }) => {
  const pattern = patternOf(word)
  expect(texts.filter(({ text }) => pattern.test(text))).toEqual([])
})

test.for([
  ['a dash that can begin a line', / —/u],
  ['a short dash between words', /[\s\u00a0]–[\s\u00a0]/u],
  ['a blank that can separate a number from its unit', /[\d}] (МБ|ч|%)(?!\p{L})/u],
  ['a stop after a date, which ends in «г.»', /\{(day|date|first|last)\b[^{}]*\}\.(\s|$)/u],
  ['a word that shows the sex of the reader', /(?<!\p{L})я (ошибся|ошиблась|согласен|согласна)/iu],
  ['«заголовок», which can be taken for the subject', /(?<!служебн\p{L}+\s)заголов/iu],
] as const)('in Russian there is not %s', ([, fault]) => {
  expect(textsOf('ru').filter(({ text }) => fault.test(text))).toEqual([])
})
