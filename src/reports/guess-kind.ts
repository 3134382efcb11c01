import { plainLine } from '../pieces/disguise/plain-text.ts'
import { countWords } from '../pieces/features/word-lists.ts'

const WORDS_MAX = 400
const CHARS_MAX = 5_000

/**
 * Guesses what a person would call a message, by its subject and visible text: phishing if it
 * speaks of accounts or passwords and is pressing. Only preselects a choice: it has no effect on a
 * verdict.
 */
export function guessKind(text: string): 'spam' | 'phishing' {
  const { kinds } = countWords(plainLine(text, WORDS_MAX, CHARS_MAX))
  const isPressing = kinds.urgency + kinds.threat > 0
  return kinds.credential > 1 || (kinds.credential > 0 && isPressing) ? 'phishing' : 'spam'
}
