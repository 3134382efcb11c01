import { hash } from 'node:crypto'

/** The address behind a hash in lower case, in lower case itself, if it is one that is known. */
export type AddressOfHash = (digits: string) => string | undefined

const algorithms: ReadonlyMap<number, string> = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
  [128, 'sha512'],
])

/** The addresses by their hashes, made when a text first has one of that length: few have any. */
export function hashesOf(addresses: readonly string[]): AddressOfHash {
  const byLength = new Map<number, ReadonlyMap<string, string>>()
  return (digits) => {
    const algorithm = algorithms.get(digits.length)
    if (algorithm === undefined) return undefined
    let hashes = byLength.get(digits.length)
    if (!hashes) {
      hashes = new Map(addresses.map((one) => [hash(algorithm, one), one.toLowerCase()]))
      byLength.set(digits.length, hashes)
    }
    return hashes.get(digits)
  }
}
