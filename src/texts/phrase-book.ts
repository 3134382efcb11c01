import { saidEn } from './en/story.ts'
import { happenedFr, partsFr, wayFr } from './fr/events.ts'
import { contentSymbolsFr, symbolsFr } from './fr/symbols.ts'
import { happenedRu, partsRu, wayRu } from './ru/events.ts'
import { contentSymbolsRu, symbolsRu } from './ru/symbols.ts'

/** A sentence for a reader; `lang` is set if it stayed in English. */
export type Said = { text: string; lang: 'en' | undefined }

/**
 * English templates with their translations, and parts of sentences, which occur only in
 * placeholders.
 */
export type PhraseCatalog = {
  sentences: Readonly<Record<string, string>>
  parts: Readonly<Record<string, string>>
}

/**
 * Catalogs by language. The English one has only sentences that are shown differently from how they
 * are stored.
 */
export const phrasesOf: Readonly<Record<'en' | 'fr' | 'ru', PhraseCatalog>> = {
  en: { sentences: { ...asWritten([wayFr, happenedFr]), ...saidEn }, parts: asWritten([partsFr]) },
  fr: {
    sentences: { ...wayFr, ...happenedFr, ...symbolsFr, ...contentSymbolsFr },
    parts: partsFr,
  },
  ru: {
    sentences: { ...wayRu, ...happenedRu, ...symbolsRu, ...contentSymbolsRu },
    parts: partsRu,
  },
}

/** Maps sentences to themselves, so that a rephrased sentence is recognized next to them. */
function asWritten(known: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const english = known.flatMap((one) => Object.keys(one))
  return Object.fromEntries(english.map((sentence) => [sentence, sentence]))
}

const TEXT_MAX = 1_200
const SENTENCES_MAX = 12

/**
 * Patterns of placeholders. `whom` and `speaker` are parts of sentences, which must be known;
 * `maybe` and `peer` stay unchanged if they are unknown; `rest` may be dropped.
 */
const holes: Readonly<Record<string, string>> = {
  ip: '[0-9A-Fa-f.:]+(?:/\\d+)?',
  n: '\\d+(?:[.,]\\d+)?',
  host: '\\S{1,255}',
  day: '\\d{4}-\\d\\d-\\d\\d',
}
const partHoles: ReadonlySet<string> = new Set(['whom', 'speaker', 'maybe', 'peer'])
const mustBeKnown: ReadonlySet<string> = new Set(['whom', 'speaker'])

type Phrase = { patterns: RegExp[]; names: string[]; to: string }
type Index = { byStart: Map<string, Phrase[]>; anyStart: Phrase[] }

const books = new Map<string, (text: string) => Said>()

/**
 * Returns a function that translates stored English sentences: stories, routes, symbols. The
 * English template identifies a sentence, so sentences stored earlier are translated too. Unknown
 * ones, such as the rules of an operator, stay in English and are marked so.
 */
export function phraseBook(language: string): (text: string) => Said {
  const known = books.get(language)
  if (known) return known
  const phrases = Object.hasOwn(phrasesOf, language)
    ? phrasesOf[language as keyof typeof phrasesOf]
    : undefined
  const translate = phrases ? translator(phrases) : () => undefined
  const isEnglish = language === 'en'
  const book = (text: string): Said => {
    const said = text === '' ? '' : translate(text)
    if (said !== undefined) return { text: said, lang: undefined }
    return { text, lang: isEnglish ? undefined : 'en' }
  }
  books.set(language, book)
  return book
}

function translator({ sentences, parts }: PhraseCatalog): (text: string) => string | undefined {
  const [index, partIndex] = [indexOf(sentences), indexOf(parts)]
  const sayPart = (text: string) => say(text, partIndex, 1, () => undefined)
  return (text) => (text.length > TEXT_MAX ? undefined : say(text, index, SENTENCES_MAX, sayPart))
}

/** Translates a text of consecutive sentences; undefined when one of them is unknown. */
function say(
  text: string,
  index: Index,
  sentencesMax: number,
  sayPart: (text: string) => string | undefined,
): string | undefined {
  const start = /^\S+/.exec(text)?.[0] ?? ''
  for (const { patterns, names, to } of [...(index.byStart.get(start) ?? []), ...index.anyStart]) {
    for (const pattern of patterns) {
      const found = pattern.exec(text)
      if (!found) break
      const filled = fill(to, names, found.slice(1), sayPart)
      if (filled === undefined) continue
      const rest = text.slice(found[0].length)
      if (rest === '') return filled
      const more = sentencesMax > 1 ? say(rest, index, sentencesMax - 1, sayPart) : undefined
      if (more !== undefined) return `${filled} ${more}`
    }
  }
  return undefined
}

function fill(
  to: string,
  names: readonly string[],
  values: readonly string[],
  sayPart: (text: string) => string | undefined,
): string | undefined {
  const filling = new Map<string, string>()
  for (const [place, name] of names.entries()) {
    const value = values[place] ?? ''
    const said = partHoles.has(name) ? sayPart(value) : value
    if (said === undefined && mustBeKnown.has(name)) return undefined
    filling.set(name, said ?? value)
  }
  return to.replaceAll(/\{(\w+)\}/g, (_hole, name: string) => filling.get(name) ?? '')
}

function indexOf(phrases: Readonly<Record<string, string>>): Index {
  const index: Index = { byStart: new Map(), anyStart: [] }
  for (const [from, to] of Object.entries(phrases)) {
    const names = [...from.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    // Tries the shortest and then the longest text for a placeholder, because a name may end like a
    // sentence.
    const patterns = names.some((name) => !(name in holes)) ? ['.+?', '.+'] : ['']
    const phrase = { patterns: patterns.map((any) => patternOf(from, names, any)), names, to }
    const start = /^[^\s{]+(?=\s|$)/.exec(from)?.[0]
    if (start === undefined) index.anyStart.push(phrase)
    else index.byStart.set(start, [...(index.byStart.get(start) ?? []), phrase])
  }
  return index
}

function patternOf(from: string, names: readonly string[], any: string): RegExp {
  const source = from
    .split(/\{\w+\}/)
    .map((literal) => literal.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .reduce((text, literal, place) => `${text}(${holes[names[place - 1] ?? ''] ?? any})${literal}`)
  return new RegExp(`^${source}(?: |$)`, 's')
}
