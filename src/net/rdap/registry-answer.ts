import { blocksOfRange, parseBlock } from '../../mail/ip-blocks.ts'
import { type IpAddress, networkSet } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'
import {
  type ContactFindings,
  abuseContacts,
  type JsonObject,
  linkOf,
  objectOf,
  objectsOf,
  textOf,
} from './contacts.ts'

/** A network as registered; only the address itself when no network is known. */
type RegisteredNetwork = {
  /** At least one block; one of them contains the queried address. */
  cidrs: readonly string[]
  /** The blocks for whose addresses the answer is valid, including the queried address. */
  holdsFor: readonly string[]
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** Host name of the registry that answered; null when no registry is responsible. */
  registry: string | null
}

/**
 * A registry's answer. `none`: it has no abuse contact. `later`: it could not be queried, or its
 * answer cannot be used now. `why` is a sentence for people.
 */
export type RegistryAnswer =
  | { is: 'found'; network: RegisteredNetwork; contacts: readonly string[] }
  | { is: 'none'; network: RegisteredNetwork; why: string }
  | { is: 'later'; retryAt: Date; why: string }

/** Returns the answer for an address without a known network; it is valid for that address only. */
export function unknownNetwork(ip: string, registry: string | null, why: string): RegistryAnswer {
  const cidrs = [`${ip}/${ip.includes(':') ? 128 : 32}`]
  const network = { cidrs, holdsFor: cidrs, name: null, country: null, registry }
  return { is: 'none', network, why }
}

export type NetworkAnswer = ContactFindings & {
  /** The blocks of the network, at most 64; one of them contains the queried address. */
  cidrs: string[]
  /** The block that contains the queried address. */
  own: string
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** The URL of the enclosing network. */
  up: string | undefined
}

const BLOCKS_MAX = 64
const NAME_CHARS_MAX = 200

/**
 * Parses the answer to a query about an address (RFC 9083 §5.4). Undefined when it describes no
 * network, or one that does not contain the address.
 */
export function readNetwork(json: unknown, address: IpAddress): NetworkAnswer | undefined {
  const answer = objectOf(json)
  if (!answer || answer['objectClassName'] !== 'ip network') return undefined
  const candidates = [prefixBlocks(answer), rangeBlocks(answer)]
  const blocks = candidates.find((cidrs) => networkSet(cidrs).has(address))
  const own = blocks?.find((cidr) => networkSet([cidr]).has(address))
  if (!blocks || own === undefined) return undefined
  return {
    ...abuseContacts(answer),
    cidrs: blocks.length > BLOCKS_MAX ? [own] : blocks,
    own,
    name: networkNameOf(answer),
    country: countryOf(answer),
    up: linkOf(answer, 'up'),
  }
}

/** Returns the blocks in the registries' extension `cidr0`. */
function prefixBlocks(answer: JsonObject): string[] {
  return objectsOf(answer['cidr0_cidrs'])
    .slice(0, 1_000)
    .map(({ v4prefix, v6prefix, length }) =>
      parseBlock(`${textOf(v4prefix) ?? textOf(v6prefix) ?? ''}/${Number(length)}`),
    )
    .filter((block) => block !== undefined)
}

function rangeBlocks(answer: JsonObject): string[] {
  const end = (name: string) => (textOf(answer[name]) ?? '').replace(/\/\d+$/, '')
  return blocksOfRange(end('startAddress'), end('endAddress')) ?? []
}

function networkNameOf(answer: JsonObject): string | null {
  const name = textOf(answer['name'])?.replace(/\p{Cc}+/gu, ' ')
  return name === undefined ? null : storableText(name, NAME_CHARS_MAX)
}

/** Returns the country code of a network; null for `AP` and `ZZ`, which do not denote a country. */
function countryOf(answer: JsonObject): string | null {
  const code = textOf(answer['country'])?.toUpperCase() ?? ''
  return /^[A-Z]{2}$/.test(code) && code !== 'AP' && code !== 'ZZ' ? code : null
}
