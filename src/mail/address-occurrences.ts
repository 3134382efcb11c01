import { publicDomain } from './domain.ts'
import type { NameFinder } from './reporter-names.ts'
import type { Locals, SoughtAddresses } from './sought-addresses.ts'
import { characterSet } from './stretches.ts'
import type { TextView } from './text-views.ts'

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
