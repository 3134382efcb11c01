import { domainToASCII } from 'node:url'
import { domainOf, registrableDomain, registrableDomainOf } from '../mail/address.ts'
import { block24Or48 } from '../mail/ip-blocks.ts'
import { parseIp } from '../mail/ip.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { plainHost, plainLinks } from '../pieces/disguise/plain-link.ts'
import { leadsSomewhere, mostTelling } from '../pieces/links.ts'
import { type Spared, whySpared } from './lists/spare.ts'
import type { Subject, SubjectKind } from './reputation/subject.ts'

const VERIFIED_DOMAINS_MAX = 16

/**
 * Returns the verified domains of a message: those of its valid signatures, and the author's if
 * that is verified too. Includes their parent domains down to the registrable one, because a
 * consumer that enrolled for a domain gets reports for its subdomains too.
 */
export function verifiedDomains({
  headers,
  authentication,
}: Pick<PlainAnalysis, 'headers' | 'authentication'>): string[] {
  if (!authentication) return []
  const signers = authentication.dkim.filter(({ result }) => result === 'pass')
  const author = isAuthorVerified({ authentication })
    ? domainOf(headers.fromAddress ?? '')
    : undefined
  const domains = [...signers.map(({ domain }) => domain), ...(author ? [author] : [])]
  const all = new Set(domains.flatMap((domain) => withParents(domainToASCII(domain.toLowerCase()))))
  return [...all].slice(0, VERIFIED_DOMAINS_MAX)
}

function withParents(domain: string): string[] {
  const top = registrableDomain(domain)
  if (top === undefined || !domain.endsWith(top)) return []
  const below = domain.slice(0, domain.length - top.length).split('.')
  const extra = below.filter((label) => label !== '')
  return extra.map((_, at) => [...extra.slice(at), top].join('.')).concat(top)
}

/**
 * Input for finding subjects. Telephone numbers come from the text, which an analysis does not
 * store.
 */
export type SubjectSource = Pick<
  PlainAnalysis,
  'origin' | 'hops' | 'headers' | 'claims' | 'authentication' | 'links' | 'attachments'
> & { telephones: readonly string[] }

/** Maximum numbers of subjects of a message: in total, of signers, of files, and of links read. */
export const SUBJECTS_MAX = 40
const SIGNERS_MAX = 3
const FILES_MAX = 6
const LINKS_READ_MAX = 20
const DOMAINS_MAX = 8
const HOSTS_MAX = 8
const LINKS_MAX = 6
const TELEPHONES_MAX = 4
/** Maximum length of a link. Longer links identify one recipient. */
const LINK_CHARS_MAX = 200

/**
 * Returns the subjects of a message, the most informative first. Reports of the message are
 * evidence about their reputation. An uncertain origin is not a subject, because the evidence could
 * concern the wrong address. An author counts only if the domain authenticated the message;
 * otherwise it is a claimed author, which says nothing about the real one. Names that millions of
 * people share are not subjects either: otherwise three complaints about mail from a mailbox
 * provider, or with a link to a social network, would affect all other mail from that provider or
 * with that link. The autonomous system is not known from the message alone: `withSystem` adds it.
 */
export function subjectsOf(
  found: SubjectSource,
  { originConfidenceMin }: { originConfidenceMin: number },
): Subject[] {
  const subjects = new Map<string, Subject>()
  const relay = relayOf(found)
  const add = (kind: SubjectKind, name: string | null | undefined) => {
    if (!name || subjects.size >= SUBJECTS_MAX || !isName(name) || isShared(kind, name)) return
    const answers = relay && isOfRelay({ kind, name }, relay) ? { answers: relay.answers } : {}
    subjects.set(`${kind} ${name}`, { kind, name, ...answers })
  }
  const { origin, attachments, telephones } = found
  const address = origin && origin.confidence >= originConfidenceMin && parseIp(origin.ip)
  if (address && !isOfProvider(address.text)) {
    add('address', address.text)
    add('network', block24Or48(address))
  }
  addAuthor(add, found)
  const files = attachments.filter((one) => !isUnspecific(one)).slice(0, FILES_MAX)
  for (const { sha256 } of files) add('file', sha256)
  addLinks(add, found)
  for (const number of telephones.slice(0, TELEPHONES_MAX)) add('phone', number)
  return [...subjects.values()]
}

/**
 * Adds the autonomous system to the subjects, if the origin is certain. `asn` is null when the
 * autonomous system is unknown.
 */
export function withSystem(subjects: readonly Subject[], asn: number | null): readonly Subject[] {
  const address = subjects.find(({ kind }) => kind === 'address')
  if (asn === null || !address) return subjects
  const answers = address.answers === undefined ? {} : { answers: address.answers }
  return [...subjects, { kind: 'autonomous-system', name: `${asn}`, ...answers }]
}

/**
 * Whether the machine of a mailing list, a sending service or a forwarder handed over the message
 * of another author.
 */
export function isRelayed(subjects: readonly Subject[]): boolean {
  return subjects.some(({ answers }) => answers !== undefined)
}

/**
 * A relay that passed on the mail of others: its organization, and the share of bad evidence that
 * counts against it.
 */
type Relay = { organization: string; answers: number }

/**
 * Share of a complaint that counts against a relay if no author is verified, who could answer for
 * the message. It is above 0, because a spammer may pass as a mailing list of his own.
 */
const UNVERIFIED_ANSWERS = 0.25
/** Return paths of forwarders: those of SRS, and that of Gmail. */
const forwardedPath = /^(?:srs[01][=+-]|[^@]{1,64}\+caf_=)/i

/**
 * Returns the relay that handed the message over, if it is the machine of a mailing list, of a
 * sending service or of a forwarder, and the author is of another organization. The reverse DNS
 * name or a verified return path proves that the machine belongs to the list that the message names
 * or to its return path.
 */
function relayOf(found: SubjectSource): Relay | undefined {
  const { origin, hops, headers, claims, authentication } = found
  const spf = authentication?.spf
  const rdns = origin && hops[origin.hop]?.from.rdns?.toLowerCase()
  // Of a message that was traced through a list, SPF passes for the list and not for the origin.
  const isSpfOfOrigin = spf?.result === 'pass' && (!origin || spf.ip === origin.ip)
  const owners = [rdns, isSpfOfOrigin ? spf.domain.toLowerCase() : null]
    .map((name) => registrableDomainOf(name ?? undefined))
    .filter((owner) => owner !== undefined)
  const returnPath = headers.returnPath ?? ''
  const names = [
    claims?.listId,
    forwardedPath.test(returnPath) ? domainOf(returnPath.toLowerCase()) : undefined,
  ]
  const author = registrableDomainOf(claims?.authorDomain ?? undefined)
  const organization = names
    .map((name) => registrableDomainOf(name ?? undefined))
    .find((name) => name !== undefined && name !== author && owners.includes(name))
  if (organization === undefined) return undefined
  return { organization, answers: isAuthorVerified(found) ? 0 : UNVERIFIED_ANSWERS }
}

const machineKinds: ReadonlySet<SubjectKind> = new Set(['address', 'network'])
const domainKinds: ReadonlySet<SubjectKind> = new Set(['signer', 'return-path-domain'])

function isOfRelay({ kind, name }: Subject, { organization }: Relay): boolean {
  if (machineKinds.has(kind)) return true
  return domainKinds.has(kind) && registrableDomainOf(name) === organization
}

/** Whether the author's domain authenticated the message. */
function isAuthorVerified({ authentication }: Pick<PlainAnalysis, 'authentication'>): boolean {
  if (!authentication) return false
  const isSigned = authentication.dkim.some(({ result, aligned }) => result === 'pass' && aligned)
  return isSigned || authentication.dmarc.result === 'pass'
}

/** Whether the origin is a subject. If it is not, its network is not either. */
export function hasSureOrigin(subjects: readonly Subject[]): boolean {
  return subjects.some(({ kind }) => kind === 'address')
}

/** Whether a text can be stored and displayed as a name. */
function isName(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\s]/u.test(text)
}

const hostKinds: ReadonlySet<SubjectKind> = new Set([
  'author-domain',
  'claimed-author-domain',
  'signer',
  'return-path-domain',
  'link-host',
  'link-domain',
])
const shared: ReadonlySet<Spared> = new Set([
  'mailbox provider',
  'public suffix',
  'shared platform',
  'link shortener',
])

/**
 * Whether a host or domain is shared by many people. A complete link is not shared, nor is a host
 * that belongs to one customer.
 */
function isShared(kind: SubjectKind, name: string): boolean {
  if (!hostKinds.has(kind)) return false
  const why = whySpared('hosts', name, [])
  return why !== undefined && shared.has(why)
}

function isOfProvider(address: string): boolean {
  return whySpared('addresses', address, []) === 'mailbox provider'
}

const FILE_BYTES_MIN = 100
const pictureName = /\.(?:bmp|gif|heic|jpe?g|png|tiff?|webp)$/i

/**
 * Whether a file may be in unrelated messages: brands and their impersonators use the same logos,
 * and small files may be equal by chance.
 */
function isUnspecific({ name, type, bytes }: SubjectSource['attachments'][number]): boolean {
  const isPicture = type.startsWith('image/') && !type.startsWith('image/svg')
  return bytes < FILE_BYTES_MIN || (isPicture && (name === null || pictureName.test(name)))
}

type Add = (kind: SubjectKind, name: string | null | undefined) => void

function addAuthor(add: Add, { headers, authentication }: SubjectSource): void {
  const author = headers.fromAddress?.toLowerCase()
  const signers = authentication?.dkim.filter(({ result }) => result === 'pass') ?? []
  const isAuthenticated = isAuthorVerified({ authentication })
  add(isAuthenticated ? 'author' : 'claimed-author', author)
  const domain = domainToASCII((author && domainOf(author)) ?? '')
  add(isAuthenticated ? 'author-domain' : 'claimed-author-domain', domain)
  for (const signer of signers.slice(0, SIGNERS_MAX)) add('signer', signer.domain)
  const spf = authentication?.spf
  if (spf?.result === 'pass') add('return-path-domain', spf.domain.toLowerCase())
}

/**
 * Adds domains before hosts and hosts before links, so that the least informative are dropped at
 * the limit.
 */
function addLinks(add: Add, { links }: SubjectSource): void {
  const distinctLinks = new Map(links.filter(leadsSomewhere).map((link) => [link.url, link]))
  const followed = mostTelling([...distinctLinks.values()], LINKS_READ_MAX)
  const written = followed.map(({ url }) => url)
  const plain = written.flatMap(plainLinks)
  const distinct = (values: readonly (string | null)[], max: number) =>
    [...new Set(values.flatMap((value) => value ?? []))].slice(0, max)
  const domains = plain.map(({ organization }) => organization)
  for (const domain of distinct(domains, DOMAINS_MAX)) add('link-domain', domain)
  const hosts = plain.map(({ host }) => plainHost(host))
  for (const host of distinct(hosts, HOSTS_MAX)) add('link-host', host)
  const whole = plain
    .filter(({ full, host }) => full !== host && full.length <= LINK_CHARS_MAX)
    .map(({ full }) => full)
  for (const link of distinct(whole, LINKS_MAX)) add('link', link)
}
