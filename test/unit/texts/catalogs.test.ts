import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Eta } from 'eta'
import { IntlMessageFormat } from 'intl-messageformat'
import { type Argument, parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { phraseParameters } from '../../../src/phrase.ts'
import { type Code, type Language, locales, textsIn } from '../../../src/texts/messages.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]
type CatalogText = { code: string; text: string }

const root = path.join(import.meta.dirname, '../../../src')
const languages = Object.keys(locales) as Language[]
const translations = ['fr', 'ru'] as const

/**
 * Returns the subjects of a language, without the meanings of symbols, whose English is in the
 * rules, and the texts whose English is in declarations of actions and fields.
 */
function subjectsOf(language: Language): string[] {
  const files = readdirSync(path.join(root, 'texts', language))
  return files.filter(
    (file) => file.endsWith('.json') && !['symbols.json', 'declared.json'].includes(file),
  )
}

function catalogOf(language: Language): [code: string, messages: string[]][] {
  return subjectsOf(language).flatMap((file) => {
    const text = readFileSync(path.join(root, 'texts', language, file), 'utf8')
    const messages = Object.entries(JSON.parse(text) as Record<string, string | string[]>)
    return messages.map(([code, said]): [string, string[]] => [code, [said].flat()])
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

test.for(translations)('the messages of %s have the placeholders of English', (language) => {
  const other = new Map(catalogOf(language))
  for (const [code, messages] of english) {
    expect({ [code]: holesOf(other.get(code) ?? []) }).toEqual({ [code]: holesOf(messages) })
  }
})

test.for(languages)('a plural of %s has a form for each category of the language', (language) => {
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  for (const [code, messages] of catalogOf(language)) {
    for (const element of messages.flatMap(elementsOf)) {
      if (element.type !== PLURAL || !('options' in element)) continue
      const forms = Object.keys(element.options).filter((form) => !form.startsWith('='))
      expect({ [code]: forms.toSorted() }).toEqual({ [code]: pluralCategories.toSorted() })
    }
  }
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

const [LITERAL, DATE, SELECT, PLURAL] = [0, 3, 5, 6]

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

/** Returns the elements of a message, with those inside its plurals and selections. */
function elementsOf(message: string): Element[] {
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
 * Returns every text of a language; a message with placeholders is formatted once with each of the
 * numbers.
 */
function textsOf(language: Language): CatalogText[] {
  const texts = textsIn(language)
  return catalogOf(language).flatMap(([code, messages]) => {
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

const said = Object.fromEntries(
  languages.map((language) => [language, textsOf(language)]),
) as Record<Language, CatalogText[]>

test.for(languages)('no text of %s is empty or shows a value that is missing', (language) => {
  const wrong = said[language].filter(
    ({ text }) => text.trim() === '' || /undefined|null|\[object|NaN/.test(text),
  )
  expect(wrong).toEqual([])
})

/** Texts that may be equal in both languages: names, formats, and words that both have. */
const sameInBoth = new Set([
  'consumers.telling.formats.arf',
  'consumers.telling.formats.xarf',
  'names.signaler',
])
/** Codes of the names of mail programs. */
const names = /^help\.(web|programs)\.[\w-]+\.name$|^mailIn\.howTo\.[\w-]+\.program$/
const sameInFrench = new Set([
  'campaign.volume',
  'counters.spamShort',
  'models.version',
  'models.action',
  'model.format',
  'model.rows.spam',
  'rules.versions',
  'rules.type',
  'rules.version',
  'rules.note',
  'rules.activeBadge',
  'editor.verdict',
  'editor.score',
  'activity.charts.reports.verdict',
  'adminReport.karma',
  'activity.maximum',
  'audit.action',
  'health.condition',
  'health.conditions',
  'health.processes.version',
  'health.titles.partitions',
  'mass.action',
  'names.spam',
  'reporters.karma',
  'reputations.score',
  'search.action',
  'search.verdict',
  'account.code',
  'privacy.version',
  'privacy.cookies.title',
  'consumers.telling.format',
  'desk.reports.type',
  'desk.types.abuse',
  'consumers.telling.topics.spam',
  'lists.downloads.meanings.spam',
  'lists.downloads.zone',
  'nav.admin',
  'report.kinds.spam',
  'walk.alias',
  'webhooks.eventNames.webhook.test',
  'webhooks.title',
])

test.for(translations)('nothing of %s is left in English', (language) => {
  const all = new Map(english)
  const isKnown = (code: string) =>
    sameInBoth.has(code) || names.test(code) || (language === 'fr' && sameInFrench.has(code))
  const leftovers = catalogOf(language).filter(
    ([code, messages]) =>
      !isKnown(code) &&
      messages.some(
        (one) =>
          (all.get(code) ?? []).includes(one) && /[a-z]{2}/.test(one.replaceAll(/\{[^}]*\}/g, '')),
      ),
  )
  expect(leftovers).toEqual([])
})

const faults: Readonly<Record<Language, readonly (readonly [name: string, fault: RegExp])[]>> = {
  en: [
    ['a straight quotation mark', /"/],
    ['a straight apostrophe', /\w'\w/],
    ['three dots', /\.\.\./],
    ['a blank before a mark', /[ \u00a0\u202f][;!?]/],
    ['quotes of another language', /[«»]/],
  ],
  fr: [
    ['a straight quotation mark', /"/],
    ['a straight apostrophe', /\p{L}'\p{L}/u],
    ['three dots', /\.\.\./],
    ['no fixed blank before a mark', /(?<![\u00a0\u202f])(?<!https?)[;!?»](?!\d)/],
    ['no fixed blank before a colon', /(?<![\u00a0\u202f:\dfa-f]):(?=\s|$)/],
    ['no fixed blank after an opening quote', /«(?![\u00a0\u202f])/],
    ['English quotes', /[“”]/],
  ],
  ru: [
    ['a straight quotation mark', /"/],
    ['three dots', /\.\.\./],
    ['a blank before a mark', /[ \u00a0\u202f]([;!?]|:(?!:))/],
    ['English quotes', /[“”]/],
    ['Latin letters in a Russian word', /[а-яё][a-z]|[a-z][а-яё]/iu],
    ['е for ё', /(?<!\p{L})(еще|ее|свое|вашe|нее|письмe|моe|ничье|отчет|учетн)(?!\p{L})/iu],
    ['an address of the reader in a capital', /(?<![.:?!»] )(?<!^)(?<!\p{L})(Вы|Вас|Вам|Ваш)\b/u],
    ['a hyphen for a dash', / - /],
  ],
}

test.for(
  languages.flatMap((language) =>
    faults[language].map(([name, fault]) => ({ language, name, fault })),
  ),
)('in $language there is not $name', ({ language, fault }) => {
  expect(said[language].filter((one) => fault.test(ownText(one)))).toEqual([])
})

/** Removes the names of menus, which are written as in the programs themselves. */
function ownText({ code, text }: CatalogText): string {
  if (!/^help\.(web|programs)\.|^mailIn\.howTo\./.test(code)) return text
  return text.replaceAll(/«[^»]*»|“[^”]*”|„[^“”]*[“”]/g, 'MENU')
}

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
  ['en', 1, 'for 1 day at most'],
  ['en', 90, 'for 90 days at most'],
  ['fr', 1, 'pendant 1 jour au plus'],
  ['ru', 1, 'не дольше 1 дня'],
  ['ru', 21, 'не дольше 21 дня'],
  ['ru', 90, 'не дольше 90 дней'],
] as const)('in %s, the time for which data is kept is right for %s', ([language, days, words]) => {
  expect(textsIn(language)('account.signUp.consent', { days })[0]).toContain(words)
})
