import { hash } from 'node:crypto'

/** The addresses that are sought by their hashes. */
export type AddressHashes = {
  /** The address behind a hash in lower case, in lower case itself, if it is one that is known. */
  addressOf(digits: string): string | undefined
  /** Whether any known hash begins with these three bytes: cheap, for what has to be decoded. */
  begins(bytes: number): boolean
}

const algorithms: ReadonlyMap<number, string> = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
  [128, 'sha512'],
])

/** The addresses by their hashes, made when a text first has one of that length: few have any. */
export function hashesOf(addresses: readonly string[]): AddressHashes {
  const byLength = new Map<number, ReadonlyMap<string, string>>()
  const hashesOfLength = (length: number): ReadonlyMap<string, string> | undefined => {
    const algorithm = algorithms.get(length)
    if (algorithm === undefined) return undefined
    let hashes = byLength.get(length)
    if (!hashes) {
      hashes = new Map(addresses.map((one) => [hash(algorithm, one), one.toLowerCase()]))
      byLength.set(length, hashes)
    }
    return hashes
  }
  let beginnings: ReadonlySet<number> | undefined
  return {
    addressOf: (digits) => hashesOfLength(digits.length)?.get(digits),
    begins(bytes) {
      beginnings ??= new Set(
        [...algorithms.keys()]
          .flatMap((length) => [...(hashesOfLength(length)?.keys() ?? [])])
          .map((digits) => Number.parseInt(digits.slice(0, 6), 16)),
      )
      return beginnings.has(bytes)
    },
  }
}
