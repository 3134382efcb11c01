const LINE_MAX = 78

/** Wraps a paragraph for mail programs; never breaks a link. */
export function wrappedLines(text: string): string {
  let line = ''
  const lines: string[] = []
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > LINE_MAX) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** Elides "de" before a name that starts with a vowel, such as Orange, but not Yahoo or H&M. */
export function deName(name: string): string {
  return /^[aeiouàâäéèêëîïôöùûüœæ]/i.test(name) ? `d’${name}` : `de ${name}`
}

/** Plural categories of each language (CLDR); `other` is also for fractions. */
type Categories = {
  en: 'one' | 'other'
  fr: 'one' | 'many' | 'other'
  ru: 'one' | 'few' | 'many' | 'other'
}

/** A text for each plural category of a language; `#` stands for the number. */
export type PluralForms<Language extends keyof Categories> = Readonly<
  Record<Categories[Language], string>
>

/** Locale for numbers and dates of each language. */
export const locales = { en: 'en-GB', fr: 'fr', ru: 'ru' } as const

const rules = {
  en: new Intl.PluralRules(locales.en),
  fr: new Intl.PluralRules(locales.fr),
  ru: new Intl.PluralRules(locales.ru),
}
const numbers = {
  en: new Intl.NumberFormat(locales.en),
  fr: new Intl.NumberFormat(locales.fr),
  // In Russian, numbers of four digits are grouped too, for consistency with longer ones.
  ru: new Intl.NumberFormat(locales.ru, { useGrouping: true }),
}

/**
 * Formats a number of things by the plural rules of a language: `plural('en', 2, { one: '# report',
 * other: '# reports' })` is "2 reports". Replaces each `#` by the formatted number, so forms must
 * not contain untrusted text.
 */
export function plural<Language extends keyof Categories>(
  language: Language,
  n: number,
  forms: PluralForms<Language>,
): string {
  const said: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> = forms
  const form = said[rules[language].select(n)] ?? said.other ?? '#'
  return form.replaceAll('#', () => number(language, n))
}

/** Formats a number for a language. */
export function number(language: keyof Categories, n: number): string {
  return numbers[language].format(n)
}
