import { hash } from 'node:crypto'

/** The address behind a hash in lower case, if it is one of those that are known. */
export type AddressOfHash = (digits: string) => string | undefined

const algorithms = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
])

/** The addresses by their hashes, made when a text first has one of that length: most have none. */
export function hashesOf(known: readonly string[]): AddressOfHash {
  const byLength = new Map<number, Map<string, string>>()
  return (digits) => {
    const algorithm = algorithms.get(digits.length)
    if (algorithm === undefined) return undefined
    const hashes =
      byLength.get(digits.length) ??
      new Map(known.map((address) => [hash(algorithm, address), address]))
    byLength.set(digits.length, hashes)
    return hashes.get(digits)
  }
}
