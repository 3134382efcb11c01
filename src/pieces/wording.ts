import { NUMBER_HASH } from './disguise/plain-text.ts'

/**
 * Returns the words of a text in a short form for `isSameWording`: one byte for each word in
 * base64, without numbers. `hashes` are those of `PlainText`. Stored for weeks, so it must not
 * change.
 */
export function wordingOf(hashes: Int32Array): string {
  const words = Buffer.allocUnsafe(hashes.length)
  let count = 0
  for (const hash of hashes) if (hash !== NUMBER_HASH) words[count++] = hash & 0xff
  return words.toString('base64', 0, count)
}

/** Number of words from the start of a text in which a greeting ends. */
const GREETING_WORDS = 8
/** Maximum number of words of a name in a greeting. */
const NAME_WORDS_MAX = 4
/** Maximum number of words of a changed place that is not the end of the text. */
const PLACE_WORDS_MAX = 24
/** Number of equal words after which two texts agree again. */
const AGAIN_WORDS = 3
/** What another end of the text costs at most. */
const END_COST_MAX = 3
/** Minimum share of the longer text that the other one has, too. */
const SHARED_MIN = 0.7
/** Number of words that two texts share before an end of more words may differ. */
const BEFORE_END_MIN = 40
const SHORT_END_WORDS = 8

/**
 * Whether two texts are the same mail: they differ in a name, in numbers, in single words here and
 * there, or in their ends (random words against filters, a signature, a footer). A text in which
 * more words are replaced is another wording. Symmetric. Takes linear time.
 *
 * A changed place costs one, and one for each of its words, from the fifth on half; a name in the
 * greeting costs one, and the end of the text at most three. Two texts may cost one, and one for
 * each 20 words that they share.
 */
export function isSameWording(a: string, b: string): boolean {
  if (a === b) return true
  // The order of the arguments must not decide between two alignments of equal length.
  const one = Buffer.from(a < b ? a : b, 'base64')
  const other = Buffer.from(a < b ? b : a, 'base64')
  const longer = Math.max(one.length, other.length)
  let [at, its, shared, cost] = [0, 0, 0, 0]
  while ((at < one.length || its < other.length) && cost <= 1 + longer / 20) {
    if (at < one.length && one[at] === other[its]) {
      at++
      its++
      shared++
      continue
    }
    const [own, others] = findPlace(one, at, { other, its }) ?? [
      one.length - at,
      other.length - its,
    ]
    const words = Math.max(own, others)
    const isEnd = at + own === one.length && its + others === other.length
    if (isEnd && words > SHORT_END_WORDS && shared < BEFORE_END_MIN) return false
    const isName = Math.max(at, its) + words <= GREETING_WORDS && words <= NAME_WORDS_MAX
    cost += isEnd ? Math.min(words, END_COST_MAX) : isName ? 1 : 1 + Math.min(words, 2 + words / 2)
    at += own
    its += others
  }
  return shared >= longer * SHARED_MIN && cost <= 1 + shared / 20
}

/**
 * Returns how many words of each text belong to the changed place at `at` and `its`: the fewest
 * after which both texts agree again. Undefined if they do not.
 */
function findPlace(
  one: Uint8Array,
  at: number,
  { other, its }: { other: Uint8Array; its: number },
): [number, number] | undefined {
  for (let both = 1; both <= 2 * PLACE_WORDS_MAX; both++) {
    const most = Math.min(both, PLACE_WORDS_MAX)
    for (let own = both - most; own <= most; own++) {
      let next = 0
      while (next < AGAIN_WORDS) {
        const word = one[at + own + next]
        if (word === undefined || word !== other[its + both - own + next]) break
        next++
      }
      if (next === AGAIN_WORDS) return [own, both - own]
    }
  }
  return undefined
}
