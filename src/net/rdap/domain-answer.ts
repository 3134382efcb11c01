import { storableText } from '../../mail/text.ts'
import {
  abuseContacts,
  arrayOf,
  entityContacts,
  type JsonObject,
  objectsOf,
  textOf,
  textsOf,
} from './contacts.ts'

type RegisteredDomain = {
  /** In lower case. */
  name: string
  /** The registrar's name; null when the registry does not say. */
  registrar: string | null
  /** The number that IANA gave the registrar; null without one. */
  ianaId: string | null
  /** `2026-11-20`, in UTC; null when the registry does not say. */
  registeredOn: string | null
  /** At most 13, in lower case. */
  nameServers: readonly string[]
  /** Whether the registrar or the registry took the domain out of the DNS. */
  isHeld: boolean
  /** Host name of the registry that answered. */
  registry: string
}

/**
 * A registry's answer about a domain. `absent`: nobody has registered it. `silent`: no registry
 * answers for its top-level domain. `later`: as for addresses. `why` is a sentence for people.
 */
export type DomainAnswer =
  | { is: 'found'; domain: RegisteredDomain; contacts: readonly string[] }
  | { is: 'absent' | 'silent'; why: string }
  | { is: 'later'; retryAt: Date; why: string }

/** A parsed answer, and the URL where the registrar answers itself. */
type ReadDomain = {
  domain: Omit<RegisteredDomain, 'registry'>
  contacts: string[]
  related: string | undefined
}

const NAME_SERVERS_MAX = 13
const NAME_CHARS_MAX = 200
const LINKS_MAX = 50

/**
 * Parses the answer to a query about a domain (RFC 9083 §5.3). The abuse contacts are those of the
 * registrar; if it has none, those of the whole answer. Undefined when it is about another domain.
 */
export function readDomain(answer: JsonObject | undefined, name: string): ReadDomain | undefined {
  if (answer?.['objectClassName'] !== 'domain') return undefined
  if (plainName(answer['ldhName']) !== name) return undefined
  const registrar = objectsOf(answer['entities']).find((one) => isRegistrar(one))
  const own = registrar ? entityContacts(registrar, false) : []
  const statuses = textsOf(answer['status']).map((status) => status.toLowerCase())
  return {
    domain: {
      name,
      registrar: registrar ? cardName(registrar) : null,
      ianaId: registrar ? ianaIdOf(registrar) : null,
      registeredOn: registrationOf(answer),
      nameServers: objectsOf(answer['nameservers'])
        .slice(0, NAME_SERVERS_MAX)
        .map(({ ldhName }) => plainName(ldhName))
        .filter((server) => server !== undefined),
      isHeld: statuses.some((status) => /^(?:client|server) ?hold$/.test(status)),
    },
    contacts: own.length > 0 ? own : abuseContacts(answer).contacts,
    related: relatedOf(answer),
  }
}

function plainName(value: unknown): string | undefined {
  const name = textOf(value)?.replace(/\.$/, '').toLowerCase()
  return name !== undefined && /^[a-z\d.-]{1,253}$/.test(name) ? name : undefined
}

function isRegistrar(entity: JsonObject): boolean {
  return textsOf(entity['roles']).some((role) => role.toLowerCase() === 'registrar')
}

/** The name in a jCard (RFC 7095): of the person or of the organization. */
function cardName(entity: JsonObject): string | null {
  const [, properties] = arrayOf(entity['vcardArray'])
  const names = arrayOf(properties)
    .map(arrayOf)
    .filter(([property]) => property === 'fn' || property === 'org')
    .flatMap(([, , , value]) => textOf(value) ?? [])
  const [name] = names
  return name === undefined ? null : storableText(name.replace(/\p{Cc}+/gu, ' '), NAME_CHARS_MAX)
}

function ianaIdOf(entity: JsonObject): string | null {
  const id = objectsOf(entity['publicIds']).find(({ type }) => /iana registrar/i.test(`${type}`))
  const number = `${id?.['identifier'] ?? ''}`
  return /^\d{1,6}$/.test(number) ? number : null
}

function registrationOf(answer: JsonObject): string | null {
  const event = objectsOf(answer['events']).find(
    ({ eventAction }) => eventAction === 'registration',
  )
  const at = new Date(textOf(event?.['eventDate']) ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at.toISOString().slice(0, 10)
}

/** The URL of the registrar's own answer: registries of some domains have no contacts. */
function relatedOf(answer: JsonObject): string | undefined {
  const link = objectsOf(answer['links'])
    .slice(0, LINKS_MAX)
    .find(({ rel, type }) => rel === 'related' && type === 'application/rdap+json')
  return textOf(link?.['href'])
}
