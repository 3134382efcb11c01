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

/** A network as its registry has it; where none is known, the address alone. */
type RegisteredNetwork = {
  /** At least one, and one of them holds the address that was asked about. */
  cidrs: readonly string[]
  /** The blocks for whose addresses the answer counts, the address asked about among them. */
  holdsFor: readonly string[]
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** Host name of the registry that answered; null when none is in charge. */
  registry: string | null
}

/**
 * What a registry says to a question. `none`: nobody is named for abuse. `later`: it could not be
 * asked, or its answer is of no use now. `why` is a sentence for people.
 */
export type RegistryAnswer =
  | { is: 'found'; network: RegisteredNetwork; contacts: readonly string[] }
  | { is: 'none'; network: RegisteredNetwork; why: string }
  | { is: 'later'; retryAt: Date; why: string }

/** The answer when nothing is known of an address: it holds for that address alone. */
export function unknownNetwork(ip: string, registry: string | null, why: string): RegistryAnswer {
  const cidrs = [`${ip}/${ip.includes(':') ? 128 : 32}`]
  const network = { cidrs, holdsFor: cidrs, name: null, country: null, registry }
  return { is: 'none', network, why }
}

/** A network as a registry describes it. */
export type NetworkAnswer = ContactFindings & {
  /** The blocks it is made of, at most 64; one of them holds the address asked about. */
  cidrs: string[]
  /** The block that holds the address. */
  own: string
  name: string | null
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** Where the network around it is described. */
  up: string | undefined
}

const BLOCKS_MAX = 64
const NAME_CHARS_MAX = 200

/**
 * Reads the answer to a question about an address (RFC 9083 §5.4). Undefined when it describes no
 * network, or one that the address is not in: whoever answers another question is not believed.
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
    name: nameOf(answer),
    country: countryOf(answer),
    up: linkOf(answer, 'up'),
  }
}

/** The extension `cidr0` of the registries. */
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

function nameOf(answer: JsonObject): string | null {
  const name = textOf(answer['name'])?.replace(/\p{Cc}+/gu, ' ')
  return name === undefined ? null : storableText(name, NAME_CHARS_MAX)
}

/** `AP` and `ZZ` stand for no country. */
function countryOf(answer: JsonObject): string | null {
  const code = textOf(answer['country'])?.toUpperCase() ?? ''
  return /^[A-Z]{2}$/.test(code) && code !== 'AP' && code !== 'ZZ' ? code : null
}
