/** Hash functions of a signature: 12 bands of 5. */
export const signatureBytes = 60

/** Words in a run: single words say what a text is about, three what it says. */
const runWords = 3

/**
 * The min-hash signature (Broder 1997) of the runs of three words in a text: one byte for each of
 * `bytes` hash functions, the lowest eight bits of the least hash (b-bit min-wise hashing, Li and
 * König 2010). Two texts agree in about as many bytes as they share runs. `hashes` are those of
 * the words, three at least.
 */
export function minHash(hashes: Int32Array, bytes: number): Uint8Array {
  const runs = runHashes(hashes)
  const signature = new Uint8Array(bytes)
  for (let index = 0; index < bytes; index++) {
    const factor = multipliers[index] ?? 1
    let least = 0x7fffffff
    for (const run of runs) {
      const hash = Math.imul(run, factor) ^ (factor >>> 7)
      if (hash < least) least = hash
    }
    signature[index] = Math.imul(least ^ (least >>> 15), 0x85ebca6b) >>> 24
  }
  return signature
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
  const numbers = new Int32Array(signatureBytes)
  let state = 0x2545f491
  for (let at = 0; at < numbers.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    numbers[at] = state | 1
  }
  return numbers
}
