import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Eta } from 'eta'
import { type Argument, parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import {
  type CatalogText,
  elementsOf,
  LITERAL,
  messagesOf,
  readCatalogs,
  sampleTexts,
  translations,
} from '../../../scripts/texts/catalogs.ts'
import { pluralFaults } from '../../../scripts/texts/gaps.ts'
import { typographyFaults } from '../../../scripts/texts/style.ts'
import { feedbackFormats } from '../../../src/mail/feedback-format.ts'
import { phraseParameters } from '../../../src/phrase.ts'
import { hasText, type Language, locales, textsIn } from '../../../src/texts/messages.ts'

const root = path.join(import.meta.dirname, '../../../src')
const languages = Object.keys(locales) as Language[]
const catalogs = readCatalogs()
const english = messagesOf(catalogs.en)

test.for(languages)('no two subjects of %s have a message with the same code', (language) => {
  const folder = path.join(root, 'texts', language)
  const codes = readdirSync(folder).flatMap((file) =>
    Object.keys(JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as object),
  )
  expect(codes.filter((code, place) => codes.indexOf(code) !== place)).toEqual([])
})

test.for(translations)('the messages of %s have the placeholders of English', (language) => {
  for (const [code, messages] of messagesOf(catalogs[language])) {
    // The English of symbols is in the rules, without placeholders.
    const expected = holesOf([catalogs.en[code] ?? []].flat())
    expect({ [code]: holesOf(messages) }).toEqual({ [code]: expected })
  }
})

test('a plural of English has a form for each category of the language', () => {
  expect(pluralFaults(catalogs, 'en')).toEqual([])
})

test('every message is used by the source or a template', () => {
  // The use of phrases is checked in phrases.test.ts.
  const codes = english.map(([code]) => code).filter((code) => !(code in phraseParameters))
  expect(codes.filter((code) => !isMentioned(code))).toEqual([])
})

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|eta)$/.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
const mentioned = new Set(sources.flatMap(({ text }) => found(text, /['"]([\w-]+\.[\w.-]*)['"]/g)))
/** Patterns of codes with variable parts: `states.${state}`. */
const patterns = sources
  .flatMap(({ text }) => found(text, /`([\w-]+\.(?:[\w.-]|\$\{(?:[^`{}]|\{[^`{}]*\})*\})*)`/g))
  .map((code) => code.replaceAll('.', '\\.').replaceAll(/\$\{[^}]*\}/g, '[\\w.-]+?'))
  .map((code) => new RegExp(`^${code}$`))

/** Whether a source has the code, the code with variable parts, or its beginning: `'help.web.'`. */
function isMentioned(code: string): boolean {
  if (mentioned.has(code) || patterns.some((pattern) => pattern.test(code))) return true
  return [...mentioned].some((start) => start.endsWith('.') && code.startsWith(start))
}

test('every sentence about a result is that of an action', () => {
  const names = sources.flatMap(({ text }) => found(text, /name: '([a-z -]+)'/g))
  const known = new Set(names.map((name) => name.replaceAll(' ', '-')))
  const codes = Object.keys(catalogs.en).filter((code) => code.startsWith('done.'))
  expect(codes.length).toBeGreaterThan(100)
  expect(codes.filter((code) => !known.has(code.split('.')[1] ?? ''))).toEqual([])
})

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, one = '']) => one)
}

test('each use of a message gives the parameters that it needs', () => {
  const messages = english.map(([code, all]) => ({ code, holes: holesOf(all) }))
  const using = sources.filter(({ text }) => text.includes('texts('))
  const wrong = using.flatMap(({ file, text }) =>
    callsIn(codeOf({ file, text })).flatMap(({ call, codes, given }) => {
      const meant = messages.filter(({ code }) => codes.test(code))
      // A source file may call another function named `texts`, that of a form. TypeScript checks
      // the codes in source files, but not in templates.
      if (meant.length === 0) return file.endsWith('.eta') ? [`${file}: ${call}: no message`] : []
      const isServed = meant.some(({ holes }) => holes.every((hole) => given.includes(hole)))
      return isServed ? [] : [`${file}: ${call}: a parameter is missing`]
    }),
  )
  expect(wrong).toEqual([])
  const template = { file: 'a.eta', text: "<%= texts('chart.highest', { value }) %>" }
  expect(callsIn(codeOf(template))[0]?.given).toEqual(['value'])
})

type Call = { call: string; codes: RegExp; given: string[] }

const eta = new Eta()

/** Returns the code of a source, or the code that a template is compiled to. */
function codeOf({ file, text }: { file: string; text: string }): string {
  return file.endsWith('.eta') ? `function render() {${eta.compileToString(text)}}` : text
}

/** Returns the calls `texts('code', { name })` in code whose parameters are written literally. */
function callsIn(code: string): Call[] {
  const calls: Call[] = []
  new Visitor({
    CallExpression({ callee, arguments: [of, params], start }) {
      const name = callee.type === 'MemberExpression' ? callee.property : callee
      if (name.type !== 'Identifier' || name.name !== 'texts' || !of) return
      if (params && params.type !== 'ObjectExpression') return
      const given = (params?.properties ?? []).map((one) =>
        one.type === 'Property' && one.key.type === 'Identifier' ? one.key.name : undefined,
      )
      if (!given.every((name) => name !== undefined)) return
      const call = code.slice(start, start + 60)
      calls.push(...codesOf(of).map((codes) => ({ call, codes, given })))
    },
  }).visit(parseSync('code.ts', code).program)
  return calls
}

/**
 * Returns patterns of the codes that an expression may have as its value; a variable part matches
 * one part of a code.
 */
function codesOf(code: Argument): RegExp[] {
  const literal = (text: string) => text.replaceAll('.', '\\.')
  if (code.type === 'Literal') return [new RegExp(`^${literal(String(code.value))}$`)]
  if (code.type === 'ConditionalExpression') {
    return [...codesOf(code.consequent), ...codesOf(code.alternate)]
  }
  if (code.type !== 'TemplateLiteral') return []
  const parts = code.quasis.map(({ value }) => literal(value.cooked ?? ''))
  return [new RegExp(`^${parts.join('[\\w.-]+')}$`)]
}

/**
 * Returns the names and kinds of the placeholders, without the placeholders that only French needs
 * to elide, and without those that only English needs to call the reporter "you".
 */
function holesOf(messages: readonly string[]): string[] {
  const elements = messages.flatMap(elementsOf).filter(({ type }) => type !== LITERAL)
  const names = elements.flatMap((element) => ('value' in element ? [element.value] : []))
  return [...new Set(names)]
    .filter((name) => name !== 'reader' && !name.endsWith('_begins'))
    .toSorted()
}

test.for(languages)('no text of %s shows a value that is missing', (language) => {
  const isWrong = ({ text }: CatalogText) => /undefined|null|\[object|NaN/.test(text)
  expect(sampleTexts(catalogs, language).filter(isWrong)).toEqual([])
})

test.for(feedbackFormats)('the format %s has a name on the pages', (format) => {
  expect(hasText(catalogs.en, `consumers.telling.formats.${format}`)).toBe(true)
})

test('no text of English is empty', () => {
  expect(Object.keys(catalogs.en).filter((code) => !hasText(catalogs.en, code))).toEqual([])
})

test('English texts follow the typography of English', () => {
  expect(typographyFaults(catalogs, 'en')).toEqual([])
})

test('a name of a stranger that looks like a placeholder is inserted as it is', () => {
  const name = `# {n} and '{name}'`
  expect(textsIn('en')('relays.proposal', { name })).toContain(name)
})

test.for([
  ['en', 1, 'At least 1 person reported it for spam.', 'Learned from 1 of your reports'],
  ['en', 2, 'At least 2 people reported it for spam.', 'Learned from 2 of your reports'],
  ['fr', 1, 'Au moins 1 personne l’a signalé pour spam.', 'Déduit de 1 de vos signalements'],
  ['fr', 1000, 'Au moins 1\u202f000 personnes l’ont signalé pour spam.', undefined],
  ['ru', 1, 'На спам пожаловались не меньше 1 человека.', 'Узнали из 1 вашей жалобы'],
  ['ru', 5, 'На спам пожаловались не меньше 5 человек.', 'Узнали из 5 ваших жалоб'],
  ['ru', 21, 'На спам пожаловались не меньше 21 человека.', 'Узнали из 21 вашей жалобы'],
] as const)('in %s, the plural of %s is right', ([language, n, people, learned]) => {
  const texts = textsIn(language)
  expect(texts('lists.lookup.reasons.spam', { n })).toBe(people)
  if (learned !== undefined) expect(texts('relays.hows.learned', { n })).toBe(learned)
})

test('templates for all languages take the dash and the colon from the texts', () => {
  const views = path.join(root, 'web/views')
  const own = readdirSync(views, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(?:pages|parts|layout).*\.eta$/.test(file),
  )
  expect(own.length).toBeGreaterThan(40)
  const marks = /(?:%>|<\/\w+>)(?: ?:(?=[\s<])| [–—] )/u
  expect(own.filter((file) => marks.test(readFileSync(path.join(views, file), 'utf8')))).toEqual([])
})

test.for([
  ['en', 1, 'for 1 day,'],
  ['en', 90, 'for 90 days,'],
  ['fr', 1, 'pendant 1 jour,'],
  ['ru', 1, '1 день,'],
  ['ru', 21, '21 день,'],
  ['ru', 90, '90 дней,'],
] as const)('in %s, the time for which data is kept is right for %s', ([language, days, words]) => {
  expect(textsIn(language)('account.signUp.consent', { days })[0]).toContain(words)
})

test.for([
  ['fr', 0, 1, 'Votre unique signalement ne fait pas partie d’une campagne'],
  ['fr', 0, 7, 'Aucun de vos 7 derniers signalements ne fait partie'],
  ['fr', 1, 7, 'L’un de vos 7 derniers signalements fait partie'],
  ['fr', 3, 7, '3 de vos 7 derniers signalements font partie'],
  ['en', 0, 7, 'None of your latest 7 reports belongs'],
  ['ru', 0, 7, 'Ни одна из них не относится к рассылкам, на которые жаловались хотя бы 50 раз.'],
  ['ru', 2, 7, '2 из них относятся'],
  ['ru', 21, 30, '21 из них относится'],
] as const)(
  'in %s, %s of %s reports are counted in a sentence',
  ([language, large, latest, said]) => {
    const params = { large, latest, reportsMin: 50 }
    expect(textsIn(language)('statistics.campaigns', params)).toContain(said)
  },
)
