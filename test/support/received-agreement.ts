import { parseIp } from '../../src/mail/ip.ts'
import { parseReceived, type ReceivedField } from '../../src/mail/received.ts'
import { canonical, type ReceivedCase, said, type SpamAssassinRelay } from './received-cases.ts'

/**
 * Our value and theirs. Undefined instead of a pair means that the case does not state the value.
 */
type Pair = readonly [ours: string | undefined, theirs: string | undefined] | undefined

type Pairs = Record<string, Pair>
type Expected = Record<string, unknown>

/** The number of compared fields of a case, and our differences as sentences. */
export type Comparison = { compared: number; differing: string[] }

/** Parses the line of a case and compares every field that the case states and that we parse. */
export function compareCase({ suite, raw = '', expected }: ReceivedCase): Comparison {
  const field = parseReceived(raw.replaceAll(/\r?\n[ \t]*/g, ' ').trim())
  switch (suite) {
    case 'stalwart':
      return compare(stalwart(field, expected))
    case 'mail-parser':
      return compare(mailParser(field, expected))
    case 'rspamd-doctest':
      return compare(rspamd(field, expected))
    case 'ruby-mail':
      return compare(rubyMail(field, expected))
    case 'zbateson':
      return compare(zbateson(field, expected))
    case 'zbateson-from-clause':
      return compare(fromClause(parseReceived(`from ${raw} by mx.example.net`), expected))
    default:
      return spamAssassin(field, expected)
  }
}

/**
 * Compares SpamAssassin's result for one line with ours. Its conventions: a literal HELO is between
 * exclamation marks; a line's only name is both the HELO and the reverse name; a HELO that repeats
 * the address is dropped; an address is not a name; and with web mail only the address is kept.
 */
export function compareRelay(relay: SpamAssassinRelay, field: ReceivedField | undefined) {
  const { from, by } = field ?? {}
  const helo = said(relay.helo.replace(/^!(.*)!$/, '[$1]'))
  const rdns = parseIp(relay.rdns) ? undefined : said(relay.rdns)
  const ourRdns = from?.rdns ?? from?.unprovenRdns
  const isRepeated = from?.ip !== undefined && canonical(helo ?? from.helo) === from.ip
  const isLone = helo !== undefined && helo === rdns && (!from?.helo || !ourRdns)
  const isWeb = relay.auth === 'HTTP' && rdns === undefined
  return compare({
    ip: [from?.ip, canonical(said(relay.ip))],
    helo: isRepeated ? undefined : [isLone ? (from?.helo ?? ourRdns) : from?.helo, helo],
    rdns: isLone || isWeb ? undefined : [ourRdns, rdns],
    by: [canonical(by?.host ?? by?.ip), canonical(said(relay.by))],
    id: [field?.id, said(relay.id)],
    ident: [from?.ident, said(relay.ident)],
    envfrom: [said(field?.envelopeFrom), said(relay.envfrom)],
    auth: [field?.auth, said(relay.auth)],
  })
}

/**
 * Compares a line with SpamAssassin's expected result. Its `ignore` means a line that names no peer
 * on the network, or fetched mail.
 */
function spamAssassin(field: ReceivedField | undefined, expected: Expected): Comparison {
  if (expected['outcome'] === 'unparseable') return { compared: 0, differing: [] }
  if (expected['outcome'] === 'relay') {
    return compareRelay(expected['relay'] as SpamAssassinRelay, field)
  }
  const isFetched = /^(imap|pop3)/i.test(field?.with ?? '')
  return compare({ peer: [isFetched ? undefined : field?.from?.ip, undefined] })
}

const nobody = ['unknown', 'nodnsquery', 'no.name.available']

/**
 * Pairs our values with those of a case of stalwart. There, `from` is the first word, regardless of
 * its meaning; `ident` is any user's name; only a word of `via` is kept; unknown protocols and
 * dates are omitted.
 */
function stalwart(field: ReceivedField | undefined, expected: Expected): Pairs {
  const { from, by } = field ?? {}
  const [first, helo] = [hostOf(expected['from']), hostOf(expected['helo'])]
  const ours = [from?.helo, from?.rdns, from?.unprovenRdns, from?.ip].map(canonical)
  const user = said(expected['ident'])?.split('@')[0]
  const ourUser = (from?.ident ?? from?.account)?.split('@')[0]
  const recipient = said(expected['for_'])
  return {
    from: pair(
      ours.find((name) => same(name, first)) ?? ours[0],
      nobody.includes(first ?? '') ? '' : first,
    ),
    helo: pair(canonical(from?.helo), helo),
    ip: pair(from?.ip, canonical(said(expected['from_ip']))),
    rdns: pair(from?.rdns ?? from?.unprovenRdns, said(expected['from_iprev'])?.replace(/\.$/, '')),
    by: [canonical(by?.host ?? by?.ip), hostOf(expected['by'])],
    with: pair(
      partOf(field?.with?.replace('-TLS', 'S'), said(expected['with'])),
      said(expected['with']),
    ),
    via: pair(field?.via?.split(' ')[0], said(expected['via'])),
    id: [field?.id, said(expected['id'])],
    for:
      recipient === undefined && !field?.for?.includes('@') ? undefined : [field?.for, recipient],
    ident: pair(ourUser, user),
    date: pair(field?.at?.toISOString(), instantOf(expected['date'])),
  }
}

function mailParser(field: ReceivedField | undefined, expected: Expected): Pairs {
  if (expected['must_fail'] === true) return { read: [field && 'yes', undefined] }
  const assertions = expected['assertions'] as { op: string; field: string; value?: string }[]
  const pairs = assertions.map(({ op, field: name, value }): [string, Pair] => {
    const ours = mailParserField(field, name)
    if (value === undefined) return [`${op} ${name}`, [ours && 'yes', 'yes']]
    if (name === 'date') return [name, [ours?.slice(0, 10), dayOf(value)]]
    const theirs = value.replaceAll(/[<>]/g, '')
    return [`${op} ${name}`, [op === 'contains' ? partOf(ours, theirs) : ours, theirs]]
  })
  return Object.fromEntries(pairs)
}

function mailParserField(field: ReceivedField | undefined, name: string): string | undefined {
  if (name === 'from') return field?.from?.helo ?? field?.from?.rdns
  if (name === 'by') return field?.by.host
  if (name === 'envelope_from') return field?.envelopeFrom
  if (name === 'date') return field?.at?.toISOString()
  return field?.[name as 'with' | 'via' | 'id' | 'for']
}

/**
 * Pairs our values with those of a case of rspamd. There, `from_hostname` is the first word without
 * its brackets.
 */
function rspamd(field: ReceivedField | undefined, expected: Expected): Pairs {
  const map = expected['exact_map'] as Record<string, string>
  const { from, by } = field ?? {}
  const names = [from?.helo, from?.rdns, from?.ip].map(canonical)
  return {
    ip: pair(from?.ip, map['real_ip']),
    rdns: pair(from?.rdns, map['real_hostname']),
    from: pair(
      names.find((name) => same(name, map['from_hostname'])),
      map['from_hostname'],
    ),
    by: pair(by?.host, map['by_hostname']),
    for: pair(field?.for, map['for_mbox']?.replaceAll(/[<>]/g, '')),
  }
}

function rubyMail(field: ReceivedField | undefined, expected: Expected): Pairs {
  const read: Pair = [field && 'yes', 'yes']
  if (!('date' in expected)) return { read }
  const date = said(expected['date'])
  return { read, date: [field?.at?.toISOString(), date && new Date(date).toISOString()] }
}

/**
 * Pairs our values with those of a case of zbateson. There, `byHostname` is a name in a comment of
 * the by clause, which we do not keep.
 */
function zbateson(field: ReceivedField | undefined, expected: Expected): Pairs {
  const { from, by } = field ?? {}
  const date = said(expected['date'])
  return {
    fromName: [from?.helo, said(expected['fromName'])],
    fromHostname: [from?.rdns, said(expected['fromHostname'])],
    fromAddress: [from?.ip, said(expected['fromAddress'])],
    byName: [by?.host, said(expected['byName'])],
    byAddress: [by?.ip, said(expected['byAddress'])],
    with: pair(field?.with, said(expected['with'])),
    id: pair(field?.id, said(expected['id'])),
    for: [field?.for, said(expected['for'])],
    date: [field?.at?.toISOString(), date && new Date(date).toISOString()],
  }
}

function fromClause(field: ReceivedField | undefined, expected: Expected): Pairs {
  const from = field?.from
  return {
    ehlo: [from?.helo, said(expected['ehlo'])],
    hostname: [from?.rdns ?? from?.unprovenRdns, said(expected['hostname'])],
    address: [from?.ip, canonical(said(expected['address']))],
  }
}

function compare(pairs: Pairs): Comparison {
  const asserted = Object.entries(pairs).flatMap(([name, both]) => (both ? [{ name, both }] : []))
  return {
    compared: asserted.length,
    differing: asserted
      .filter(({ both: [ours, theirs] }) => !same(ours, theirs))
      .map(({ name, both }) => `${name}: ${both.map((text) => text ?? 'nothing').join(', not ')}`),
  }
}

/** Returns a pair if the case gives a value. */
function pair(ours: string | undefined, theirs: string | undefined): Pair {
  return said(theirs) === undefined ? undefined : [ours, theirs]
}

function same(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase()
}

/** Returns the part itself if the text contains it, otherwise the text. */
function partOf(text: string | undefined, part: string | undefined): string | undefined {
  return part && text?.toLowerCase().includes(part.toLowerCase()) ? part : text
}

function hostOf(host: unknown): string | undefined {
  const { Name, IpAddr } = (host ?? {}) as { Name?: string; IpAddr?: string }
  return Name ?? canonical(IpAddr)
}

function dayOf(text: string): string {
  return new Date(`${text} UTC`).toISOString().slice(0, 10)
}

function instantOf(date: unknown): string | undefined {
  if (!date) return undefined
  type Clock = Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>
  const at = date as Clock & { tz_before_gmt: boolean; tz_hour: number; tz_minute: number }
  const local = Date.UTC(at.year, at.month - 1, at.day, at.hour, at.minute, at.second)
  const east = (at.tz_before_gmt ? -1 : 1) * (at.tz_hour * 60 + at.tz_minute)
  return new Date(local - east * 60_000).toISOString()
}
