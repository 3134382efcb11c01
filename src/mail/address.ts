import { getDomain, parse } from 'tldts'
import { remembered } from './text.ts'

const hostCharsMax = 253
/** The registrable domain of a host; undefined for a host without one. */
const knownDomain = remembered(
  (host) => getDomain(host, { allowPrivateDomains: false }) || undefined,
  { max: 2000, charsMax: hostCharsMax },
)

/**
 * The registrable domain of a host: a public suffix plus one label, private suffixes not counted
 * (publicsuffix.org, ICANN section). Undefined for IP addresses, single labels and anything that is
 * not a host name. Accepts any case and a final dot.
 */
export function registrableDomain(host: string): string | undefined {
  if (host.length > hostCharsMax || !host.includes('.')) return undefined
  return knownDomain(host)
}

/** Like `registrableDomain`; undefined also for an undefined host. */
export function registrableDomainOf(host: string | undefined): string | undefined {
  return host === undefined ? undefined : registrableDomain(host)
}

/**
 * Whether a host name, in lower case, can be registered by anybody on the Internet: its last label
 * is a public top-level domain, and there is a label before the public suffix. False for a name
 * with a final dot.
 */
export function isPublicName(host: string): boolean {
  return publicDomain(host) !== undefined
}

/** The registrable domain of a public name (see `isPublicName`); undefined for any other. */
export function publicDomain(host: string): string | undefined {
  return host.length > hostCharsMax || host.endsWith('.') ? undefined : knownPublicDomain(host)
}

const knownPublicDomain = remembered(
  (host) => {
    const { domain, isIcann } = parse(host, { allowPrivateDomains: false })
    return isIcann === true ? (domain ?? undefined) : undefined
  },
  { max: 2000, charsMax: hostCharsMax },
)

/**
 * Like `publicDomain`, but of a name below a suffix of a service, such as `shop.blogspot.com`, the
 * part that belongs to a customer of the service.
 */
export function customersDomain(host: string): string | undefined {
  return publicDomain(host) === undefined ? undefined : knownCustomers(host)
}

const knownCustomers = remembered(
  (host) => getDomain(host, { allowPrivateDomains: true }) ?? undefined,
  { max: 2000, charsMax: hostCharsMax },
)

/**
 * Whether a host name (in lower case) is a public suffix, below which unrelated parties have names.
 * Private suffixes count (publicsuffix.org, both sections).
 */
export function isSharedSuffix(host: string): boolean {
  return host.length <= hostCharsMax && parse(host, { allowPrivateDomains: true }).domain === null
}

/** One mailbox of an address list (RFC 5322 §3.4). */
export type Mailbox = { name: string; address: string }

const listCharsMax = 16 * 1024
const mailboxesMax = 50

/**
 * Parses an address list of a mail header: quoted and unquoted display names, comments, groups,
 * bare addresses. An entry without an `@` has an empty address. Reads at most 50 entries of the
 * first 16,384 characters; linear; never throws.
 */
export function parseMailboxes(value: string): readonly Mailbox[] {
  return knownMailboxes(value)
}

/** Like `parseMailboxes`, but reads every entry of the value. */
export function parseAllMailboxes(value: string): readonly Mailbox[] {
  const first = knownMailboxes(value)
  const isWhole = value.length <= listCharsMax && first.length < mailboxesMax
  return isWhole ? first : readMailboxes(value, value.length)
}

/** Several parts of the analysis read the same few address lists. */
const knownMailboxes = remembered(
  (value) => readMailboxes(value.slice(0, listCharsMax), mailboxesMax),
  { max: 50, charsMax: 2000 },
)

function readMailboxes(value: string, max: number): Mailbox[] {
  const mailboxes: Mailbox[] = []
  for (const entry of splitEntries(value)) {
    const mailbox = readEntry(entry)
    if (mailbox) mailboxes.push(mailbox)
    if (mailboxes.length >= max) break
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

/** Splits a list at commas, semicolons and the colons of groups, outside of quotes and brackets. */
function splitEntries(value: string): Entry[] {
  const entries: Entry[] = []
  let entry: Entry = { words: '', angle: undefined, comment: '' }
  let at = 0
  const closingOf = createClosingSearch(value)
  const cut = () => {
    entries.push(entry)
    entry = { words: '', angle: undefined, comment: '' }
  }
  while (at < value.length) {
    const char = value[at] ?? ''
    const end = closingOf(char, at)
    if (end !== undefined) {
      const inner = value.slice(at + 1, end)
      if (char === '<') entry.angle ??= inner
      else if (char === '(') entry.comment += inner
      else entry.words += inner.replace(/\\(.)/gs, '$1')
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

/** Whether a character is one of `"(,:;<`, which may end a run of ordinary characters. */
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

const quotedCharsMax = 1000

/**
 * Creates a search for the position where a quote or bracket closes. The search returns undefined
 * when the quote or bracket does not close: then it is an ordinary character. Reads the text only
 * once if positions never decrease.
 */
function createClosingSearch(value: string) {
  const known: Record<string, number> = {}
  return (char: string, open: number): number | undefined => {
    const closing = char === '"' ? '"' : char === '<' ? '>' : char === '(' ? ')' : undefined
    if (closing === undefined) return undefined
    let at = known[closing] ?? 0
    if (at <= open) {
      at = open + 1
      while (at < value.length && value[at] !== closing) {
        at += value[at] === '\\' && char !== '<' ? 2 : 1
      }
      known[closing] = at
    }
    return at < Math.min(value.length, open + quotedCharsMax) ? at : undefined
  }
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
