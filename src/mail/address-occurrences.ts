import { isPublicName, registrableDomain } from './domain.ts'
import type { NameFinder } from './reporter-names.ts'

/** What is looked for in a text. */
export type Sought = {
  /** Parts before the `@` by domain, longer ones first; all in lower case. */
  locals: ReadonlyMap<string, readonly string[]>
  findNames: NameFinder | undefined
}

/** Where an address stands in a text, or a name of whom it belongs to. */
export type Found = { start: number; end: number; address: string }

const signs = new Set('@=%#!~+:/|*_-'.split(''))
const wordSign = /[\s._([{-]{1,3}at[\s._)\]}-]{1,3}$/

/** Addresses and names in a text in lower case, each kind in order. */
export function occurrences(text: string, { locals, findNames }: Sought): Found[] {
  return [...addressesIn(text, locals), ...namesIn(text, findNames)]
}

/** Addresses in a text in lower case, in order: `local sign domain` or `domain sign local`. */
export function addressesIn(text: string, locals: Sought['locals']): Found[] {
  const found: Found[] = []
  for (const [domain, names] of locals) {
    for (let at = text.indexOf(domain); at >= 0; at = text.indexOf(domain, at + 1)) {
      const end = at + domain.length
      const before = localBefore(text, at, names, dotless.has(domain))
      if (before) {
        if (isHouse(text, before.start, end)) continue
        found.push({ start: before.start, end, address: `${before.address}@${domain}` })
      } else if (/^[=!%]/.test(text.slice(end, end + 1))) {
        const local = names.find((name) => text.startsWith(name, end + 1))
        const stop = end + 1 + (local?.length ?? 0)
        if (local !== undefined) found.push({ start: at, end: stop, address: `${local}@${domain}` })
      }
    }
  }
  return inOrder(found)
}

/** Names in a text in lower case, in order; the longer one where two begin. */
export function namesIn(text: string, findNames: Sought['findNames']): Found[] {
  if (!findNames) return []
  return inOrder([...findNames(text)].filter(({ start, end }) => !isHouse(text, start, end)))
}

function inOrder(found: Found[]): Found[] {
  return found.sort((one, other) => one.start - other.start || other.end - one.end)
}

const hostLetters = /[a-z0-9.-]/
const hostCharsMax = 253

/**
 * Whether it reaches into what somebody registered, in a host name of a link or an address: nobody
 * registers a domain for one recipient, but a sender may write one into To so that nobody sees it.
 */
function isHouse(text: string, start: number, end: number): boolean {
  if (!/^[a-z0-9.-]+$/.test(text.slice(start, end))) return false
  let from = start
  let to = end
  while (from > 0 && start - from < hostCharsMax && hostLetters.test(text.charAt(from - 1))) from--
  while (to - end < hostCharsMax && hostLetters.test(text.charAt(to))) to++
  const isAlone = from === start && to === end && !/\/\/|@/.test(text.slice(from - 2, from))
  const host = text.slice(from, to).replace(/\.+$/, '')
  if (isAlone || !isPublicName(host)) return false
  const domain = registrableDomain(host) ?? ''
  return end > from + host.length - domain.length
}

function localBefore(text: string, domainAt: number, names: readonly string[], isDotless: boolean) {
  const word = wordSign.exec(text.slice(Math.max(0, domainAt - 8), domainAt))?.[0].length
  const signLengths = signs.has(text.charAt(domainAt - 1)) ? [1] : []
  if (word !== undefined) signLengths.push(word)
  for (const signLength of signLengths) {
    const end = domainAt - signLength
    const local = names.find((name) => text.startsWith(name, end - name.length))
    const isSign = text.charAt(end) === '@'
    // A name without a letter would make an address of the two slashes before a host.
    if (
      local !== undefined &&
      end >= local.length &&
      (isSign || /[a-z0-9\x80-\uffff]/.test(local))
    ) {
      return { address: local, start: end - local.length }
    }
    const written = isSign ? tagged.exec(text.slice(Math.max(0, end - 128), end)) : null
    const plain = written && names.find((name) => isSameBox(name, written[1] ?? '', isDotless))
    if (written && plain !== undefined) {
      return { address: plain, start: end - written[0].length }
    }
  }
  return undefined
}

/** As it may stand before an `@`: in quotes, escaped, with a tag. The groups: name, tag. */
const tagged = /"?([a-z0-9.!#$&'*^_`{|}~-]{1,64})(\+[^\s@"<>]{0,63})?"?\\?$/

function isSameBox(name: string, local: string, isDotless: boolean): boolean {
  if (name === local) return true
  return isDotless && name.replaceAll('.', '') === local.replaceAll('.', '')
}

/** Where dots in a name mean nothing. */
const dotless = new Set(['gmail.com', 'googlemail.com'])
