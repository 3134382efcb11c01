import type { Catalogs, Language } from '../../src/texts/messages.ts'
import { type CatalogText, messagesOf, sampleTexts } from './catalogs.ts'

/** Texts that may be equal in both languages: names, formats, and words that both have. */
const sameInBoth = new Set([
  'consumers.telling.formats.arf',
  'consumers.telling.formats.xarf',
  'fields.messageid.label',
  'names.signaler',
])
/** Codes of the names of mail programs. */
const names = /^help\.(web|programs)\.[\w-]+\.name$|^mailIn\.howTo\.[\w-]+\.program$/
const sameInFrench = new Set([
  'limits.units.minutes',
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
  'fields.verdict.label',
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

/** Returns the texts of a translation that are still in English. */
export function leftInEnglish(catalogs: Catalogs, language: Language): string[] {
  const isKnown = (code: string) =>
    sameInBoth.has(code) || names.test(code) || (language === 'fr' && sameInFrench.has(code))
  return messagesOf(catalogs[language]).flatMap(([code, messages]) => {
    const english = new Set([catalogs.en[code] ?? []].flat())
    const isEqual = messages.some(
      (one) => english.has(one) && /[a-z]{2}/.test(one.replaceAll(/\{[^}]*\}/g, '')),
    )
    return isEqual && !isKnown(code) ? [`${code} is the same as in English`] : []
  })
}

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

/** Returns the faults of typography in the texts of a language. */
export function typographyFaults(catalogs: Catalogs, language: Language): string[] {
  const texts = sampleTexts(catalogs, language)
  return faults[language].flatMap(([name, fault]) =>
    texts
      .filter((one) => fault.test(ownText(one)))
      .map(({ code, text }) => `${code} has ${name}: ${text}`),
  )
}

/** Removes the names of menus, which are written as in the programs themselves. */
function ownText({ code, text }: CatalogText): string {
  if (!/^help\.(web|programs)\.|^mailIn\.howTo\./.test(code)) return text
  return text.replaceAll(/«[^»]*»|“[^”]*”|„[^“”]*[“”]/g, 'MENU')
}
