import { hash } from 'node:crypto'

/** The addresses to search for by their hashes. */
export type AddressHashes = {
  /** Returns the known address with this hash, both in lower case. */
  addressOf(digits: string): string | undefined
  /**
   * Whether any known hash of a length in hexadecimal digits begins with the given three bytes: a
   * fast test before decoding.
   */
  begins(bytes: number, length: number): boolean
}

const algorithms: ReadonlyMap<number, string> = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [64, 'sha256'],
  [128, 'sha512'],
])

/**
 * Creates a search for addresses by their hashes. The hashes of one length are computed when a text
 * first contains a hash of that length, which is rare.
 */
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
  const beginnings = new Map<number, ReadonlySet<number>>()
  const beginningsOfLength = (length: number): ReadonlySet<number> => {
    const digits = [...(hashesOfLength(length)?.keys() ?? [])]
    return new Set(digits.map((one) => Number.parseInt(one.slice(0, 6), 16)))
  }
  return {
    addressOf: (digits) => hashesOfLength(digits.length)?.get(digits),
    begins(bytes, length) {
      let known = beginnings.get(length)
      if (known === undefined) {
        known = beginningsOfLength(length)
        beginnings.set(length, known)
      }
      return known.has(bytes)
    },
  }
}

/** The local parts to search for with one domain, in lower case. */
export type Locals = {
  /** Returns the longest local part that ends at `end`. */
  endingAt(text: string, end: number): string | undefined
  /** Returns the longest local part that begins at `start`. */
  beginningAt(text: string, start: number): string | undefined
  /**
   * Returns the local part that a mailbox name means, ignoring dots where the provider ignores
   * them.
   */
  named(local: string): string | undefined
}

/** The addresses to search for, as domains with their local parts. */
export type SoughtAddresses = {
  /** Returns every occurrence of a domain in a lower-case text. */
  domainsIn(text: string): readonly { at: number; domain: string; locals: Locals }[]
  /** Whether any domain occurs in the text. */
  occurIn(text: string): boolean
  domains: readonly string[]
  /** Returns the local parts at a domain. */
  localsOf(domain: string): readonly string[]
}

/** Domains whose mailbox names ignore dots. */
const dotless = new Set(['gmail.com', 'googlemail.com'])

/**
 * Up to this many domains are searched one by one; more are searched together, by their first
 * letters.
 */
const ONE_BY_ONE_MAX = 8
const LETTERS = 3

/** Creates a search for any number of addresses. The search takes time linear in the text. */
export function seekAddresses(addresses: readonly string[]): SoughtAddresses {
  const byDomain = Map.groupBy(addresses, (one) => one.slice(one.lastIndexOf('@') + 1))
  const localsOf = new Map(
    [...byDomain].map(([domain, its]) => [
      domain,
      createLocals(
        its.map((one) => one.slice(0, one.lastIndexOf('@'))),
        dotless.has(domain),
      ),
    ]),
  )
  const domains = [...localsOf.keys()]
  const places = domains.length > ONE_BY_ONE_MAX ? placesAtOnce(domains) : placesOneByOne(domains)
  return {
    domains,
    domainsIn: (text) =>
      places(text).flatMap(({ at, domain }) => {
        const locals = localsOf.get(domain)
        return locals ? [{ at, domain, locals }] : []
      }),
    occurIn: (text) => places(text).length > 0,
    localsOf: (domain) =>
      byDomain.get(domain)?.map((one) => one.slice(0, one.lastIndexOf('@'))) ?? [],
  }
}

type Places = (text: string) => { at: number; domain: string }[]

function placesOneByOne(domains: readonly string[]): Places {
  return (text) => {
    const places = []
    for (const domain of domains) {
      for (let at = text.indexOf(domain); at >= 0; at = text.indexOf(domain, at + 1)) {
        places.push({ at, domain })
      }
    }
    return places
  }
}

function placesAtOnce(domains: readonly string[]): Places {
  const long = domains.filter(({ length }) => length >= LETTERS)
  const findShort = placesOneByOne(domains.filter(({ length }) => length < LETTERS))
  const byLetters = Map.groupBy(long, (domain) => lettersAt(domain, 0))
  const marked = new Uint8Array(1 << 16)
  for (const letters of byLetters.keys()) marked[letters & 0xffff] = 1
  return (text) => {
    const places = findShort(text)
    for (let at = 0; at <= text.length - LETTERS; at++) {
      const letters = lettersAt(text, at)
      if (marked[letters & 0xffff] !== 1) continue
      for (const domain of byLetters.get(letters) ?? []) {
        if (text.startsWith(domain, at)) places.push({ at, domain })
      }
    }
    return places
  }
}

function lettersAt(text: string, at: number): number {
  const [one, two] = [text.charCodeAt(at), text.charCodeAt(at + 1)]
  return (one << 10) ^ (two << 5) ^ text.charCodeAt(at + 2)
}

function createLocals(locals: readonly string[], isDotless: boolean): Locals {
  const backwards = treeOf(locals, -1)
  let forwards: Tree | undefined
  const plain = (local: string) => (isDotless ? local.replaceAll('.', '') : local)
  const byName = new Map(locals.toReversed().map((local) => [plain(local), local]))
  return {
    endingAt(text, end) {
      const length = longest(backwards, text, { at: end - 1, step: -1 })
      return length === 0 ? undefined : text.slice(end - length, end)
    },
    beginningAt(text, start) {
      forwards ??= treeOf(locals, 1)
      const length = longest(forwards, text, { at: start, step: 1 })
      return length === 0 ? undefined : text.slice(start, start + length)
    },
    named: (local) => byName.get(plain(local)),
  }
}

/** A tree of words by letters; words with the same beginning, or end, share a branch. */
type Tree = { isWord: boolean; next: Map<number, Tree> }

function treeOf(words: readonly string[], step: 1 | -1): Tree {
  const root: Tree = { isWord: false, next: new Map() }
  for (const word of words) {
    let branch = root
    for (let taken = 0; taken < word.length; taken++) {
      const letter = word.charCodeAt(step === 1 ? taken : word.length - 1 - taken)
      let next = branch.next.get(letter)
      if (next === undefined) {
        next = { isWord: false, next: new Map() }
        branch.next.set(letter, next)
      }
      branch = next
    }
    branch.isWord = true
  }
  return root
}

function longest(tree: Tree, text: string, { at, step }: { at: number; step: 1 | -1 }): number {
  let length = 0
  let branch = tree.next.get(text.charCodeAt(at))
  for (let taken = 1; branch; taken++) {
    if (branch.isWord) length = taken
    branch = branch.next.get(text.charCodeAt(at + taken * step))
  }
  return length
}
