import { hkdfSync } from 'node:crypto'
import { domainToASCII, domainToUnicode } from 'node:url'
import {
  addressesShown,
  type AddressIndex,
  domainPatterns,
  type Found,
  mayIdentify,
  namePatterns,
  namesShown,
  placesIn,
  placesInRuns,
  redactRuns,
  type Shown,
} from './address-occurrences.ts'
import { createRunTest } from './prefilter.ts'
import { type CodeOf, createCodes, createNameFinder, type ReporterName } from './reporter-names.ts'
import { hashesOf, seekAddresses } from './sought-addresses.ts'
import { createTextScan } from './text-scan.ts'
import { lastUpTo, plainView, type TextView, textViews } from './text-views.ts'

/**
 * Finds and replaces the addresses of one reporter for one consumer. A text may be a Latin-1 view
 * of bytes.
 */
export type AddressRedactor = {
  /** Replaces every occurrence of an address by its code. */
  redact(text: string): string
  /**
   * Like `redact`, with a shared budget for several texts; undefined once the budget is used up.
   */
  redactWithin(budget: RedactionBudget, text: string): string | undefined
  /** Whether the text contains an address in any known form. */
  finds(text: string): boolean
  /** Like `finds`, for many texts in one search, which is much faster than one search for each. */
  findsIn(texts: readonly string[]): boolean[]
  /** Whether the text contains a name as written. */
  findsNameIn(text: string): boolean
  /**
   * Marks `text` as free of addresses if `origin` is: the caller made it by inserting codes into
   * `origin`.
   */
  vouchFor(text: string, origin: string): void
  /** Returns the code of an address, which does not depend on how the address is written. */
  codeOf(address: string): string
}

/** The remaining number of occurrences that may be replaced in a message. */
export type RedactionBudget = { occurrences: number }

/** The domain of every code: reserved, so that it never reaches anyone (RFC 2606). */
export const redactedDomain = 'redacted.invalid'

/** Shorter texts are scanned before they are looked up, which would take as long. */
const LOOKED_UP_CHARS = 2_000
const addressesMax = 300
const roundsMax = 8

/** Returns the key for one consumer's codes; another consumer's codes differ. */
export function redactionKey(secret: string, consumer: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, consumer, 'signalpost redaction 1', 32))
}

/**
 * Creates a redactor according to RFC 6590: an address becomes a code keyed by `key` that cannot be
 * reversed. Finds addresses in any case; percent-, quoted-printable-, HTML- and `\u`-encoded,
 * character by character; split by soft line breaks, folds, tags or invisible characters; in
 * UTF-16; with another separator or in reverse order, as in return paths (VERP, SRS); in quotes,
 * with a tag, with other dots if the provider ignores them; within base64, also over lines or
 * nested, and hexadecimal runs; and as their MD5, SHA-1, SHA-256 or SHA-512, which anyone can
 * compute. Searches for at most 300 addresses, the first ones given. `names` are found as words and
 * become the codes of their addresses. Linear in the text.
 */
export function createAddressRedactor(
  addresses: readonly string[],
  key: Buffer,
  names: readonly ReporterName[] = [],
): AddressRedactor {
  const codeOf = createCodes(key)
  const index = createAddressIndex(addresses, names)
  if (index === undefined) return redactNothing(codeOf)
  // Texts without a match. Most texts have none, and are searched again as part of larger texts.
  const clean = new Set<string>()
  // The last text that was redacted and contained nothing: adding all of them would take longer.
  let lastClean = ''
  const isOpen = (text: string) =>
    text.length > LOOKED_UP_CHARS
      ? !clean.has(text) && mayIdentify(text, index)
      : mayIdentify(text, index) && !clean.has(text)
  const findsIn = (texts: readonly string[]) => {
    const named = texts.map(isOpen)
    if (!named.includes(true)) return named
    const open = textsNaming(
      texts.filter((_, at) => named[at]),
      index,
    )
    let next = 0
    return named.map((isOpen) => isOpen && open.has(next++))
  }
  const redactWithin = (budget: RedactionBudget, text: string) => {
    if (text.length > LOOKED_UP_CHARS && clean.has(text)) return text
    if (!mayIdentify(text, index)) {
      lastClean = text
      return text
    }
    if (clean.has(text)) return text
    const views = redactViews(text, { index, codeOf, budget })
    if (views === undefined) return undefined
    const redacted = views.isCertain
      ? views.text
      : redactRuns(views.text, index, (address) => {
          budget.occurrences -= 1
          return codeOf(address)
        })
    if (views.isClean && redacted === views.text) clean.add(redacted)
    return budget.occurrences < 0 ? undefined : redacted
  }
  return {
    redact: (text) => redactWithin({ occurrences: Infinity }, text) ?? '',
    redactWithin,
    finds: (text) => findsIn([text])[0] ?? false,
    findsIn,
    findsNameIn: (text) => namesShown(plainView(text), index.findNames) !== undefined,
    vouchFor(text, origin) {
      if (text !== origin && (origin === lastClean || clean.has(origin))) clean.add(text)
    },
    codeOf,
  }
}

function redactNothing(codeOf: CodeOf): AddressRedactor {
  return {
    redact: (text) => text,
    redactWithin: (_, text) => text,
    finds: () => false,
    findsIn: (texts) => texts.map(() => false),
    findsNameIn: () => false,
    vouchFor: () => undefined,
    codeOf,
  }
}

/**
 * Returns the indexes of the texts that contain an address. Searches all of them as one text,
 * joined by separators that no match can cross.
 */
function textsNaming(texts: readonly string[], index: AddressIndex): ReadonlySet<number> {
  const starts: number[] = []
  let length = 0
  for (const text of texts) {
    starts.push(length)
    length += text.length + TEXT_SEPARATOR.length
  }
  const whole = texts.length === 1 ? (texts[0] ?? '') : texts.join(TEXT_SEPARATOR)
  const named = new Set<number>()
  const isOpen = (place: number) => !named.has(lastUpTo(starts, place))
  for (const place of placesInText(whole, index, isOpen)) {
    named.add(lastUpTo(starts, place))
    // A text often has thousands of matches; one for each text is enough.
    if (named.size === texts.length) break
  }
  return named
}

const TEXT_SEPARATOR = '\r\n\r\n'

/** Returns the places in a text at which it identifies the reporter, by the exact search alone. */
export function* placesInText(
  text: string,
  index: AddressIndex,
  isOpen: (place: number) => boolean,
): Generator<number> {
  for (const view of textViews(text)) yield* placesIn(view, index, isOpen)
  yield* placesInRuns(text, index, isOpen)
}

/** Creates what the searches for addresses and names need; undefined if no address is valid. */
export function createAddressIndex(
  addresses: readonly string[],
  names: readonly ReporterName[],
): AddressIndex | undefined {
  const known = normalized(addresses)
  if (known.length === 0) return undefined
  const asWritten = addresses.slice(0, addressesMax)
  const sought = seekAddresses(known)
  const hashes = hashesOf([...new Set([...asWritten, ...known])])
  const shortest = Math.min(...known.map(({ length }) => length))
  const findNames = createNameFinder(names)
  const digitsMin = Math.min(22, Math.max(8, Math.floor((shortest * 4) / 3)))
  return {
    findNames,
    scan: createTextScan([...domainPatterns(sought), ...namePatterns(findNames)]),
    hashes,
    mayHold: createRunTest({
      domains: sought.domains,
      runMin: digitsMin,
      hashes,
    }),
    runMin: digitsMin,
    run: runOf(digitsMin),
    holders: new Map(),
    addresses: sought,
  }
}

// A run begins where no digit precedes; otherwise the search would start again at each digit.
const runStart = '(?<![A-Za-z0-9+/_-])'
const runsByLength = new Map<number, RegExp>()

function runOf(digitsMin: number): RegExp {
  const shape = `${runStart}[A-Za-z0-9+/_-]{${String(digitsMin)},}(?:={0,2}|(?:%3D){0,2})`
  const run = runsByLength.get(digitsMin) ?? new RegExp(shape, 'gi')
  runsByLength.set(digitsMin, run)
  return run
}

type Replacing = { index: AddressIndex; codeOf: CodeOf; budget: RedactionBudget }

/**
 * Redacts the matches in the views of a text. Returns the redacted text, whether its views are free
 * of matches, and whether its runs of digits certainly are too; undefined when the budget is used
 * up.
 */
function redactViews(text: string, { index, codeOf, budget }: Replacing) {
  let redacted = text
  // A match that was split by a replaced one is complete in the next round.
  for (let round = 0; round < roundsMax; round += 1) {
    if (round > 0 && !mayIdentify(redacted, index)) {
      return { text: redacted, isClean: true, isCertain: true }
    }
    const shown = shownIn(textViews(redacted), index)
    if (shown.some(({ found }) => found.length > budget.occurrences)) return undefined
    const places = writtenPlaces(shown)
    if (places.length === 0) return { text: redacted, isClean: true, isCertain: false }
    budget.occurrences -= places.length
    if (budget.occurrences < 0) return undefined
    redacted = replacePlaces(redacted, places, codeOf)
  }
  return { text: redacted, isClean: false, isCertain: false }
}

/**
 * Returns the addresses that the views show, or the names if they show no address, because a name
 * may begin an address.
 */
function shownIn(views: readonly TextView[], { addresses, findNames }: AddressIndex): Shown[] {
  const whole = views.flatMap((view) => addressesShown(view, addresses) ?? [])
  if (whole.length > 0) return whole
  // The most decoded view first: encoded text may look like another name.
  return views.toReversed().flatMap((view) => namesShown(view, findNames) ?? [])
}

/**
 * Returns the positions, in the written text, of the matches in its views. Of two that overlap,
 * keeps the one from the earlier view.
 */
function writtenPlaces(shown: readonly Shown[]): readonly Found[] {
  return shown.reduce<readonly Found[]>((places, one) => withOthers(places, placesOf(one)), [])
}

/** Returns the matches of a view in order, without those that overlap an earlier one. */
function placesOf({ found, view }: Shown): Found[] {
  const places: Found[] = []
  let done = 0
  for (const { start, end, address } of found) {
    const place = { start: view.startOf(start), end: view.endOf(end - 1), address }
    if (place.start < done) continue
    places.push(place)
    done = place.end
  }
  return places
}

/** Returns `places`, and those of `others` that do not overlap them, together in order. */
function withOthers(places: readonly Found[], others: readonly Found[]): readonly Found[] {
  if (places.length === 0) return others
  const joined: Found[] = []
  let next = 0
  const takeUntil = (end: number) => {
    for (let place = places[next]; place && place.start < end; place = places[next]) {
      joined.push(place)
      next += 1
    }
  }
  for (const other of others) {
    takeUntil(other.start)
    const isFree = (joined.at(-1)?.end ?? 0) <= other.start
    if (isFree && (places[next]?.start ?? Infinity) >= other.end) joined.push(other)
  }
  takeUntil(Infinity)
  return joined
}

function replacePlaces(text: string, places: readonly Found[], codeOf: CodeOf): string {
  let result = ''
  let done = 0
  for (const { start, end, address } of places) {
    const code = codeOf(address)
    const isAddress = text.slice(start, end).includes('@')
    result += text.slice(done, start) + (isAddress ? `${code}@${redactedDomain}` : code)
    done = end
  }
  return result + text.slice(done)
}

/** Returns addresses in lower case, each also without its tag. */
function normalized(addresses: readonly string[]): string[] {
  const known = new Set<string>()
  for (const address of addresses) {
    const lower = address.trim().toLowerCase()
    if (!/^[^\s@]{1,128}@[^\s@]{1,253}$/.test(lower)) continue
    if (lower.endsWith(`@${redactedDomain}`)) continue
    for (const one of sameMailbox(lower)) known.add(one)
    if (known.size >= addressesMax) break
  }
  return [...known]
}

function sameMailbox(address: string): string[] {
  const untagged = address.replace(/^([^+]+)\+[^@]*@/, '$1@')
  const others = /@g(?:oogle)?mail\.com$/.test(untagged)
    ? ['gmail.com', 'googlemail.com'].map((domain) => untagged.replace(/[^@]*$/, domain))
    : []
  const [local = '', domain = ''] = untagged.split(/@(?=[^@]*$)/)
  const all = [address, untagged, ...others]
  if (plainDomain.test(domain) && !domain.includes('xn--')) return [...new Set(all)]
  const [ascii, readable] = [domainToASCII(domain), domainToUnicode(domain)]
  const bytes = Buffer.from(readable).toString('latin1').toLowerCase()
  const named = [ascii, readable, bytes].filter((one) => one !== '' && one !== domain)
  return [...new Set([...all, ...named.map((one) => `${local}@${one}`)])]
}

/** A domain that is written in one way only. */
const plainDomain = /^(?:[a-z0-9-]{1,63}\.)*[a-z]{1,63}$/
