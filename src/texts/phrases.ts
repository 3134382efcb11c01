import type { Phrase } from '../phrase.ts'
import { duration, type Language, message, type Params, type TranslatedText } from './messages.ts'

/** A phrase as stored in a row, or the text of a rule's meaning, which is in English. */
type Stored = Phrase | string

/** The person to address: English texts call the reporter "you" only if the reporter reads them. */
export type Reader = 'reporter' | 'operator'

/** Returns stored phrases as one text; `lang` is set if a part is in English for another reader. */
export function sayPhrases(
  stored: Stored | readonly Stored[] | null | undefined,
  language: Language,
  reader: Reader,
): TranslatedText {
  const sentences = [stored ?? []].flat().map((one) => sayPhrase(one, language, reader))
  return {
    text: sentences.map(({ text }) => text).join(' '),
    lang: sentences.find(({ lang }) => lang !== undefined)?.lang,
  }
}

/** Returns stored phrases as one English text for operators and programs. */
export function inEnglish(stored: Stored | readonly Stored[] | null | undefined): string {
  return sayPhrases(stored, 'en', 'operator').text
}

/** Parameters with these names are refusals, too. Others may contain a stranger's words. */
const reasonNames = new Set(['problem', 'why'])

/** Returns the sentence of a `refusal`. Another text, such as the error of a rule, is English. */
export function refusalIn(language: Language, text: string): TranslatedText {
  const [, code = '', json = '{}'] = /^(refused\.[\w-]+)(?: (\{.*\}))?$/s.exec(text) ?? []
  const params = Object.entries(JSON.parse(json) as Params).map(([name, value]) => {
    return [name, reasonNames.has(name) ? refusalIn(language, String(value)).text : value]
  })
  const lang = language === 'en' ? undefined : 'en'
  return message(language, code, Object.fromEntries(params) as Params) ?? { text, lang }
}

/**
 * Returns what an action of operators says after a result; `count` is the number of things changed.
 * Undefined if the action has no such result.
 */
export function doneIn(
  language: Language,
  { name }: { name: string },
  code: string,
  count = 0,
): string | undefined {
  return message(language, `done.${name.replaceAll(' ', '-')}.${code}`, { count })?.text
}

/** Returns what an action on many reports is called and does, and what undoing it does. */
export function effectIn(language: Language, kind: string) {
  const text = (part: string) => message(language, `effects.${kind}${part}`)?.text
  return { label: text('') ?? kind, meaning: text('.meaning') ?? '', undoMeaning: text('.undo') }
}

/** Returns the sentences of several refusals. */
export function refusalsIn(language: Language, refusals: readonly string[]): string[] {
  return refusals.map((one) => refusalIn(language, one).text)
}

/** The names of parameters that are dates, stored as text. */
const dateNames = new Set(['day', 'firstDay', 'lastDay', 'lastAt', 'untilAt'])

function sayPhrase(stored: Stored, language: Language, reader: Reader): TranslatedText {
  const lang = language === 'en' ? undefined : 'en'
  if (typeof stored === 'string') return { text: stored, lang }
  const { code, params = {} } = stored
  const dates = Object.entries(params)
    .filter(([name]) => dateNames.has(name))
    .map(([name, date]) => [name, new Date(date)])
  const inUnits =
    typeof params['duration'] === 'number'
      ? { duration: duration(language, params['duration']) }
      : {}
  // A code may be unknown here while processes of two versions run.
  return (
    message(language, code, { ...params, ...Object.fromEntries(dates), ...inUnits, reader }) ?? {
      text: code,
      lang,
    }
  )
}
