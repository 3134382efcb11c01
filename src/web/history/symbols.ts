import { shippedMeanings } from '../../judging/rule-versions.ts'
import { type Language, message, type TranslatedText } from '../../texts/messages.ts'
import { type Reader, sayPhrases } from '../../texts/phrases.ts'
import type { VerdictSymbol } from '../../verdict/verdict.ts'

/**
 * Returns the meaning of a symbol as text. Meanings of shipped rules are translated; the text of an
 * operator's rule is returned as written.
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
