import { expect, test } from 'vitest'
import { catalogs } from '../../../src/texts/choose-language.ts'

type Language = keyof typeof catalogs
type Said = { path: string; text: string }

const languages = Object.keys(catalogs) as Language[]
const numbers = [0, 1, 2, 5, 11, 21, 1.5, 1000] as const

/**
 * Every text of a catalog under its path. What takes values is asked with each of the numbers and
 * with a name; a function that counts nothing says the same each time.
 */
function textsOf(value: unknown, path = ''): Said[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value === 'function') {
    const say = value as (...values: unknown[]) => unknown
    const takesFields = /^\(?\{/.test(String(value))
    return [...numbers, 'NAME']
      .flatMap((given) =>
        textsOf(
          say(...Array.from({ length: say.length }, () => (takesFields ? fieldsOf(given) : given))),
          `${path}(${given})`,
        ),
      )
      .filter(({ path, text }) => !path.endsWith('(NAME)') || !/NaN|не\u00a0число/.test(text))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    textsOf(one, path === '' ? key : `${path}.${key}`),
  )
}

/** An object that has the same under every name, for words that take several values. */
function fieldsOf(given: unknown): object {
  return new Proxy({}, { get: () => given })
}

const texts = Object.fromEntries(
  languages.map((language) => [language, textsOf(catalogs[language])]),
) as Record<Language, Said[]>

/** A guide has other steps and remarks where a program's menus differ; its name it must have. */
const isGuide = /^help\.sources\.[\w-]+\.(?!name$)/

test.for(languages)('the catalog %s says everything that the English one says', (language) => {
  const paths = (of: Language) =>
    texts[of].map(({ path }) => path).filter((path) => !isGuide.test(path))
  expect(paths(language)).toEqual(paths('en'))
  expect(texts[language].filter(({ text }) => text.trim() === '')).toEqual([])
  expect(texts[language].filter(({ text }) => /undefined|null|\[object|NaN/.test(text))).toEqual([])
})

/** Names, formats, and words that both languages have. */
const sameInBoth = new Set([
  'settings.letters.languages.en',
  'settings.letters.languages.fr',
  'settings.letters.languages.ru',
  'consumers.telling.formats.arf',
  'consumers.telling.formats.xarf',
])
/** Names of mail programs. */
const names = /^help\.sources\.[\w-]+\.name$/
const sameInFrench = new Set([
  'account.code',
  'privacy.version',
  'privacy.sections.4.title',
  'consumers.telling.format',
  'consumers.telling.topics.spam',
  'lists.downloads.meanings.spam',
  'lists.downloads.zone',
  'nav.admin',
  'report.kinds.spam',
  'walk.alias',
  'webhooks.title',
])

test.for(['fr', 'ru'] as const)('nothing is left in English in the catalog %s', (language) => {
  const english = new Map(texts.en.map(({ path, text }) => [path, text]))
  const isKnown = (path: string) =>
    sameInBoth.has(path) || names.test(path) || (language === 'fr' && sameInFrench.has(path))
  const leftovers = texts[language].filter(
    ({ path, text }) =>
      english.get(path) === text && /[a-z]{2}/.test(text) && !isKnown(path.replace(/\(.*/, '')),
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
)('in the catalog $language there is not $name', ({ language, fault }) => {
  expect(texts[language].filter((said) => fault.test(ownText(said)))).toEqual([])
})

/** Without the names of menus, which stand as their own programs have them. */
function ownText({ path, text }: Said): string {
  if (!path.startsWith('help.sources.')) return text
  return text.replaceAll(/«[^»]*»|“[^”]*”|„[^“”]*[“”]/g, 'MENU')
}

test('a name of a stranger that looks like a number is not taken for one', () => {
  expect(catalogs.en.relays.proposal('# and #')).toContain('# and #')
})

test.for([
  ['en', 1, 'At least 1 person reported it for spam.', 'Learned from 1 of your reports'],
  ['en', 2, 'At least 2 people reported it for spam.', 'Learned from 2 of your reports'],
  ['fr', 1, 'Au moins 1 personne l’a signalé pour spam.', 'Appris de 1 de vos signalements'],
  ['fr', 1000, 'Au moins 1\u202f000 personnes l’ont signalé pour spam.', undefined],
  ['ru', 1, 'Жалобы на спам пришли не меньше чем от 1 человека.', 'Узнали из 1 вашей жалобы'],
  ['ru', 5, 'Жалобы на спам пришли не меньше чем от 5 человек.', 'Узнали из 5 ваших жалоб'],
  ['ru', 21, 'Жалобы на спам пришли не меньше чем от 21 человека.', 'Узнали из 21 вашей жалобы'],
] as const)('in %s, %s of them is right', ([language, n, people, learned]) => {
  const { lists, relays } = catalogs[language]
  expect(lists.lookup.reasons.spam(n)).toBe(people)
  if (learned !== undefined) expect(relays.hows.learned(n)).toBe(learned)
})
