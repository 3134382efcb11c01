import { readFileSync } from 'node:fs'
import path from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import type { Catalog, Catalogs, Language } from '../../src/texts/messages.ts'
import { LITERAL, messagesOf, root } from './catalogs.ts'

const russianFaults = [
  ['a dash that can begin a line', / —/u],
  ['a short dash between words', /[\s\u00a0]–[\s\u00a0]/u],
  ['a blank that can separate a number from its unit', /[\d}] (МБ|ч|%)(?!\p{L})/u],
  ['a stop after a date, which ends in «г.»', /\{(day|date|first|last)\b[^{}]*\}\.(\s|$)/u],
  [
    'a word that shows the sex of the reader',
    /(?<!\p{L})я (ещё )?(не )?(\p{L}+(ся|ась)|согласен|согласна)(?!\p{L})/iu,
  ],
  ['«заголовок», which can be taken for the subject', /(?<!служебн\p{L}+\s)заголов/iu],
] as const

/**
 * Returns the texts of a translation with a word that its glossary says to avoid, and what else
 * Russian texts avoid.
 */
export function glossaryFaults(catalogs: Catalogs, language: Language): string[] {
  const glossary = readGlossary(language)
  const texts = wordsOf(catalogs[language], lastColumn(glossary, 'In programs'))
  const avoided = lastColumn(glossary, 'Not').map((word) => [`«${word}»`, patternOf(word)] as const)
  return [...avoided, ...(language === 'ru' ? russianFaults : [])].flatMap(([name, fault]) =>
    texts
      .filter(({ text }) => fault.test(text))
      .map(({ code, text }) => `${code} has ${name}: ${text}`),
  )
}

/** Reads the glossary of a language. */
export function readGlossary(language: Language): string {
  return readFileSync(path.join(root, `docs/developers/glossary-${language}.md`), 'utf8')
}

/** Returns the texts without the names of programs, menus, folders and parameters. */
function wordsOf(catalog: Catalog, folders: readonly string[]): { code: string; text: string }[] {
  return messagesOf(catalog).flatMap(([code, messages]) =>
    messages.map((text) => ({ code, text: withoutFolders(ownText(code, text), folders) })),
  )
}

/** Removes the names of folders, which are written as mail programs write them. */
export function withoutFolders(text: string, folders: readonly string[]): string {
  return folders.reduce((rest, folder) => rest.replaceAll(folder, ''), text)
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
export function withoutNames(message: string): string {
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

/** Returns the words in the columns with a title, if it is the last one of its table. */
export function lastColumn(glossary: string, title: string): string[] {
  let isListed = false
  return glossary.split('\n').flatMap((line) => {
    const cell = line.startsWith('| ') ? (line.split('|').at(-2) ?? '') : undefined
    if (cell === undefined) isListed &&= line.startsWith('|-')
    else if (cell.trim() === title) isListed = true
    if (cell === undefined || !isListed) return []
    return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
  })
}

/**
 * Returns a pattern for a word or several; `*` stands for any letters. It ignores case if the word
 * has no capitals.
 */
export function patternOf(word: string): RegExp {
  const letters = word.replaceAll('*', '\\p{L}*').replaceAll(' ', '\\s')
  return new RegExp(`(?<!\\p{L})${letters}(?!\\p{L})`, /\p{Lu}/u.test(word) ? 'u' : 'iu')
}
