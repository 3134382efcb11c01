/**
 * A 32-bit hash of each word: FNV-1a over its UTF-16 units, finished as in MurmurHash3. What is
 * made of it is stored for weeks, so it does not change.
 */
export function wordHashes(words: readonly string[]): Int32Array {
  const hashes = new Int32Array(words.length)
  words.forEach((word, index) => {
    let hash = 0x811c9dc5
    for (let at = 0; at < word.length; at++) {
      hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
    }
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hashes[index] = hash ^ (hash >>> 16)
  })
  return hashes
}
