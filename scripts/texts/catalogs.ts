import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { IntlMessageFormat } from 'intl-messageformat'
import {
  type Catalog,
  type Catalogs,
  type Code,
  createMessages,
  hasText,
  type Language,
  locales,
} from '../../src/texts/messages.ts'

/** A message as a reader sees it, and its code. */
export type CatalogText = { code: string; text: string }

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

export const root = path.join(import.meta.dirname, '../..')

/** The languages whose texts are translations. */
export const translations = (Object.keys(locales) as Language[]).filter((one) => one !== 'en')

/** Reads the texts of the site. */
export function readCatalogs(): Catalogs {
  return { en: readFolder('en'), fr: readFolder('fr'), ru: readFolder('ru') }
}

function readFolder(language: Language): Catalog {
  const folder = path.join(root, 'src/texts', language)
  return Object.assign({}, ...readdirSync(folder).map((file) => readJson(path.join(folder, file))))
}

/** Reads the texts of the add-on for Thunderbird. */
export function readAddOn(): Catalogs {
  const folder = path.join(root, 'clients/thunderbird/locales')
  const read = (language: Language) => readJson(path.join(folder, `${language}.json`))
  return { en: read('en'), fr: read('fr'), ru: read('ru') }
}

function readJson(file: string): Catalog {
  return JSON.parse(readFileSync(file, 'utf8')) as Catalog
}

/** Returns the codes of a catalog, each with its messages, without those that are empty. */
export function messagesOf(catalog: Catalog): [code: string, messages: readonly string[]][] {
  const codes = Object.keys(catalog).filter((code) => hasText(catalog, code))
  return codes.map((code) => [code, [catalog[code] ?? []].flat()])
}

export const [LITERAL, PLURAL] = [0, 6] as const
const [DATE, SELECT] = [3, 5] as const

/** Returns the elements of a message, with those inside its plurals and selections. */
export function elementsOf(message: string): Element[] {
  const inside = (elements: readonly Element[]): Element[] =>
    elements.flatMap((element) => [
      element,
      ...('options' in element ? Object.values(element.options) : []).flatMap(({ value }) =>
        inside(value),
      ),
    ])
  return inside(new IntlMessageFormat(message, 'en', undefined, { ignoreTag: true }).getAst())
}

const numbers = [0, 1, 2, 5, 11, 21, 1.5, 1000] as const

/**
 * Returns every text of a language; a message with placeholders is formatted once with each of some
 * numbers.
 */
export function sampleTexts(catalogs: Catalogs, language: Language): CatalogText[] {
  const texts = createMessages(catalogs).textsIn(language)
  return messagesOf(catalogs[language]).flatMap(([code, messages]) => {
    const elements = messages.flatMap(elementsOf)
    const samples = elements.every(({ type }) => type === LITERAL) ? [0] : numbers
    return samples.flatMap((n) => {
      const params = Object.fromEntries(
        elements.flatMap((element) =>
          'value' in element ? [[element.value, valueOf(element, n)]] : [],
        ),
      )
      return [texts(code as Code, params)].flat().map((text) => ({ code, text }))
    })
  })
}

function valueOf(element: Element, n: number): string | number | Date {
  if (element.type === DATE) return new Date('2026-11-22')
  if (element.type === SELECT && 'options' in element) return Object.keys(element.options)[0] ?? ''
  return n
}
