const LINE_MAX = 78

/** A paragraph in lines that a mail program shows whole; a link is never broken. */
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

/** "de" before a name: Orange begins with a vowel, Yahoo and H&M do not. */
export function deName(name: string): string {
  return /^[aeiouàâäéèêëîïôöùûüœæ]/i.test(name) ? `d’${name}` : `de ${name}`
}

/** The plural categories that each of our languages has (CLDR); `other` is for fractions, too. */
type Categories = {
  en: 'one' | 'other'
  fr: 'one' | 'many' | 'other'
  ru: 'one' | 'few' | 'many' | 'other'
}

/** How a language says a number of things: a text for each category, `#` for the number. */
export type PluralForms<Language extends keyof Categories> = Readonly<
  Record<Categories[Language], string>
>

/** The locale by which numbers and dates of each language are written. */
export const locales = { en: 'en-GB', fr: 'fr', ru: 'ru' } as const

const rules = {
  en: new Intl.PluralRules(locales.en),
  fr: new Intl.PluralRules(locales.fr),
  ru: new Intl.PluralRules(locales.ru),
}
const numbers = {
  en: new Intl.NumberFormat(locales.en),
  fr: new Intl.NumberFormat(locales.fr),
  // In Russian a number of four digits, too, is set in groups where others stand beside it.
  ru: new Intl.NumberFormat(locales.ru, { useGrouping: true }),
}

/**
 * Says a number of things as the language does: `plural('en', 2, { one: '# report', other: '#
 * reports' })` is "2 reports". Each `#` of the form becomes the number, written for the language;
 * so what a stranger wrote must not be in a form.
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

/** A number as the language writes it. */
export function number(language: keyof Categories, n: number): string {
  return numbers[language].format(n)
}
