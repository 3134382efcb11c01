import { shippedMeanings } from '../../judging/rule-versions.ts'
import { type Language, message, type TranslatedText } from '../../texts/messages.ts'
import { type Reader, sayPhrases } from '../../texts/phrases.ts'
import type { VerdictSymbol } from '../../verdict/verdict.ts'

/**
 * What a symbol says about a message. Meanings of shipped rules are translated; the text of an
 * operator's rule is shown as written.
 */
export function sayMeaning(
  { name, meaning }: Pick<VerdictSymbol, 'name' | 'meaning'>,
  language: Language,
  reader: Reader,
): TranslatedText {
  if (meaning !== undefined) return sayPhrases(meaning, language, reader)
  return (
    message(language, name) ?? sayPhrases(shippedMeanings().get(name) ?? name, language, reader)
  )
}
