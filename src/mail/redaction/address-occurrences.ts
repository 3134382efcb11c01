import { publicDomain } from '../address.ts'
import { characterSet, hasRun, runsOf } from '../text.ts'
import { foldedBase64 } from '../transfer-encoding.ts'
import { latin1Of } from './latin1.ts'
import { base64Digits, hashesIn, HEX_MIN, hexDigits, type RunTest } from './prefilter.ts'
import type { CodeOf, NameFinder } from './reporter-names.ts'
import type { AddressHashes, Locals, SoughtAddresses } from './sought-addresses.ts'
import { isLineEnd, lowerOf, mayLead, type Pattern, type TextScan } from './text-scan.ts'
import { type TextView, textViews } from './text-views.ts'

/** The addresses and names to search for. */
export type Sought = { addresses: SoughtAddresses; findNames: NameFinder | undefined }

/** The position of an address, or of a name of its owner. */
export type Found = { start: number; end: number; address: string }

const signs = characterSet('@=%#!~+:/|*_-')
const turningSigns = characterSet('=!%')
const wordSign = /[\s._([{-]{1,3}at[\s._)\]}-]{1,3}$/

/**
 * Returns the addresses in a lower-case text, in order: `local sign domain` or `domain sign local`.
 */
function addressesIn(text: string, addresses: SoughtAddresses): Found[] {
  return inOrder([...eachAddress(text, addresses)])
}

/** Like `addressesIn`, but lazily and domain by domain; skips addresses that `isWanted` rejects. */
function* eachAddress(
  text: string,
  addresses: SoughtAddresses,
  isWanted: (at: number) => boolean = () => true,
): Generator<Found> {
  const isRegistrable = createRegistrableTest(text)
  for (const { at, domain, locals } of addresses.domainsIn(text)) {
    if (!isWanted(at)) continue
    const end = at + domain.length
    const before = localBefore(text, at, locals)
    if (before) {
      if (isRegistrable(before.start, end)) continue
      yield { start: before.start, end, address: `${before.address}@${domain}` }
    } else if (turningSigns[text.charCodeAt(end)] === 1) {
      const local = locals.beginningAt(text, end + 1)
      const stop = end + 1 + (local?.length ?? 0)
      if (local !== undefined) yield { start: at, end: stop, address: `${local}@${domain}` }
    }
  }
}

/**
 * Returns the positions of addresses and names in the written text, without those that `isWanted`
 * rejects.
 */
export function* placesIn(
  view: TextView,
  { addresses, findNames }: Sought,
  isWanted: (place: number) => boolean,
): Generator<number> {
  const found = eachAddress(view.text, addresses, (at) => isWanted(view.startOf(at)))
  for (const { start } of found) yield view.startOf(start)
  if (findNames?.mayOccurIn(view.text) !== true) return
  const cut = view.withCuts()
  const isRegistrable = createRegistrableTest(cut.text)
  for (const { start, end } of findNames.find(cut.text)) {
    const place = cut.startOf(start)
    if (isWanted(place) && !isRegistrable(start, end)) yield place
  }
}

/**
 * Whether a text may contain an address, a name or a hash in any form. If not, `placesIn` finds
 * nothing in its views and `placesInRuns` finds nothing in its runs. Most texts contain nothing.
 */
export function mayIdentify(text: string, { scan, mayHold }: AddressIndex): boolean {
  if (text === '') return false
  const latin1 = latin1Of(text)
  if (latin1 === undefined || scan.mayShow(latin1) || mayHold(latin1)) return true
  return foldedBase64(text).some(({ decoded }) => {
    const inside = latin1Of(decoded)
    return inside === undefined || scan.mayShow(inside)
  })
}

const wordLetters = characterSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789')

/** Returns the patterns without which a text contains no name: the longest word of each. */
export function namePatterns(names: NameFinder | undefined): Pattern[] {
  return (names?.words ?? []).map((text) => ({
    text,
    // A name counts only as a whole word.
    mayCount: (bytes, { start, end, from }) =>
      (start === from || wordLetters[bytes[start - 1] ?? 0] !== 1) &&
      wordLetters[bytes[end] ?? 0] !== 1,
  }))
}

/** Returns the patterns without which a text contains no address: the domains. */
export function domainPatterns({ domains, localsOf }: SoughtAddresses): Pattern[] {
  return domains.map((text) => {
    const lastLetters = new Uint8Array(256)
    for (const local of localsOf(text)) {
      const last = local.charCodeAt(local.length - 1)
      if (last <= 0xff) lastLetters[last] = 1
    }
    return {
      text,
      mayCount: (bytes, { start, end, from }) =>
        mayTurn(bytes, end) ||
        mayEndLocal(bytes, { end: start, from, lastLetters }) ||
        mayEndWord(bytes, start, from),
    }
  })
}

/** Whether a sign may follow a domain, as in a return path: perhaps an encoded one. */
function mayTurn(bytes: Buffer, end: number): boolean {
  const byte = bytes[end] ?? 0
  return turningSigns[byte] === 1 || (mayLead[byte] === 1 && !isLineEnd(bytes, end))
}

/** Whether a sign may be before a domain, and a local part before the sign. */
function mayEndLocal(
  bytes: Buffer,
  { end, from, lastLetters }: { end: number; from: number; lastLetters: Uint8Array },
): boolean {
  if (end - 2 < from) return true
  const sign = bytes[end - 1] ?? 0
  if (signs[sign] !== 1) return false
  const last = lowerOf[bytes[end - 2] ?? 0] ?? 0
  if (lastLetters[last] === 1) return true
  if (sign !== 0x40) return false
  if (!isOfWord(last)) return true
  // A local part may have a tag.
  for (let at = end - 2; end - at <= tagCharsMax + 3; at--) {
    if (at < from) return true
    const byte = bytes[at] ?? 0
    if (byte === 0x2b) return true
    if (tagEnds[byte] === 1) return false
  }
  return false
}

function isOfWord(byte: number): boolean {
  return wordLetters[byte] === 1
}

/** Whether the word `at` may be before a domain, instead of a sign. */
function mayEndWord(bytes: Buffer, end: number, from: number): boolean {
  let at = end - 1
  while (at >= from && end - at <= 3 && wordLetters[bytes[at] ?? 0] !== 1) at--
  if (at === end - 1) return false
  return (
    at - 1 < from || (((bytes[at] ?? 0) | 0x20) === 0x74 && ((bytes[at - 1] ?? 0) | 0x20) === 0x61)
  )
}

/** Matches, and the view to which their positions refer: for names, the view with cuts. */
export type Shown = { found: readonly Found[]; view: TextView }

/** Returns the addresses that a view shows; undefined if there are none. */
export function addressesShown(view: TextView, addresses: SoughtAddresses): Shown | undefined {
  const found = addressesIn(view.text, addresses)
  return found.length > 0 ? { found, view } : undefined
}

/**
 * Returns the names that a view shows. Searches the view with cuts, which may be between the words
 * of a name and inside them.
 */
export function namesShown(view: TextView, names: NameFinder | undefined): Shown | undefined {
  if (names?.mayOccurIn(view.text) !== true) return undefined
  const cut = view.withCuts()
  const isRegistrable = createRegistrableTest(cut.text)
  const found = [...names.find(cut.text)].filter(({ start, end }) => !isRegistrable(start, end))
  return found.length > 0 ? { found: inOrder(found), view: cut } : undefined
}

function inOrder(found: Found[]): Found[] {
  return found.sort((one, other) => one.start - other.start || other.end - one.end)
}

const hostLetters = characterSet('abcdefghijklmnopqrstuvwxyz0123456789.-')
const hostCharsMax = 253

/**
 * Creates a test of whether a range reaches into a registrable domain in the host name of a link or
 * address. Nobody registers a domain for one recipient, but a sender may put the domain into To so
 * that the redaction hides it.
 */
function createRegistrableTest(text: string): (start: number, end: number) => boolean {
  // A host may contain hundreds of names, so it is parsed only once.
  let known = { from: 0, to: 0, registrableFrom: 0 }
  return (start, end) => {
    for (let at = start; at < end; at++) if (hostLetters[text.charCodeAt(at)] !== 1) return false
    if (start < known.from || end > known.to) known = hostAround(text, start, end)
    const isAlone = known.from === start && known.to === end
    if (isAlone && !/\/\/|@/.test(text.slice(start - 2, start))) return false
    return end > known.registrableFrom
  }
}

/**
 * Returns the host name around a range, up to the maximum length, and the start of its registrable
 * domain.
 */
function hostAround(text: string, start: number, end: number) {
  let from = start
  let to = end
  while (from > 0 && start - from < hostCharsMax && hostLetters[text.charCodeAt(from - 1)] === 1) {
    from--
  }
  while (to - end < hostCharsMax && hostLetters[text.charCodeAt(to)] === 1) to++
  const host = text.slice(from, to).replace(/\.+$/, '')
  const domain = publicDomain(host)
  const registrableFrom = domain === undefined ? Infinity : from + host.length - domain.length
  return { from, to, registrableFrom }
}

function localBefore(text: string, domainAt: number, locals: Locals) {
  if (signs[text.charCodeAt(domainAt - 1)] === 1) {
    const found = localEndingAt(text, domainAt - 1, locals)
    if (found) return found
  }
  // An address with a word instead of a sign: `jane (at) example.org`. The pattern includes the
  // separators before and after the word.
  const word = wordSign.exec(text.slice(Math.max(0, domainAt - 8), domainAt))?.[0].length
  return word === undefined ? undefined : localEndingAt(text, domainAt - word, locals)
}

function localEndingAt(text: string, end: number, locals: Locals) {
  const local = locals.endingAt(text, end)
  const isSign = text.charAt(end) === '@'
  // If a name without a letter counted, the two slashes before a host would be taken for an
  // address.
  if (local !== undefined && (isSign || /[a-z0-9\x80-\uffff]/.test(local))) {
    return { address: local, start: end - local.length }
  }
  return isSign ? taggedBefore(text, end, locals) : undefined
}

const tagCharsMax = 63
const localCharsMax = 64
const tagEnds = characterSet(' \t\r\n\f\v"@<>')
const localLetters = characterSet("abcdefghijklmnopqrstuvwxyz0123456789.!#$&'*^_`{|}~-")

/** Returns the local part before an `@`: possibly quoted, escaped or tagged. */
function taggedBefore(text: string, sign: number, locals: Locals) {
  const closed = text.charAt(sign - 1) === '\\' ? sign - 1 : sign
  const end = text.charAt(closed - 1) === '"' ? closed - 1 : closed
  let localEnd = end
  for (let at = end - 1; at >= 0 && end - at <= tagCharsMax + 1; at--) {
    if (tagEnds[text.charCodeAt(at)] === 1) break
    if (text.charAt(at) === '+') localEnd = at
  }
  let start = localEnd
  while (localEnd - start < localCharsMax && localLetters[text.charCodeAt(start - 1)] === 1) start--
  const local = start < localEnd ? locals.named(text.slice(start, localEnd)) : undefined
  if (local === undefined) return undefined
  return { address: local, start: text.charAt(start - 1) === '"' ? start - 1 : start }
}

/** The values to search for in runs of base64 and hexadecimal digits. */
export type AddressIndex = Sought & {
  /** Searches for the domains and the names: fast, and without false negatives. */
  scan: TextScan
  hashes: AddressHashes
  /** Whether any run may contain a match: fast, and without false negatives. */
  mayHold: RunTest
  /** A run of base64 digits long enough to hold an address, with its padding. */
  run: RegExp
  /** The minimum number of digits. */
  runMin: number
  /** The results of runs that were already decoded, by their digits. */
  holders: Map<string, { address: string | undefined }>
}

/** Returns the starts of runs of digits that contain a wanted address or its hash. */
export function* placesInRuns(
  text: string,
  index: AddressIndex,
  isWanted: (place: number) => boolean,
): Generator<number> {
  for (const { start } of holdersInFolds(text, index)) yield start
  if (!anyRunMayHold(text, index)) return
  for (const { 0: digits, index: start } of text.matchAll(index.run)) {
    if (isWanted(start) && holderOf(withoutPadding(digits), index) !== undefined) yield start
  }
}

/** Returns base64 over several lines that contains an address. */
function* holdersInFolds(text: string, index: AddressIndex) {
  for (const { start, end, decoded } of foldedBase64(text)) {
    const address = addressIn(decoded, index)
    if (address !== undefined) yield { start, end, address }
  }
}

function addressIn(decoded: string, index: AddressIndex): string | undefined {
  for (const view of textViews(decoded)) {
    const shown = addressesShown(view, index.addresses) ?? namesShown(view, index.findNames)
    if (shown) return shown.found[0]?.address
  }
  return undefined
}

/** Replaces runs of base64 or hexadecimal digits that contain an address or its hash. */
export function redactRuns(written: string, index: AddressIndex, codeOf: CodeOf): string {
  const text = withCodes(written, holdersInFolds(written, index), codeOf)
  if (!anyRunMayHold(text, index)) return text
  const unhashed = text.replace(index.run, (run) => redactHashes(run, index, codeOf))
  return unhashed.replace(index.run, (run) => {
    const address = holderOf(withoutPadding(run), index)
    return address === undefined ? run : codeOf(address)
  })
}

/**
 * Replaces only the hashes in a run: in a link, the characters around a hash are often digits too.
 */
function redactHashes(run: string, index: AddressIndex, codeOf: CodeOf): string {
  const bare = withoutPadding(run)
  const held = hashesIn(bare, index.hashes)
  const isLast = held.some(({ end }) => end === bare.length)
  return withCodes(isLast ? bare : run, held, codeOf)
}

/**
 * Returns the text with codes in place of the `held` matches, which are in order. Of two that
 * overlap, only the first is replaced.
 */
function withCodes(
  text: string,
  held: Iterable<{ start: number; end: number; address: string }>,
  codeOf: CodeOf,
): string {
  let result = ''
  let done = 0
  for (const { start, end, address } of held) {
    if (start < done) continue
    result += text.slice(done, start) + codeOf(address)
    done = end
  }
  return done === 0 ? text : result + text.slice(done)
}

/** Tests all runs at once: in most texts no run contains a match. */
function anyRunMayHold(text: string, index: AddressIndex): boolean {
  if (!index.mayHold(text)) return false
  const runs = runsOf(text, base64Digits, index.runMin)
  const saysItself = (read: string) => index.addresses.occurIn(read.toLowerCase())
  const says = (read: string) => saysItself(read) || innerReadings(read, index).some(saysItself)
  if (runs.length === 0) return false
  // Each run fills whole groups of four digits, so one offset shifts all of them alike.
  const joined = runs.map(wholeGroups).join('')
  const isHolding = [0, 1, 2, 3].some((shift) => says(decodeBase64(joined.slice(shift))))
  if (isHolding) return true
  const holds = (run: string) =>
    hashesIn(run, index.hashes).length > 0 ||
    (hasRun(run, hexDigits, HEX_MIN) && hexReadings(run).some(says))
  return runs.some(holds)
}

/** Returns the address in a run; cached, because a text is searched several times. */
function holderOf(run: string, index: AddressIndex): string | undefined {
  const known = index.holders.get(run)
  if (known !== undefined) return known.address
  const address = mayHold(run, index) ? readHolder(run, index) : undefined
  if (index.holders.size < HOLDERS_MAX) index.holders.set(run, { address })
  return address
}

const HOLDERS_MAX = 5_000

/** Whether a run may contain an address or a name; much faster than decoding the run. */
function mayHold(run: string, { mayHold, findNames }: AddressIndex): boolean {
  if (mayHold(run)) return true
  if (findNames === undefined) return false
  return [0, 1, 2, 3].some((shift) =>
    findNames.mayOccurIn(decodeBase64(run.slice(shift)).toLowerCase()),
  )
}

function readHolder(run: string, index: AddressIndex): string | undefined {
  const [hashed] = hashesIn(run, index.hashes)
  if (hashed) return hashed.address
  for (const reading of readingsOf(run, index)) {
    const address = addressIn(reading, index)
    if (address !== undefined) return address
  }
  return undefined
}

/**
 * Returns all possible decodings of a run, each computed only if the previous ones contain nothing.
 */
function* readingsOf(run: string, index: AddressIndex): Generator<string> {
  const readings: string[] = []
  for (const offset of [0, 1, 2, 3]) {
    const reading = decodeBase64(run.slice(offset))
    readings.push(reading)
    yield reading
  }
  yield* hexReadings(run)
  for (const reading of readings) yield* innerReadings(reading, index)
}

/** Returns the decodings of base64 within base64. */
function innerReadings(reading: string, { runMin }: AddressIndex): string[] {
  return runsOf(reading, base64Digits, runMin).flatMap((run) =>
    [0, 1, 2, 3].map((offset) => decodeBase64(run.slice(offset))),
  )
}

function hexReadings(run: string): string[] {
  return runsOf(run, hexDigits, HEX_MIN).flatMap((stretch) =>
    [stretch, stretch.slice(1)].map((digits) => Buffer.from(digits, 'hex').toString('latin1')),
  )
}

function withoutPadding(run: string): string {
  return run.replace(/(?:=|%3D)+$/i, '')
}

function wholeGroups(digits: string): string {
  return digits + 'A'.repeat((4 - (digits.length % 4)) % 4) + 'AAAA'
}

function decodeBase64(digits: string): string {
  return Buffer.from(digits, 'base64').toString('latin1')
}
