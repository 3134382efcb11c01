import { shippedMeanings } from '../../judging/rule-versions.ts'
import { type Language, message, type TranslatedText } from '../../texts/messages.ts'
import { type Reader, sayPhrases } from '../../texts/phrases.ts'
import {
  isUnwanted,
  ourLetter,
  simulationSymbol,
  type Verdict,
  type VerdictSymbol,
} from '../../verdict/verdict.ts'

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

/** The names of symbols whose meanings need no knowledge of mail. */
const plain = new RegExp(
  `^(?:OTHER_SIGNS$|LINK_(?!TO_ADDRESS$|WITH_)|${[
    ...['SUBJECT', 'NAME', 'OFFICE', 'FORM', 'PROGRAM', 'SHORTCUT', 'DISK', 'DOUBLE', 'ARCHIVE'],
    ...['MACROS', 'PAGE', 'FILE', 'NOTHING', 'PICTURE', 'LETTERS', 'TEXT', 'ACCOUNT', 'THREAT'],
    ...['MONEY', 'PRIZE', 'GREETS', 'REPLY_TO', 'FREE_MAIL', 'OPT_OUT'],
  ].join('|')})`,
)

/**
 * Returns the symbols that support a verdict and that everybody understands, the heaviest first; of
 * a letter or a simulation of ours, only that it is one. An undecided verdict has signs for both
 * sides. That a message was reported explains no verdict.
 */
export function plainReasons(
  symbols: readonly VerdictSymbol[],
  verdict: Pick<Verdict, 'class'>,
): VerdictSymbol[] {
  const own: readonly string[] = [ourLetter.name, simulationSymbol.name]
  const ours = symbols.filter(({ name }) => own.includes(name))
  if (ours.length > 0) return ours
  const isOpen = verdict.class === 'undecided'
  const sign = isUnwanted(verdict) ? 1 : -1
  return symbols
    .filter(({ name, weight }) => plain.test(name) && (isOpen || weight * sign > 0))
    .toSorted((one, other) => Math.abs(other.weight) - Math.abs(one.weight))
}
