import { blocksOfRange, parseBlock } from '../../mail/ip-blocks.ts'
import { type IpAddress, networkSet } from '../../mail/ip.ts'
import { storableText } from '../../mail/storable-text.ts'
import { type ContactFindings, findContacts, linkOf } from './contacts.ts'
import { type JsonObject, objectOf, objectsOf, textOf } from './json-members.ts'

/** A network as a registry describes it. */
export type NetworkAnswer = ContactFindings & {
  /** The blocks it is made of, at most 64; one of them holds the address asked about. */
  cidrs: string[]
  /** The prefix length of the block that holds the address. */
  prefix: number
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
    ...findContacts(answer),
    cidrs: blocks.length > BLOCKS_MAX ? [own] : blocks,
    prefix: Number(own.slice(own.indexOf('/') + 1)),
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
