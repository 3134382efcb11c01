import { publicDomain } from '../address.ts'
import { characterSet, hasRun, runsOf } from '../text.ts'
import { foldedBase64 } from '../transfer-encoding.ts'
import { base64Digits, hashesIn, HEX_MIN, hexDigits, type RunTest } from './prefilter.ts'
import type { CodeOf, NameFinder } from './reporter-names.ts'
import type { AddressHashes, Locals, SoughtAddresses } from './sought-addresses.ts'
import { type TextView, textViews } from './text-views.ts'

/** What is looked for in a text. */
export type Sought = { addresses: SoughtAddresses; findNames: NameFinder | undefined }

/** Where an address stands in a text, or a name of whom it belongs to. */
export type Found = { start: number; end: number; address: string }

const signs = characterSet('@=%#!~+:/|*_-')
const turningSigns = characterSet('=!%')
const wordSign = /[\s._([{-]{1,3}at[\s._)\]}-]{1,3}$/

/** Addresses in a text in lower case, in order: `local sign domain` or `domain sign local`. */
function addressesIn(text: string, addresses: SoughtAddresses): Found[] {
  return inOrder([...eachAddress(text, addresses)])
}

/** The same one by one, domain by domain; nothing more is done where `isWanted` says no. */
function* eachAddress(
  text: string,
  addresses: SoughtAddresses,
  isWanted: (at: number) => boolean = () => true,
): Generator<Found> {
  const isHouse = createHouseTest(text)
  for (const { at, domain, locals } of addresses.domainsIn(text)) {
    if (!isWanted(at)) continue
    const end = at + domain.length
    const before = localBefore(text, at, locals)
    if (before) {
      if (isHouse(before.start, end)) continue
      yield { start: before.start, end, address: `${before.address}@${domain}` }
    } else if (turningSigns[text.charCodeAt(end)] === 1) {
      const local = locals.beginningAt(text, end + 1)
      const stop = end + 1 + (local?.length ?? 0)
      if (local !== undefined) yield { start: at, end: stop, address: `${local}@${domain}` }
    }
  }
}

/** Where in the written text addresses and names stand, but those that `isWanted` says no to. */
export function* placesIn(
  view: TextView,
  { addresses, findNames }: Sought,
  isWanted: (place: number) => boolean,
): Generator<number> {
  const found = eachAddress(view.text, addresses, (at) => isWanted(view.startOf(at)))
  for (const { start } of found) yield view.startOf(start)
  if (findNames?.mayStandIn(view.text) !== true) return
  const cut = view.withCuts()
  const isHouse = createHouseTest(cut.text)
  for (const { start, end } of findNames.find(cut.text)) {
    const place = cut.startOf(start)
    if (isWanted(place) && !isHouse(start, end)) yield place
  }
}

/** What was found in a view, which is not always the one that was searched. */
export type Shown = { found: readonly Found[]; view: TextView }

/** The addresses that a view shows; undefined where there are none. */
export function addressesShown(view: TextView, addresses: SoughtAddresses): Shown | undefined {
  const found = addressesIn(view.text, addresses)
  return found.length > 0 ? { found, view } : undefined
}

/** The names that a view shows: sought where cuts are marked, between words and inside of them. */
export function namesShown(view: TextView, names: NameFinder | undefined): Shown | undefined {
  if (names?.mayStandIn(view.text) !== true) return undefined
  const cut = view.withCuts()
  const isHouse = createHouseTest(cut.text)
  const found = [...names.find(cut.text)].filter(({ start, end }) => !isHouse(start, end))
  return found.length > 0 ? { found: inOrder(found), view: cut } : undefined
}

function inOrder(found: Found[]): Found[] {
  return found.sort((one, other) => one.start - other.start || other.end - one.end)
}

const hostLetters = characterSet('abcdefghijklmnopqrstuvwxyz0123456789.-')
const hostCharsMax = 253

/**
 * Whether it reaches into what somebody registered, in a host name of a link or an address: nobody
 * registers a domain for one recipient, but a sender may write one into To so that nobody sees it.
 */
function createHouseTest(text: string): (start: number, end: number) => boolean {
  // A host may hold hundreds of names, and is read once.
  let known = { from: 0, to: 0, houseFrom: 0 }
  return (start, end) => {
    for (let at = start; at < end; at++) if (hostLetters[text.charCodeAt(at)] !== 1) return false
    if (start < known.from || end > known.to) known = hostAround(text, start, end)
    const isAlone = known.from === start && known.to === end
    if (isAlone && !/\/\/|@/.test(text.slice(start - 2, start))) return false
    return end > known.houseFrom
  }
}

/** The host name around a place, at most as long as one may be; where what is registered begins. */
function hostAround(text: string, start: number, end: number) {
  let from = start
  let to = end
  while (from > 0 && start - from < hostCharsMax && hostLetters[text.charCodeAt(from - 1)] === 1) {
    from--
  }
  while (to - end < hostCharsMax && hostLetters[text.charCodeAt(to)] === 1) to++
  const host = text.slice(from, to).replace(/\.+$/, '')
  const domain = publicDomain(host)
  const houseFrom = domain === undefined ? Infinity : from + host.length - domain.length
  return { from, to, houseFrom }
}

function localBefore(text: string, domainAt: number, locals: Locals) {
  if (signs[text.charCodeAt(domainAt - 1)] === 1) {
    const found = localEndingAt(text, domainAt - 1, locals)
    if (found) return found
  }
  // The word between two signs ends with one of them.
  const word = wordSign.exec(text.slice(Math.max(0, domainAt - 8), domainAt))?.[0].length
  return word === undefined ? undefined : localEndingAt(text, domainAt - word, locals)
}

function localEndingAt(text: string, end: number, locals: Locals) {
  const local = locals.endingAt(text, end)
  const isSign = text.charAt(end) === '@'
  // A name without a letter would make an address of the two slashes before a host.
  if (local !== undefined && (isSign || /[a-z0-9\x80-\uffff]/.test(local))) {
    return { address: local, start: end - local.length }
  }
  return isSign ? taggedBefore(text, end, locals) : undefined
}

const tagCharsMax = 63
const localCharsMax = 64
const tagEnds = characterSet(' \t\r\n\f\v"@<>')
const localLetters = characterSet("abcdefghijklmnopqrstuvwxyz0123456789.!#$&'*^_`{|}~-")

/** As it may stand before an `@`: in quotes, escaped, with a tag. */
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

/** What is looked for in runs of base64 and hexadecimal digits. */
export type AddressIndex = Sought & {
  hashes: AddressHashes
  /** Whether any run may hold something: cheap, and never no where one does. */
  mayHold: RunTest
  /** A run of base64 digits long enough to hold an address, with its padding. */
  run: RegExp
  /** How many digits that is. */
  runMin: number
  /** What each run holds that has been read, by its digits. */
  holders: Map<string, { address: string | undefined }>
}

/** Where runs of digits begin that hold an address or its hash, but those not wanted. */
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

/** Base 64 over several lines that holds an address. */
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

/** Replaces runs of base64 or hexadecimal digits that hold an address or its hash. */
export function redactRuns(written: string, index: AddressIndex, codeOf: CodeOf): string {
  const text = withCodes(written, holdersInFolds(written, index), codeOf)
  if (!anyRunMayHold(text, index)) return text
  const unhashed = text.replace(index.run, (run) => redactHashes(run, index, codeOf))
  return unhashed.replace(index.run, (run) => {
    const address = holderOf(withoutPadding(run), index)
    return address === undefined ? run : codeOf(address)
  })
}

/** A link goes on around a hash, often in digits: only the hash itself is replaced. */
function redactHashes(run: string, index: AddressIndex, codeOf: CodeOf): string {
  const bare = withoutPadding(run)
  const held = hashesIn(bare, index.hashes)
  const isLast = held.some(({ end }) => end === bare.length)
  return withCodes(isLast ? bare : run, held, codeOf)
}

/** The text with codes where addresses stand, in order; of two that overlap the first one's. */
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

/** Reads all runs at once: in most texts none holds anything, and then nothing more is done. */
function anyRunMayHold(text: string, index: AddressIndex): boolean {
  if (!index.mayHold(text)) return false
  const runs = runsOf(text, base64Digits, index.runMin)
  const saysItself = (read: string) => index.addresses.standIn(read.toLowerCase())
  const says = (read: string) => saysItself(read) || innerReadings(read, index).some(saysItself)
  if (runs.length === 0) return false
  // Each run fills whole groups of four digits, so one cut shifts all of them alike.
  const joined = runs.map(wholeGroups).join('')
  const isHolding = [0, 1, 2, 3].some((shift) => says(decodeBase64(joined.slice(shift))))
  if (isHolding) return true
  const holds = (run: string) =>
    hashesIn(run, index.hashes).length > 0 ||
    (hasRun(run, hexDigits, HEX_MIN) && hexReadings(run).some(says))
  return runs.some(holds)
}

/** The address that a run holds: found once, although a text is searched several times. */
function holderOf(run: string, index: AddressIndex): string | undefined {
  const known = index.holders.get(run)
  if (known !== undefined) return known.address
  const address = mayHold(run, index) ? readHolder(run, index) : undefined
  if (index.holders.size < HOLDERS_MAX) index.holders.set(run, { address })
  return address
}

const HOLDERS_MAX = 5_000

/** Whether a run may hold an address or a name; costs far less than reading the run. */
function mayHold(run: string, { mayHold, findNames }: AddressIndex): boolean {
  if (mayHold(run)) return true
  if (findNames === undefined) return false
  return [0, 1, 2, 3].some((shift) =>
    findNames.mayStandIn(decodeBase64(run.slice(shift)).toLowerCase()),
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

/** All that a run may say, each made when the ones before hold nothing. */
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

/** What base 64 within base 64 holds. */
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
