import { domainToASCII, domainToUnicode } from 'node:url'
import {
  domainOf,
  type Mailbox,
  parseAllMailboxes,
  registrableDomain,
  registrableDomainOf,
} from '../mail/address.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import type { HeaderField } from '../mail/header.ts'
import { remembered } from '../mail/text.ts'
import { freeMailDomains } from '../pieces/features/material.ts'
import { mailboxFields, recipientFields } from './field-names.ts'
import { createFinder, type Finder, type Needle } from './find-needles.ts'
import { commonNames, sharedNames } from './common-names.ts'
import { plainOf } from './skeleton.ts'

/** What may not leave: everything by which the reporter of one message can be recognized. */
export type Identity = {
  /** Returns where a text names a person, in order, without overlaps. */
  find: Finder
  /** Whether an address is one of a recipient. */
  isOwn: (address: string) => boolean
  /** Whether a host belongs to a domain of the reporter that few people share. */
  isOwnHost: (host: string) => boolean
  /** The address that stands for the reporter. */
  recipient: string | undefined
}

/** Maximum number of addresses written by the provider that count as the reporter's own. */
const DELIVERED_MAX = 10
/** Of more recipients that the sender claims, only the addresses are searched. */
const CLAIMED_MAX = 20
/** Maximum number of recipients that are searched. */
const PEOPLE_MAX = 1_000

/** What is known of the reporter besides the header of the message. */
export type KnownReporter = {
  addresses: readonly string[]
  names?: readonly string[]
  userNames?: readonly string[]
  telephones?: readonly string[]
  /** Verified authors, who are not recipients even if To repeats them. */
  authors?: readonly string[]
  /** How many Received fields servers of the reporter's side wrote; all if absent. */
  ours?: number
}

/**
 * Creates the identity from the reporter's addresses and the header of the message: the addresses
 * to which it was delivered, and those in To and Cc. Only the reporter's side knows the domain: the
 * sender could name any other to hide it.
 */
export function createIdentity(fields: readonly HeaderField[], given: KnownReporter): Identity {
  const verified = new Set(given.authors?.map((address) => address.toLowerCase()))
  const { delivered, claimed: named } = recipientsIn(fields, given.ours)
  const proven = new Set(distinct([...given.addresses, ...delivered]))
  const claimed = named.filter((address) => !verified.has(address.toLowerCase()))
  const few = claimed.length <= CLAIMED_MAX ? claimed : []
  const own = distinct([...given.addresses, ...delivered.slice(0, DELIVERED_MAX), ...few])
  const others = distinct([...delivered, ...claimed]).slice(0, PEOPLE_MAX)
  const everybody = new Set([...own, ...others].map(untagged))
  const domains = ownDomains([...given.addresses, ...delivered.slice(0, DELIVERED_MAX)])
  const claimedDomains = ownDomains(few).difference(domains).difference(senderDomains(fields))
  const provenMailboxes = new Set([...proven].map(untagged))
  const needles = [
    ...own.filter((one) => proven.has(one)).flatMap(provenNeedles),
    ...distinct([...own, ...others])
      .filter((one) => !proven.has(one))
      .flatMap(claimedNeedles),
    ...namesOf(fields, own).flatMap((name) => nameNeedles(name, provenMailboxes.has(name.owner))),
    ...knownNeedles(given),
    ...[...domains, ...claimedDomains].flatMap(domainNeedlesOf),
  ]
  const isOwnHost = (host: string) => {
    const lower = host.toLowerCase()
    return domains.has(registrableDomain(lower) ?? lower)
  }
  return {
    find: createFinder(needles),
    isOwn: (address) => everybody.has(untagged(address)),
    isOwnHost,
    recipient: delivered[0] ?? given.addresses[0],
  }
}

/**
 * Returns the recipients that the reporter's side wrote, in the fields above the hand-over, and
 * those that the sender claims.
 */
export function recipientsIn(
  fields: readonly HeaderField[],
  ours = Infinity,
): { delivered: string[]; claimed: string[] } {
  const delivered: string[] = []
  const claimed: string[] = []
  let received = 0
  for (const { key, raw, value } of fields) {
    if (key === 'received') {
      received++
      const its = received <= ours ? delivered : claimed
      // Most have no address, and reading a value takes time.
      const text = raw.includes('@') ? ` ${value}` : ''
      for (const [, address = ''] of text.matchAll(forClause)) its.push(address)
    } else if (mailboxFields.has(key)) {
      const its = received < ours ? delivered : claimed
      its.push(...addressesIn(decodeHeaderText(value.slice(0, FIELD_CHARS_MAX))))
    } else if (recipientFields.has(key)) {
      claimed.push(...addressesIn(decodeHeaderText(value.slice(0, FIELD_CHARS_MAX))))
    }
  }
  return { delivered, claimed }
}

const FIELD_CHARS_MAX = 64 * 1024
const forClause = /\sfor\s+<?((?:"[^"]{1,126}"|[^\s<>;()]{1,128})@[^\s<>;()]{1,253})/gi
const addressInText =
  /(?:"[^"@]{1,126}"|(?<![^\s<>,;:"()[\]@])[^\s<>,;:"()[\]@]{1,128})@[\p{L}\p{N}.-]{1,253}/gu

/** Returns the strings in a text that look like addresses. */
export function addressesIn(text: string): string[] {
  if (!text.includes('@')) return []
  return (text.match(addressInText) ?? []).map((address) => unquoted(address.replace(/^'+/, '')))
}

/** An address without the quotes of its mailbox name (RFC 5322 §3.4.1); a dot for each blank. */
function unquoted(address: string): string {
  if (!address.startsWith('"')) return address
  const end = address.lastIndexOf('"')
  return address.slice(1, end).replaceAll('\\', '').replace(/\s+/g, '.') + address.slice(end + 1)
}

function distinct(addresses: readonly string[]): string[] {
  return [...new Set(addresses.map((address) => unquoted(address.trim().toLowerCase())))]
}

/** Domains of Google, whose mailbox names ignore dots. */
const google = /@g(?:oogle)?mail\.com$/

/** The address of the mailbox, in lower case: without a tag, and without dots that mean nothing. */
export function untagged(address: string): string {
  const lower = unquoted(address.trim().toLowerCase())
  const at = lower.lastIndexOf('@')
  const local = lower.slice(0, at).replace(/(?<=.)\+.*$/, '')
  if (!google.test(lower)) return local + lower.slice(at)
  return `${local.replaceAll('.', '')}@gmail.com`
}

/** Providers of mailboxes that have a domain in each country. */
const inManyCountries = /^(?:hotmail|outlook|live|yahoo|ymail|gmx|msn|aol|protonmail)\.[a-z.]{2,6}$/

export function isMailboxProvider(domain: string): boolean {
  return freeMailDomains.has(domain) || inManyCountries.test(domain)
}

/** The registrable domains of addresses, except those of providers of mailboxes. */
function ownDomains(own: readonly string[]): Set<string> {
  const domains = own.flatMap((address) => {
    const domain = domainOf(address)
    const registrable = registrableDomainOf(domain)
    if (domain === undefined || registrable === undefined) return []
    return isMailboxProvider(domain) || isMailboxProvider(registrable) ? [] : [registrable]
  })
  return new Set(domains)
}

/** The domains that the sender names as its own: they are the evidence. */
function senderDomains(fields: readonly HeaderField[]): Set<string> {
  const keys = new Set(['from', 'sender', 'reply-to', 'return-path'])
  const addresses = fields
    .filter(({ key }) => keys.has(key))
    .flatMap(({ value }) => addressesIn(value.slice(0, FIELD_CHARS_MAX).toLowerCase()))
  return new Set(addresses.flatMap((address) => registrableDomainOf(domainOf(address)) ?? []))
}

/** What the account knows of the reporter. */
function knownNeedles({ addresses, names = [], userNames = [], telephones = [] }: KnownReporter) {
  const owner = untagged(addresses[0] ?? '')
  return [
    ...names.flatMap((name) => nameNeedles({ words: wordsOf(name), owner }, true)),
    ...userNames.flatMap((name) => localNeedles(name.toLowerCase(), owner)),
    ...telephones.flatMap((number) => telephoneNeedles(number, owner)),
  ]
}

const NATIONAL_DIGITS_MIN = 8

/** A telephone number with and without the country's code, which has up to three digits. */
function telephoneNeedles(number: string, owner: string): Needle[] {
  const digits = number.replace(/\D+/g, '').replace(/^00?/, '')
  const tails = [0, 1, 2, 3].map((code) => digits.slice(code))
  return tails
    .filter(({ length }) => length >= NATIONAL_DIGITS_MIN)
    .map((text) => ({ text, owner, rule: 'anywhere' }))
}

function formsOfDomain(domain: string): string[] {
  if (/^[a-z\d.-]+$/.test(domain) && !domain.includes('xn--')) return [domain]
  const forms = new Set([domain, domainToUnicode(domain), domainToASCII(domain)])
  return [...forms].filter((form) => form !== '')
}

/** Shorter needles count as words only: their letters may occur anywhere by chance. */
const ANYWHERE_MIN = 9

function needle(text: string, owner: string, single?: 'name' | 'capital'): Needle[] {
  const plain = plainOf(text)
  if (plain.length < 2) return []
  // Texts in these scripts have no blanks between words.
  if (unspaced.test(plain)) return [{ text: plain, owner, rule: 'anywhere' }]
  const rule = plain.length >= ANYWHERE_MIN ? 'anywhere' : 'word'
  return [{ text: plain, owner, rule: single ?? rule }]
}

const unspaced = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]+$/u

function addressNeedles(address: string): Needle[] {
  const mailbox = untagged(address)
  const [local = '', domain = ''] = split(mailbox)
  const domains = google.test(mailbox) ? ['gmail.com', 'googlemail.com'] : formsOfDomain(domain)
  const whole = split(address.toLowerCase())[0] ?? ''
  return domains.flatMap((one) => [
    ...needle(local + one, mailbox),
    ...(whole === local ? [] : needle(whole + one, mailbox)),
    // Disguised: `jane at example dot org`; as in return paths of lists: `example.org!jane`.
    ...needle(`${local}at${one}`, mailbox),
    ...needle(`${local}at${one.replaceAll('.', 'dot')}`, mailbox),
    ...needle(`${whole}@${one}`.replaceAll('.', 'dot'), mailbox),
    ...needle(`${whole}at${one}`.replaceAll('.', 'dot'), mailbox),
    ...needle(one + local, mailbox),
  ])
}

/** A reporter often reports several messages in a row. */
const ADDRESSES_REMEMBERED = { max: 50, charsMax: 200 }

const provenNeedles = remembered(
  (address) => ownAddressNeedles(address, true),
  ADDRESSES_REMEMBERED,
)

function ownAddressNeedles(address: string, isProven = false): Needle[] {
  const mailbox = untagged(address)
  const [local] = split(mailbox)
  const backwards = reversed(plainOf(local))
  const whole = disguisedNeedles(address)
  return [
    ...(isProven ? whole.map((one) => ({ ...one, isProven })) : whole),
    ...(backwards.length > LOCAL_MIN ? needle(backwards, mailbox) : []),
    ...localNeedles(local, mailbox),
  ]
}

/** An address as it is, reversed, and by ROT13. */
function disguisedNeedles(address: string): Needle[] {
  const mailbox = untagged(address)
  const [local, domain] = split(mailbox)
  return [
    ...addressNeedles(address),
    ...formsOfDomain(domain).flatMap((one) => {
      const plain = plainOf(local + one)
      return [...needle(reversed(plain), mailbox), ...needle(rotated(plain), mailbox)]
    }),
  ]
}

/**
 * The needles of an address that the sender claims to be a recipient's. A mailbox name that is one
 * word or a number may be chosen to hide this word or number.
 */
const claimedNeedles = remembered((address) => {
  const [local = ''] = split(address)
  const isName = /\p{L}/u.test(local) && /[\d._-]/.test(local)
  return isName ? ownAddressNeedles(address) : disguisedNeedles(address)
}, ADDRESSES_REMEMBERED)

function reversed(text: string): string {
  return [...text].reverse().join('')
}

/** Replaces each letter by the 13th after it (ROT13). */
function rotated(text: string): string {
  return text.replace(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 0x61 + 13) % 26) + 0x61),
  )
}

const LOCAL_MIN = 3
const DISTINCT_LOCAL_MIN = 5

/**
 * The local part of an address as a user name. A word in it that is no usual word may be a name.
 */
function localNeedles(local: string, owner: string): Needle[] {
  if (local.length < LOCAL_MIN || commonNames.has(local)) return []
  const words = local.split(/[^\p{L}]+/u).filter((word) => word.length >= LOCAL_MIN)
  const isDistinct = local.length >= DISTINCT_LOCAL_MIN && !commonNames.has(words.join(''))
  return [
    ...(isDistinct ? needle(local, owner) : needle(local, owner, 'name')),
    ...(isDistinct ? needle(rotated(local), owner) : []),
    ...(words.length === 2 ? fullNameNeedles(words, owner) : []),
    ...(words.length <= 2 ? words : [])
      .filter((word) => !commonNames.has(word))
      .flatMap((word) => needle(word, owner, 'capital')),
  ]
}

function split(address: string): [local: string, domain: string] {
  const at = address.lastIndexOf('@')
  return [address.slice(0, at), address.slice(at + 1)]
}

/** The minimum length of the name of a domain that is searched without its suffix. */
const LABEL_MIN = 9

function domainNeedlesOf(domain: string): Needle[] {
  const readable = domainToUnicode(domain)
  const label = readable.slice(0, readable.indexOf('.'))
  const isName = label.length >= LABEL_MIN && !commonNames.has(label)
  const forms = [domain, readable, domain.replaceAll('.', 'dot'), ...(isName ? [label] : [])]
  return [...new Set(forms)]
    .flatMap((one) => needle(one, domain))
    .map((one) => ({ ...one, isDomain: true }))
}

/** A display name of the reporter. */
type PersonName = { words: string[]; owner: string }

const NAME_CHARS_MAX = 200
const NAMES_MAX = 60
const WORDS_MAX = 8

/** Returns the personal names with which the header addresses the reporter. */
function namesOf(fields: readonly HeaderField[], own: readonly string[]): PersonName[] {
  const addresses = new Set(own.map(untagged))
  return fields
    .filter(({ key }) => recipientFields.has(key))
    .flatMap(({ value }) => mailboxesIn(value.slice(0, FIELD_CHARS_MAX)))
    .filter(({ address }) => addresses.has(untagged(address)))
    .slice(0, NAMES_MAX)
    .flatMap(({ name, address }) => {
      const words = wordsOf(name)
      return words.length === 0 ? [] : [{ words, owner: untagged(address) }]
    })
}

/** Reads a list before and after decoding: a comma in an encoded word is part of a name. */
function mailboxesIn(value: string): Mailbox[] {
  const written = parseAllMailboxes(value).map(({ name, address }) => ({
    ...{ name: decodeHeaderText(name), address },
  }))
  return value.includes('=?')
    ? [...written, ...parseAllMailboxes(decodeHeaderText(value))]
    : written
}

/**
 * Returns the words of a personal name in lower case, without titles, addresses and what follows a
 * sign; empty if it is the name of a shared mailbox.
 */
function wordsOf(name: string): string[] {
  const plain = name.normalize('NFC').slice(0, NAME_CHARS_MAX).toLowerCase()
  const [first = ''] = plain
    .replace(/\S+@\S+/g, ' ')
    .trim()
    .split(/[|/:=(<]/, 1)
  const words = first.split(/[\s,"()._+-]+/).filter((word) => /\p{L}/u.test(word))
  const personal = words.filter((word) => !titles.has(word)).slice(0, WORDS_MAX)
  return personal.every((word) => sharedNames.has(word)) ? [] : personal
}

const titles = new Set('dr prof mr mrs ms miss sir phd ph md jr sr herr frau mme'.split(' '))

/** In a longer name that the sender claims, words may be chosen to hide others. */
const SINGLES_WORDS_MAX = 3

function nameNeedles({ words, owner }: PersonName, isProven: boolean): Needle[] {
  const isShort = words.length <= SINGLES_WORDS_MAX
  const singles = words.filter(
    (word) => (isShort || isProven) && !commonNames.has(word) && plainOf(word).length >= 2,
  )
  return [
    ...(words.length >= 2 ? fullNameNeedles(words, owner) : []),
    ...words.slice(2).flatMap((word) => pairNeedle(words[0] ?? '', word, owner)),
    ...singles.flatMap((word) => [
      ...needle(word, owner, 'name'),
      ...misreadForms(word).flatMap((form) => needle(form, owner, 'name')),
      // As it is spelled where these letters do not exist.
      ...needle(
        word.replace(/[äöü]/g, (letter) => umlauts[letter] ?? letter),
        owner,
        'name',
      ),
    ]),
  ]
}

const umlauts: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue' }

/** A full name in both orders, also with initials, as in user names, and disguised. */
function fullNameNeedles(words: readonly string[], owner: string): Needle[] {
  const [first = '', last = ''] = [words[0], words.at(-1)]
  const pairs: (readonly [string, string])[] = [
    ...[first, ...misreadForms(first)].map(
      (one, at) => [one, [last, ...misreadForms(last)][at] ?? ''] as const,
    ),
    [reversed(plainOf(last)), reversed(plainOf(first))],
    [rotated(first), rotated(last)],
  ]
  const initials = [first + last.charAt(0), first.charAt(0) + last, last + first.charAt(0)]
  const long = initials.filter((form) => form.length >= (unspaced.test(form) ? 3 : INITIALS_MIN))
  const forms = [words.join(''), [...words.slice(1), first].join(''), ...long]
  return [
    ...pairs.flatMap(([one, other]) => [
      ...pairNeedle(one, other, owner),
      ...pairNeedle(other, one, owner),
    ]),
    ...forms.flatMap((form) => [
      ...needle(form, owner),
      ...needle(reversed(plainOf(form)), owner),
      ...needle(rotated(form), owner),
    ]),
  ]
}

function pairNeedle(first: string, last: string, owner: string): Needle[] {
  const [text, then] = [plainOf(first), plainOf(last)]
  if (text.length < 2 || then.length === 0) return []
  const isLong = text.length + then.length >= ANYWHERE_MIN || unspaced.test(text)
  return [{ text, then, owner, rule: isLong ? 'anywhere' : 'word' }]
}

const INITIALS_MIN = 5

const cyrillic = ['koi8-r', 'windows-1251', 'iso-8859-5'].map((name) => {
  const decoder = new TextDecoder(name)
  const letters = Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte)))
  return { letters, byteOf: new Map(letters.map((letter, byte) => [letter, byte])) }
})

/** A Cyrillic text as it looks if its charset is taken for another. */
function misreadForms(text: string): string[] {
  if (!/\p{sc=Cyrl}/u.test(text)) return []
  return [text, text.toUpperCase()].flatMap((written) =>
    cyrillic.flatMap(({ byteOf }) =>
      cyrillic.map(({ letters }) =>
        Array.from(written, (one) => letters[byteOf.get(one) ?? 0x20] ?? one).join(''),
      ),
    ),
  )
}
