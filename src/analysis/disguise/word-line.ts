/** Shorter runs of single letters are initials and enumerations. */
const gappedLettersMin = 4
/** More words a line does not hold. */
export const lineWordsMax = 4000
/** No word is longer, in UTF-16 units. */
export const wordCharsMax = 100

/** Words in a row with blanks between them, in memory that is used again. */
export class WordLine {
  /** The UTF-16 units of the words; who writes one begins where `nextStart` says. */
  readonly units = new Uint16Array((lineWordsMax + 1) * (wordCharsMax + 1))
  readonly #bytes = Buffer.from(this.units.buffer)
  readonly #narrow = Buffer.alloc(this.units.length)
  readonly #ends = new Int32Array(lineWordsMax + 1)
  readonly #hashes = new Int32Array(lineWordsMax + 1)
  /** How many words there are. */
  count = 0
  #length = 0
  /** How many single letters in a row end the words. */
  #gapped = 0
  #isAscii = true

  clear(): void {
    this.count = 0
    this.#length = 0
    this.#gapped = 0
    this.#isAscii = true
  }

  text(): string {
    const length = this.#length
    if (!this.#isAscii) return this.#bytes.toString('utf16le', 0, length * 2)
    this.#narrow.set(this.units.subarray(0, length))
    return this.#narrow.toString('latin1', 0, length)
  }

  /** Where each word ends in the text. */
  ends(): Int32Array {
    return this.#ends.slice(0, this.count)
  }

  hashes(): Int32Array {
    return this.#hashes.slice(0, this.count)
  }

  /** Where the next word is to be written. */
  nextStart(): number {
    if (this.count === 0) return 0
    this.units[this.#length] = 0x20
    return this.#length + 1
  }

  add(word: string): void {
    const start = this.nextStart()
    let hash = hashBasis
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at)
      if (code > 0x7f) this.#isAscii = false
      this.units[start + at] = code
      hash = hashStep(hash, code)
    }
    this.keep(start, start + word.length, hash)
  }

  /** Keeps the word that was written, in ASCII; a 0 after a 0 is none. `hash` by `hashStep`. */
  keep(start: number, end: number, hash: number): void {
    if (end === start) return
    const only = end - start === 1 ? (this.units[start] ?? 0) : 0
    if (only === 0x30 && this.#endsInZero()) return
    if (only >= 0x61 && only <= 0x7a) this.#gapped++
    else if (this.#gapped > 0) {
      this.joinGapped()
      const moved = this.nextStart()
      this.units.copyWithin(moved, start, end)
      this.#push(moved + end - start, hash)
      return
    }
    this.#push(end, hash)
  }

  /** Makes one word of the single letters that end the line, where they are many. */
  joinGapped(): void {
    const letters = this.#gapped
    this.#gapped = 0
    if (letters < gappedLettersMin) return
    this.count -= letters
    const start = this.#startOf(this.count)
    let hash = hashBasis
    for (let letter = 0; letter < letters; letter++) {
      const code = this.units[start + letter * 2] ?? 0
      this.units[start + letter] = code
      hash = hashStep(hash, code)
    }
    this.#push(start + letters, hash)
  }

  #push(end: number, hash: number): void {
    this.#ends[this.count] = end
    this.#hashes[this.count] = finished(hash)
    this.count++
    this.#length = end
  }

  #startOf(word: number): number {
    return word === 0 ? 0 : (this.#ends[word - 1] ?? 0) + 1
  }

  #endsInZero(): boolean {
    const last = this.#length - 1
    return this.count > 0 && this.units[last] === 0x30 && this.#startOf(this.count - 1) === last
  }
}

/** With what the hash of a word begins (FNV-1a). */
export const hashBasis = 0x811c9dc5

/** The hash with one more UTF-16 unit. */
export function hashStep(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193)
}

/** As MurmurHash3 finishes, so that all bits are as good. */
function finished(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}
