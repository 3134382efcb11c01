import { domainToASCII } from 'node:url'
import { domainOf, isPublicName, parseMailboxes, registrableDomainOf } from '../mail/address.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { fieldValues, type HeaderField } from '../mail/header.ts'
import { unsubscribeUris } from '../mail/list-unsubscribe.ts'
import { isReadable } from '../evidence/readable.ts'
import { type BodyView, viewBody } from '../pieces/body-view.ts'
import { plainLine } from '../pieces/disguise/plain-text.ts'
import {
  freeMailDomains,
  indexHeader,
  type HeaderIndex,
  type People,
  peopleOf,
} from '../pieces/features/material.ts'
import { disguiseOf } from '../pieces/features/text-features.ts'
import { countWords } from '../pieces/features/word-lists.ts'
import { leadsSomewhere } from '../pieces/links.ts'
import { ownerOf } from './accusable.ts'
import { brandIn, isBrandSite } from './brands.ts'
import type { FoundPage, PageMessage } from './find-pages.ts'
import { findPlatform, type PlatformKind } from './platforms.ts'

/** Something that tells a message with a phishing page from wanted mail, or the opposite. */
export type Sign = { name: SignName; weight: number }

/**
 * The weight of each sign. Positive ones hardly occur in wanted mail; negative ones protect the
 * sites of those who sent the message or received it, and of people who talk to each other.
 */
const weights = {
  /** The author's name is that of a brand, but neither author nor page is; in the subject. */
  brand: 3,
  brandOfSender: 2,
  brandInSubject: 1.5,
  /** The author's domain is that of a brand, and the page is not. */
  brandDomain: 2,
  /** The text of the link is an address of a brand. */
  brandShown: 2.5,
  /** The first words name a brand; no link is of it, and the author is of no brand. */
  brandInText: 1,
  /** The author is a service that sends what strangers enter, and the page is elsewhere. */
  service: 2,
  disguisedName: 3,
  fancyLetters: 2,
  noAuthor: 2,
  noRecipient: 0.5,
  /** Who received the message found no valid signature, nor that the author's domain sent it. */
  unproven: 1,
  /** Without such a proof, to many organizations, or many people at one free mailbox provider. */
  crowd: 1,
  unreadableDate: 1,
  numberHost: 2.5,
  tokenHost: 1,
  tokenPath: 0.5,
  siteInternals: 2,
  cheapDomain: 1,
  affiliate: 1,
  throughOther: 1,
  namesRecipient: 1.5,
  onlyOwner: 1,
  onlyPicture: 1,
  foreign: 1,
  repliesElsewhere: 0.5,
  pressing: 2,
  shortener: 1,
  tracker: 0,
  redirector: 1.5,
  form: 0.5,
  document: 0.5,
  site: 1.5,
  storage: 2,
  app: 2,
  tunnel: 3,
  dns: 2.5,
  messenger: 0.5,
  sender: -2.5,
  namesake: -1.5,
  list: -1,
  answer: -2,
  quotes: -1.5,
  textOnly: -1,
  bulk: -1,
  manyOwners: -1,
} as const satisfies Record<PlatformKind, number> & Record<string, number>

type SignName = keyof typeof weights

/** The score from which the content of a message confirms what its reporters say. */
const SCORE_MIN = 2.5

/** Signs that wanted mail often has, too: they confirm nothing without another one. */
const ordinary: ReadonlySet<SignName> = new Set([
  ...(['foreign', 'onlyOwner', 'tokenPath', 'pressing'] as const),
  ...(['form', 'document', 'tracker', 'messenger', 'unproven'] as const),
])

/** Whether the content of a message confirms that a page of it is a phishing page. */
export function isConfirmed(signs: readonly Sign[]): boolean {
  const weightOf = (sign: SignName) => signs.find(({ name }) => name === sign)?.weight ?? 0
  const isUrgent = weightOf('pressing') + weightOf('unproven') / 2 >= 1
  const isPressing = isUrgent && weightOf('pressing') > 0 && weightOf('onlyOwner') > 0
  const isTold = isPressing || signs.some(({ name, weight }) => weight > 0 && !ordinary.has(name))
  return isTold && signs.reduce((sum, { weight }) => sum + weight, 0) >= SCORE_MIN
}

const brandSigns: ReadonlySet<SignName> = new Set(['brand', 'brandOfSender', 'brandInSubject'])

/** Returns the name of the brand that a message with such signs pretends to come from. */
export function imitatedBrand(
  { fields }: Pick<PageMessage, 'fields'>,
  signs: readonly Sign[],
): string | undefined {
  if (!signs.some(({ name }) => brandSigns.has(name))) return undefined
  const header = indexHeader(fields)
  const isBySubject = signs.some(({ name }) => name === 'brandInSubject')
  return brandIn((isBySubject ? subjectOf(header) : peopleOf(header).author?.name) ?? '')?.name
}

/**
 * Returns the signs that a message and its page carry. They never decide alone: a person of the
 * site or independent reporters must say that the message is phishing.
 */
export function signsOf(message: PageMessage, page: FoundPage): Sign[] {
  const header = indexHeader(message.fields)
  const people = peopleOf(header)
  const view = viewBody(message.body)
  const subject = subjectOf(header)
  const url = new URL(page.url)
  const own = senders(message.fields, people)
  const hasHtml = message.body.html !== ''
  // Who sends by a mailing service can use its redirections for any page.
  const through = page.through.filter((hostname) => !findPlatform({ hostname, pathname: '/-' }))
  const isOfSender = [url.hostname, ...through].some((host) => own.has(siteOf(host)))
  const names: SignName[] = [
    ...signsOfNames(people, subject, { isOfSender, page, hasHtml }),
    ...signsOfPeople(people, url, isOfSender),
    ...signsOfSending(message, people),
    ...signsOfPage(page, url, people),
    ...signsOfText(message, view, url),
    ...when(!isOfSender && namesBrand(message, view, people), 'brandInText'),
    ...signsOfTalk(header, subject, view),
  ]
  const pressing = countPressing(
    `${plainLine(subject)} ${view.shown.line.slice(0, LINE_CHARS_MAX)}`,
  )
  const signs: Sign[] = [...new Set(names)].map((name) => ({ name, weight: weights[name] }))
  if (pressing === 0) return signs
  return [...signs, { name: 'pressing', weight: Math.min(weights.pressing, pressing / 2) }]
}

const SUBJECT_CHARS_MAX = 300
const LINE_CHARS_MAX = 6_000
/** A capital I that is read as an l: no word begins so after small letters. */
const capital = /\p{Ll}{2}I(?:[eiyu]|(?![\p{L}\p{N}]))/u
/** Mathematical letters, and selectors of variants, which names do not need. */
const fancy = /[\u{1D400}-\u{1D7FF}]|[\u{E0100}-\u{E01EF}]/u

function subjectOf(header: HeaderIndex): string {
  return decodeHeaderText(header.value('subject') ?? '').slice(0, SUBJECT_CHARS_MAX)
}

function siteOf(host: string): string {
  return registrableDomainOf(host) ?? host
}

function signsOfNames(
  { author }: People,
  subject: string,
  { isOfSender, page, hasHtml }: { isOfSender: boolean; page: FoundPage; hasHtml: boolean },
): SignName[] {
  const name = author?.name ?? ''
  const own = author?.organization ?? ''
  const named = brandIn(name)
  const inSubject = brandIn(subject)
  const isOther = (brand: typeof named) => brand !== undefined && !brand.domains.includes(own)
  const disguises = [name, subject].map(disguiseOf)
  const disguised = disguises.reduce((sum, one) => sum + one.hidden + one.lookAlikes, 0)
  return [
    ...when(isOther(named), isOfSender ? 'brandOfSender' : 'brand'),
    ...when(!isOther(named) && isOther(inSubject), 'brandInSubject'),
    // Employees of brands write to mailing lists, without HTML.
    ...when(hasHtml && !isOfSender && !freeMailDomains.has(own) && isBrandSite(own), 'brandDomain'),
    ...when(hasHtml && !isOfSender && isService(own), 'service'),
    ...when(page.shown.some(isBrandSite), 'brandShown'),
    ...when(disguised > 1 || [name, subject].some((one) => capital.test(one)), 'disguisedName'),
    ...when(fancy.test(name + subject), 'fancyLetters'),
  ]
}

function signsOfPeople(people: People, { hostname }: URL, isOfSender: boolean): SignName[] {
  const { author, recipient, replyTo } = people
  const isOther = replyTo !== undefined && replyTo.organization !== author?.organization
  const label = labelOf(author?.organization)
  const isNamesake = !isOfSender && label !== '' && labelOf(siteOf(hostname)).includes(label)
  return [
    ...when(!author || !isPublicName(author.domain), 'noAuthor'),
    ...when(recipient === undefined, 'noRecipient'),
    ...when(isOther, 'repliesElsewhere'),
    isOfSender ? 'sender' : 'foreign',
    ...when(isNamesake, 'namesake'),
  ]
}

/** Shorter names occur in others by chance. */
const NAME_CHARS_MIN = 4

function labelOf(domain: string | undefined): string {
  const label = domain?.split('.', 1)[0] ?? ''
  return label.length < NAME_CHARS_MIN ? '' : label
}

const numbers = /^\[|^[\d.]+$|(?:\d{1,3}[.-]){3}\d{1,3}\./
/** Top-level domains that cost next to nothing, as the shipped rules have them, and a few more. */
const cheap = new RegExp(
  `\\.(?:${[
    'autos|bar|beauty|boats|bond|buzz|cam|cfd|click|cyou|digital|fun|hair|help|icu|info|link|live',
    'lol|makeup|mom|monster|motorcycles|online|pics|quest|rest|sbs|shop|site|skin|space|store',
    'today|top|website|win|work|xyz|yachts',
  ].join('|')})$`,
)
/** Parameters of programs that count the clicks of advertisers' partners. */
const affiliate = /[?&](?:aff_id|offer_?id|s1|sub1|clickid)=|[?&]a=\d+&(?:oc=\d+&)?c=\d+/i

function signsOfPage(page: FoundPage, url: URL, { recipient }: People): SignName[] {
  const { platform, scope } = page.accused
  const labels = url.hostname.split('.').slice(0, -2)
  const address = recipient?.address ?? ''
  const forms = [address, encodeURIComponent(address), base64Of(address)]
  return [
    ...when(platform !== undefined, platform?.kind ?? 'site'),
    ...when(!platform && scope === 'path', 'siteInternals'),
    ...when(numbers.test(url.hostname), 'numberHost'),
    ...when(!platform && labels.some((one) => !isReadable(one, 'label')), 'tokenHost'),
    ...when(!platform && url.pathname.split('/').some(isToken), 'tokenPath'),
    ...when(!platform && cheap.test(url.hostname), 'cheapDomain'),
    ...when(affiliate.test(url.search), 'affiliate'),
    ...when(page.through.length > 0, 'throughOther'),
    ...when(address !== '' && forms.some((one) => page.url.includes(one)), 'namesRecipient'),
  ]
}

/** Long segments of a path that are no words. */
const TOKEN_CHARS_MIN = 24

function isToken(segment: string): boolean {
  return segment.length >= TOKEN_CHARS_MIN && !isReadable(segment, 'path')
}

function base64Of(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}

/** Whether a domain is that of a service by which anybody can send a form or a document. */
function isService(domain: string): boolean {
  const kind = findPlatform({ hostname: `-.${domain}`, pathname: '/-' })?.platform.kind
  return kind === 'form' || kind === 'document'
}

/** How many words of a text are its beginning. */
const FIRST_WORDS = 40

/** Whether the first words name a brand; brands write about each other. */
function namesBrand({ links }: PageMessage, { shown }: BodyView, { author }: People): boolean {
  const brand = brandIn(shown.line.slice(0, shown.wordEnds[FIRST_WORDS - 1]))
  if (!brand || isBrandSite(author?.organization ?? '')) return false
  const linked = new Set(links.filter(leadsSomewhere).map(({ domain }) => domain))
  return !brand.domains.some((domain) => linked.has(domain))
}

/** The beginning of a date (RFC 5322 §3.3). */
const writtenDate = /^(?:[a-z]{2,12}\s?,\s{0,3})?\d{1,2}\s+[a-z]{3,9}\s+\d{2,4}\s+\d{1,2}:\d\d/i

function signsOfSending({ fields, body }: PageMessage, { author }: People): SignName[] {
  const values = (key: string) => valuesOf(fields, key)
  const results = values('authentication-results').join(';')
  const isJudged = /\b(?:spf|dkim)=\w/.test(results)
  const isUnproven = isJudged && !isProven(results, author?.organization)
  const hasDate = values('date').every((date) => writtenDate.test(date.trim()))
  return [
    ...when(isUnproven, 'unproven'),
    ...when(isUnproven && body.html !== '' && isCrowd(values('to')), 'crowd'),
    ...when(!hasDate, 'unreadableDate'),
  ]
}

/** Whether `Authentication-Results` (RFC 8601) name a valid signature or the author's own host. */
function isProven(results: string, organization: string | undefined): boolean {
  if (/\bd(?:kim|marc)=pass\b/.test(results)) return true
  const senders = results.matchAll(/\bspf=pass\b[^;]{0,200}?\bsmtp\.mailfrom=([^\s;]+)/g)
  return [...senders].some(([, sender = '']) => {
    return registrableDomainOf(sender.slice(sender.indexOf('@') + 1)) === organization
  })
}

/** From how many recipients, of how many organizations, a message is to a crowd. */
const CROWD_MIN = 5
const ORGANIZATIONS_MIN = 4
const AT_ONE_PROVIDER_MIN = 3

function isCrowd(recipients: readonly string[]): boolean {
  const domains = recipients
    .flatMap(parseMailboxes)
    .map(({ address }) => registrableDomainOf(domainOf(address)?.toLowerCase()) ?? address)
  const organizations = Map.groupBy(domains, (domain) => domain)
  const isOfMany = domains.length >= CROWD_MIN && organizations.size >= ORGANIZATIONS_MIN
  return [...organizations].some(([domain, { length }]) => {
    return isOfMany || (freeMailDomains.has(domain) && length >= AT_ONE_PROVIDER_MIN)
  })
}

/** How many owners of links a mailing with much other content has. */
const MANY_OWNERS = 5
const FEW_WORDS = 12

function signsOfText({ body, links }: PageMessage, view: BodyView, { hostname }: URL): SignName[] {
  const owners = new Set(links.filter(leadsSomewhere).map(({ host }) => ownerOf(host)))
  const hasHtml = body.html !== ''
  return [
    ...when(hasHtml && view.shown.wordEnds.length < FEW_WORDS, 'onlyPicture'),
    ...when(!hasHtml, 'textOnly'),
    ...when(owners.size === 1 && owners.has(ownerOf(hostname)), 'onlyOwner'),
    ...when(owners.size >= MANY_OWNERS, 'manyOwners'),
  ]
}

function signsOfTalk(header: HeaderIndex, subject: string, { written }: BodyView): SignName[] {
  const has = (key: string) => header.value(key) !== undefined
  const isList =
    has('list-post') || has('list-id') || /list/i.test(header.value('precedence') ?? '')
  const quotes = [...written.matchAll(/^>/gm).take(2)].length > 1
  const isReply = /^\s*(?:re|aw|sv|antw|res|rv)\s*:/i.test(subject)
  return [
    ...when(isList, 'list'),
    ...when(has('in-reply-to') && (isReply || quotes), 'answer'),
    ...when(quotes, 'quotes'),
    ...when(has('list-unsubscribe'), 'bulk'),
  ]
}

function countPressing(line: string): number {
  const { kinds } = countWords(line)
  return kinds.credential + kinds.threat + kinds.prize + kinds.urgency
}

function when(isSo: boolean, name: SignName): SignName[] {
  return isSo ? [name] : []
}

const FIELD_CHARS_MAX = 4_000
/** Maximum number of fields with the same name that are read, and length of a list's name. */
const FIELDS_MAX = 10
const LIST_CHARS_MAX = 300

/**
 * The registrable domains of those who claim to have sent the message, and of its recipients: in
 * mailing lists, both are the same. Free mailbox providers do not count.
 */
function senders(fields: readonly HeaderField[], people: People): ReadonlySet<string> {
  const values = (key: string) => valuesOf(fields, key)
  const domains = [
    people.author?.domain,
    people.returnPathOrganization,
    ...values('dkim-signature').map((value) => /(?:^|[;\s])d=\s*([^;\s]+)/.exec(value)?.[1]),
    ...values('list-id').map((value) => {
      return /<?([^<>\s]+)>?\s*$/.exec(value.slice(-LIST_CHARS_MAX))?.[1]
    }),
    ...values('message-id').map((value) => domainOf(value.replace(/>.*/s, ''))),
    ...unsubscribeUris(fields).map((uri) => {
      return URL.parse(uri)?.hostname || domainOf(uri.replace(/\?.*/s, ''))
    }),
    ...['to', 'cc'].flatMap((key) =>
      values(key).flatMap((value) => parseMailboxes(value).map(({ address }) => domainOf(address))),
    ),
  ]
  return new Set(
    domains.flatMap((domain) => {
      const site = registrableDomainOf(domain && domainToASCII(domain.toLowerCase()))
      return site === undefined || freeMailDomains.has(site) ? [] : [site]
    }),
  )
}

function valuesOf(fields: readonly HeaderField[], key: string): string[] {
  return fieldValues(fields, key)
    .slice(0, FIELDS_MAX)
    .map((value) => value.slice(0, FIELD_CHARS_MAX))
}
