import { domainToASCII } from 'node:url'

/** An untrusted JSON object whose members are not validated. */
export type JsonObject = Readonly<Record<string, unknown>>

export function objectOf(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as JsonObject) : undefined
}

/** Returns the value if it is a list; otherwise an empty list. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns the objects of a list; ignores its other members. */
export function objectsOf(value: unknown): JsonObject[] {
  return arrayOf(value)
    .map(objectOf)
    .filter((member) => member !== undefined)
}

/** Returns the trimmed value if it is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Returns the strings of a list; a single string counts as a list of one. */
export function textsOf(value: unknown): string[] {
  return (typeof value === 'string' ? [value] : arrayOf(value))
    .map(textOf)
    .filter((text) => text !== undefined)
}

// Narrower than RFC 5321: no quoted strings and no address literals, which abuse desks do not use.
const localShape = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainShape = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Addresses of registries are for the registry itself, not for abuse from networks it has assigned.
 */
const registryDomains =
  /(?:^|\.)(?:iana\.org|arin\.net|ripe\.net|apnic\.net|lacnic\.net|afrinic\.net)$/

const textCharsMax = 2_000

/**
 * Parses a mail address and returns it with its domain in lower case and ASCII. Undefined for other
 * text, such as `REDACTED FOR PRIVACY`, and for the address of a registry itself.
 */
export function mailAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  if (local.length > 64 || text.length > 254 || !localShape.test(local)) return undefined
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase()
  if (domain.length > 253 || !domainShape.test(domain) || registryDomains.test(domain)) {
    return undefined
  }
  return `${local}@${domain}`
}

/** Returns the mail addresses in a text: separated, in angle brackets, or after `mailto:`. */
export function mailAddressesIn(text: string): string[] {
  return text
    .slice(0, textCharsMax)
    .split(/[\s,;<>()[\]"]+/)
    .map((word) => mailAddress(word.replace(/^mailto:/i, '').replace(/^'|[.']+$/g, '')))
    .filter((address) => address !== undefined)
}

/** The abuse contacts in an answer, and what else it says about contacts. */
export type ContactFindings = {
  /** The least nested and preferred ones first, without duplicates, at most five. */
  contacts: string[]
  /** Whether the registry indicates that it redacted something (RFC 9537). */
  isRedacted: boolean
  /** An entity that the answer truncated (RFC 9083 §10.2.1) and that can be requested. */
  cutEntity: { handle: string; href: string | undefined } | undefined
  /** The address for abuse reports in the remarks; undefined when they name several. */
  remarked: string | undefined
}

const CONTACTS_MAX = 5
const ENTITIES_MAX = 2_000
const REMARKS_MAX = 200

/**
 * Returns the abuse contacts of an answer (RFC 9083): the mail addresses in the jCards (RFC 7095)
 * of entities with the role `abuse`, at any depth. Takes linear time within fixed limits. Ignores
 * technical contacts, because they did not ask for abuse reports.
 */
export function abuseContacts(answer: JsonObject): ContactFindings {
  const entities = entitiesOf(answer)
  const desks = entities.filter((entity) => hasRole(entity, 'abuse'))
  return {
    contacts: distinct(desks.flatMap(cardAddresses)),
    isRedacted: arrayOf(answer['redacted']).length > 0 || entities.some(isMarkedRedacted),
    cutEntity: cutEntityOf(answer, entities, desks),
    remarked: remarkedAddress([answer, ...entities]),
  }
}

/**
 * Returns the contacts of an entity that was requested: its own addresses if it is an abuse
 * contact, followed by those of the abuse contacts inside it.
 */
export function entityContacts(entity: JsonObject, isDesk: boolean): string[] {
  const own = isDesk || hasRole(entity, 'abuse') ? cardAddresses(entity) : []
  return distinct([...own, ...abuseContacts(entity).contacts])
}

/** Returns all entities, the least nested first. */
function entitiesOf(answer: JsonObject): JsonObject[] {
  const found = objectsOf(answer['entities']).slice(0, ENTITIES_MAX)
  for (let at = 0; at < found.length && found.length < ENTITIES_MAX; at++) {
    const inner = objectsOf(found[at]?.['entities'])
    for (const entity of inner.slice(0, ENTITIES_MAX - found.length)) found.push(entity)
  }
  return found
}

function hasRole(entity: JsonObject, role: string): boolean {
  return textsOf(entity['roles']).some((text) => text.toLowerCase() === role)
}

function distinct(addresses: readonly string[]): string[] {
  const byKey = new Map<string, string>()
  for (const address of addresses) {
    const key = address.toLowerCase()
    if (!byKey.has(key)) byKey.set(key, address)
  }
  return [...byKey.values()].slice(0, CONTACTS_MAX)
}

/** Returns the properties of a jCard: name, parameters, type, values. */
function cardProperties(entity: JsonObject): (readonly unknown[])[] {
  const [, properties] = arrayOf(entity['vcardArray'])
  return arrayOf(properties).map(arrayOf)
}

/**
 * Returns the mail addresses of a card: those of `email`, then those of `contact-uri` (RFC 8605
 * §2.1), which may also name a web form. The preferred ones come first in each.
 */
function cardAddresses(entity: JsonObject): string[] {
  return [
    ...addressesOf(entity, 'email', mailAddressesIn),
    ...addressesOf(entity, 'contact-uri', mailtoAddresses),
  ]
}

/**
 * Returns the mail addresses in the properties with a name. Ignores a text with control characters,
 * which may be an attempt at header injection.
 */
function addressesOf(
  entity: JsonObject,
  property: string,
  read: (text: string) => string[],
): string[] {
  return cardProperties(entity)
    .filter(([name]) => typeof name === 'string' && name.toLowerCase() === property)
    .map(([, parameters, , ...values]) => ({
      preference: preferenceOf(objectOf(parameters)),
      texts: values.flat().flatMap((value) => textOf(value) ?? []),
    }))
    .sort((one, other) => one.preference - other.preference)
    .flatMap(({ texts }) => texts.filter((text) => !/\p{Cc}/u.test(text)).flatMap(read))
}

const mailtoForm = /^mailto:([^?#]*)(?:\?([^#]*))?/i

/** Returns the recipients of a `mailto` link (RFC 6068); empty for any other link. */
function mailtoAddresses(link: string): string[] {
  const [, path = '', query = ''] = mailtoForm.exec(link.slice(0, textCharsMax)) ?? []
  const fields = query.split('&').filter((field) => /^to=/i.test(field))
  const parts = [path, ...fields.map((field) => field.slice(3))].flatMap((list) => list.split(','))
  return parts.flatMap((part) => {
    const address = percentDecoded(part.trim())
    return /\p{Cc}/u.test(address) ? [] : (mailAddress(address) ?? [])
  })
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const LEAST_PREFERRED = 101

/**
 * Returns a preference from 1 (best) to 100 (RFC 6350 §5.3), 101 without one; older cards use
 * `type=pref`.
 */
function preferenceOf(parameters: JsonObject | undefined): number {
  const [pref] = [parameters?.['pref']].flat()
  const number = Number(pref ?? Number.NaN)
  if (Number.isInteger(number) && number >= 1 && number <= 100) return number
  const isPreferred = textsOf(parameters?.['type']).some((text) => text.toLowerCase() === 'pref')
  return isPreferred ? 1 : LEAST_PREFERRED
}

function isMarkedRedacted(entity: JsonObject): boolean {
  if (noticesOf(entity).some(({ type, title }) => /redacted/i.test(`${type} ${title}`))) return true
  return cardProperties(entity).some(([name, , , value]) => {
    return name === 'email' && /redacted/i.test(textOf(value) ?? '')
  })
}

type Notice = { type: string; title: string; lines: string[] }

function noticesOf(holder: JsonObject): Notice[] {
  return [...objectsOf(holder['remarks']), ...objectsOf(holder['notices'])]
    .slice(0, REMARKS_MAX)
    .map((notice) => ({
      type: textOf(notice['type']) ?? '',
      title: textOf(notice['title']) ?? '',
      lines: textsOf(notice['description']).slice(0, REMARKS_MAX),
    }))
}

function isCut(holder: JsonObject): boolean {
  return noticesOf(holder).some(({ type, title }) => /truncated/i.test(`${type} ${title}`))
}

/** Returns the truncated abuse contact, otherwise the truncated registrant. */
function cutEntityOf(
  answer: JsonObject,
  entities: readonly JsonObject[],
  desks: readonly JsonObject[],
): ContactFindings['cutEntity'] {
  const isAnswerCut = isCut(answer)
  const isBare = (entity: JsonObject) => entity['vcardArray'] === undefined
  const desk = desks.find((entity) => isAnswerCut || isCut(entity) || isBare(entity))
  const holder = entities.find(
    (entity) => hasRole(entity, 'registrant') && (isAnswerCut || isCut(entity)),
  )
  const entity = desk ?? holder
  const handle = textOf(entity?.['handle'])
  if (!entity || !handle?.isWellFormed()) return undefined
  return { handle, href: linkOf(entity, 'self') }
}

/** Returns the target of the first link with this relation (RFC 9083 §4.2). */
export function linkOf(holder: JsonObject, rel: string): string | undefined {
  const link = objectsOf(holder['links']).find(({ rel: name }) => name === rel)
  return textOf(link?.['href'])
}

const remarkCharsMax = 2_000

/** Matches sentences that ask for abuse reports; other sentences with addresses are ignored. */
const aboutAbuse = [
  /\babuse\b[\w .:'"/-]{0,80}(?:contact|report|complain|mailbox|e-?mail|desk|send|\bis\b|\bto\b)/i,
  /\b(?:report|complain|send|contact)[\w .:'"/-]{0,80}\babuse\b/i,
  /^abuse[\w-]*@\S+$/i,
]

/**
 * Returns the address in remarks such as "Abuse contact for … is 'abuse@…'", if all remarks name
 * the same address.
 */
function remarkedAddress(holders: readonly JsonObject[]): string | undefined {
  const lines = holders
    .slice(0, REMARKS_MAX)
    .flatMap(noticesOf)
    .slice(0, REMARKS_MAX)
    .flatMap(({ lines }) => lines)
    .filter((line) => {
      const start = line.slice(0, remarkCharsMax)
      return aboutAbuse.some((form) => form.test(start))
    })
  const named = distinct(lines.flatMap(mailAddressesIn))
  return named.length === 1 ? named[0] : undefined
}
