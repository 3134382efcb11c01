import { getDomain, parse } from 'tldts'
import { characterSet } from './text.ts'

const hostCharsMax = 253
const domains = new Map<string, string | undefined>()
const domainsMax = 2000

/**
 * The domain its owner registered: what stands directly under a public suffix, private suffixes
 * not counted (publicsuffix.org, ICANN section). Undefined for addresses, single labels and what
 * is no host name. `host` in any case, a final dot forgiven.
 */
export function registrableDomain(host: string): string | undefined {
  if (host.length > hostCharsMax || !host.includes('.')) return undefined
  const known = domains.get(host)
  if (known !== undefined || domains.has(host)) return known
  const domain = getDomain(host, { allowPrivateDomains: false }) ?? undefined
  if (domains.size >= domainsMax) domains.clear()
  domains.set(host, domain)
  return domain
}

/** A host's house: its registrable domain, where there is a host and it has one. */
export function registrableDomainOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : registrableDomain(host)
}

/**
 * Whether a host name, in lower case, is one that anybody on the Internet may have: its last label
 * is a public top level domain, and something is registered below the public suffix. A final dot
 * makes it none.
 */
export function isPublicName(host: string): boolean {
  return publicDomain(host) !== undefined
}

/** What is registered in such a name. */
export function publicDomain(host: string): string | undefined {
  if (host.length > hostCharsMax || host.endsWith('.')) return undefined
  const { domain, isIcann } = parse(host, { allowPrivateDomains: false })
  return isIcann === true ? (domain ?? undefined) : undefined
}

/**
 * Whether a host name, in lower case, is one below which strangers to each other have theirs: a
 * public suffix, private ones counted (publicsuffix.org, both sections).
 */
export function isSharedSuffix(host: string): boolean {
  return host.length <= hostCharsMax && parse(host, { allowPrivateDomains: true }).domain === null
}

const lettersAndDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const localLetters = characterSet(`${lettersAndDigits}.!#$%&'*+/=?^_\`{|}~-`)
const domainLetters = characterSet(`${lettersAndDigits}.-`)
const localCharsMax = 256
const domainCharsMax = 253

/**
 * The text with the part before the `@` of each address in it replaced (RFC 5322 §3.2.3, dots
 * anywhere). Looks for the signs and from there to both sides: linear.
 */
export function replaceMailboxes(
  text: string,
  replace: (local: string, domain: string) => string,
): string {
  let result = ''
  let done = 0
  for (let sign = text.indexOf('@'); sign >= 0; sign = text.indexOf('@', sign + 1)) {
    let start = sign
    while (start > 0 && localLetters[text.charCodeAt(start - 1)] === 1) start--
    if (start === sign || sign - start > localCharsMax || start < done) continue
    const most = Math.min(text.length, sign + 1 + domainCharsMax)
    let end = sign + 1
    while (end < most && domainLetters[text.charCodeAt(end)] === 1) end++
    if (end === sign + 1) continue
    result += text.slice(done, start) + replace(text.slice(start, sign), text.slice(sign + 1, end))
    result += text.slice(sign, end)
    done = end
  }
  return done === 0 ? text : result + text.slice(done)
}

/** One mailbox of an address list (RFC 5322 §3.4). */
export type Mailbox = { name: string; address: string }

const listCharsMax = 16 * 1024
const mailboxesMax = 50

/**
 * Reads an address list as mail has it: display names quoted or not, comments, groups, bare
 * addresses. An entry without an `@` has an empty address. At most 50 entries of the first
 * 16,384 characters; linear; never throws.
 */
export function parseMailboxes(value: string): Mailbox[] {
  const mailboxes: Mailbox[] = []
  for (const entry of splitEntries(value.slice(0, listCharsMax))) {
    const mailbox = readEntry(entry)
    if (mailbox) mailboxes.push(mailbox)
    if (mailboxes.length >= mailboxesMax) break
  }
  return mailboxes
}

/** The domain of an address in lower case, without a final dot; undefined when it has none. */
export function domainOf(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  if (at < 0) return undefined
  const domain = address.slice(at + 1).toLowerCase()
  const bare = domain.endsWith('.') ? domain.slice(0, -1) : domain
  return bare === '' ? undefined : bare
}

type Entry = { words: string; angle: string | undefined; comment: string }

/** Cuts a list at its commas, colons of groups and semicolons, outside of quotes and brackets. */
function splitEntries(value: string): Entry[] {
  const entries: Entry[] = []
  let entry: Entry = { words: '', angle: undefined, comment: '' }
  let at = 0
  const cut = () => {
    entries.push(entry)
    entry = { words: '', angle: undefined, comment: '' }
  }
  while (at < value.length) {
    const char = value[at] ?? ''
    const end = closingOf(char, value, at)
    if (end !== undefined) {
      const inner = value.slice(at + 1, end)
      if (char === '<') entry.angle ??= inner
      else if (char === '(') entry.comment += inner
      else entry.words += unescapeQuoted(inner)
      at = end + 1
      continue
    }
    let next = at + 1
    if (char === ',' || char === ';') cut()
    else if (char === ':' && entry.angle === undefined) {
      entry = { words: '', angle: undefined, comment: '' }
    } else {
      while (next < value.length && !isSign(value.charCodeAt(next))) next++
      entry.words += value.slice(at, next)
    }
    at = next
  }
  cut()
  return entries
}

/** One of `"(,:;<`, which may end a run of ordinary characters. */
function isSign(code: number): boolean {
  return (
    code === 0x22 ||
    code === 0x28 ||
    code === 0x2c ||
    code === 0x3a ||
    code === 0x3b ||
    code === 0x3c
  )
}

/** Where what opens here closes; an unclosed quote or bracket is an ordinary character. */
function closingOf(char: string, value: string, open: number): number | undefined {
  const closing = char === '"' ? '"' : char === '<' ? '>' : char === '(' ? ')' : undefined
  if (closing === undefined) return undefined
  const limit = Math.min(value.length, open + 1000)
  for (let at = open + 1; at < limit; at++) {
    if (value[at] === '\\' && char !== '<') at++
    else if (value[at] === closing) return at
  }
  return undefined
}

function readEntry({ words, angle, comment }: Entry): Mailbox | undefined {
  const text = words.trim()
  if (angle !== undefined) return { name: text, address: angle.trim() }
  if (text === '' && comment === '') return undefined
  if (!text.includes('@')) return { name: text, address: '' }
  const pieces = text.split(/\s+/)
  const address = pieces.findLast((piece) => piece.includes('@')) ?? ''
  const name = pieces.filter((piece) => piece !== address).join(' ')
  return { name: name === '' ? comment : name, address }
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\(.)/gs, '$1')
}
