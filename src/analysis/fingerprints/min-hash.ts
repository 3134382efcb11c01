/** Of a whole text: the share is then right to within four hundredths in two of three cases. */
export const signatureBytes = 120

/** Words in a run: single words say what a text is about, three what it says. */
const runWords = 3

/**
 * The min-hash signature (Broder 1997) of the runs of three words in a text: one byte for each of
 * `bytes` samples, eight bits of the least or the greatest hash (b-bit min-wise hashing, Li and
 * König 2010; both ends of an order are samples, so a function gives two). Two texts agree in
 * about as many bytes as they share runs. `hashes` are those of the words, three at least;
 * `bytes` is a multiple of four.
 */
export function minHash(hashes: Int32Array, bytes: number): Uint8Array {
  const runs = runHashes(hashes)
  const signature = new Uint8Array(bytes)
  for (let index = 0; index < bytes; index += 4) {
    const one = multipliers[index >> 1] ?? 1
    const other = multipliers[(index >> 1) + 1] ?? 1
    let least1 = largest
    let greatest1 = smallest
    let least2 = largest
    let greatest2 = smallest
    // Two functions at a time, by index and without branches: three times as fast as it reads.
    let at = runs.length
    while (--at >= 0) {
      const run = runs[at] ?? 0
      const hash1 = Math.imul(run, one)
      const hash2 = Math.imul(run, other)
      least1 = Math.min(least1, hash1)
      greatest1 = Math.max(greatest1, hash1)
      least2 = Math.min(least2, hash2)
      greatest2 = Math.max(greatest2, hash2)
    }
    signature[index] = eightBits(least1)
    signature[index + 1] = eightBits(greatest1)
    signature[index + 2] = eightBits(least2)
    signature[index + 3] = eightBits(greatest2)
  }
  return signature
}

const largest = 0x7fffffff
const smallest = -0x80000000

function eightBits(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 24
}

/** The share of bytes in which two signatures in hexadecimal agree, 0 to 1. */
export function agreement(a: string, b: string): number {
  let same = 0
  for (let at = 0; at < a.length; at += 2) {
    if (a.charCodeAt(at) === b.charCodeAt(at) && a.charCodeAt(at + 1) === b.charCodeAt(at + 1))
      same++
  }
  return a.length === 0 ? 0 : (same * 2) / a.length
}

function runHashes(hashes: Int32Array): Int32Array {
  const runs = new Int32Array(Math.max(0, hashes.length - runWords + 1))
  for (let at = 0; at < runs.length; at++) {
    let run = 0
    for (let next = at; next < at + runWords; next++) {
      run = Math.imul(run ^ (hashes[next] ?? 0), 0x9e3779b1)
      run ^= run >>> 15
    }
    runs[at] = Math.imul(run, 0xc2b2ae35) ^ (run >>> 13)
  }
  return runs
}

/** Odd numbers from a fixed generator (xorshift): part of what is stored. */
const multipliers = makeMultipliers()

function makeMultipliers(): Int32Array {
  const numbers = new Int32Array(signatureBytes / 2)
  let state = 0x2545f491
  for (let at = 0; at < numbers.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    numbers[at] = state | 1
  }
  return numbers
}
