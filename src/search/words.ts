const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}`
const WORDS = new RegExp(String.raw`[${unspaced}]|[[\p{L}\p{N}]--[${unspaced}]]+`, 'gv')
const WORD_CHARS_MAX = 40

/**
 * Returns the words of a text in their order, at most `max`: in lower case, without accents, cut at
 * 40 characters. Each character of Chinese and Japanese is a word, because they are written without
 * blanks.
 */
export function wordsIn(text: string, max: number): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words: string[] = []
  for (const [word] of plain.matchAll(WORDS)) {
    if (words.length === max) break
    words.push(word.slice(0, WORD_CHARS_MAX))
  }
  return words
}
