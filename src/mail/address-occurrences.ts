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
      const before = localBefore(text, at, names)
      if (before) found.push({ start: before.start, end, address: `${before.local}@${domain}` })
      else if (/^[=!%]/.test(text.slice(end, end + 1))) {
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
  return findNames ? inOrder([...findNames(text)]) : []
}

function inOrder(found: Found[]): Found[] {
  return found.sort((one, other) => one.start - other.start || other.end - one.end)
}

function localBefore(text: string, domainAt: number, names: readonly string[]) {
  const word = wordSign.exec(text.slice(Math.max(0, domainAt - 8), domainAt))?.[0].length
  const signLengths = signs.has(text.charAt(domainAt - 1)) ? [1] : []
  if (word !== undefined) signLengths.push(word)
  for (const signLength of signLengths) {
    const end = domainAt - signLength
    const local = names.find((name) => text.startsWith(name, end - name.length))
    if (local !== undefined && end >= local.length) return { local, start: end - local.length }
  }
  return undefined
}
