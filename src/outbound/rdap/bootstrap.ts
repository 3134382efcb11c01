import { parseBlock } from '../../mail/ip-blocks.ts'
import { type IpAddress, type NetworkSet, networkSet } from '../../mail/ip.ts'
import { listOf, objectOf, textsOf } from './json-members.ts'

/** Which registry answers for which blocks, the longest prefix first. */
export type Services = readonly { prefix: number; block: NetworkSet; base: URL }[]

const BLOCKS_MAX = 20_000

/**
 * Reads a bootstrap file for addresses (RFC 9224 §5). Of the URLs of a service the first that may
 * be opened counts, https before http; a service without one is left out. Undefined when it is no
 * such file.
 */
export function readServices(json: unknown, mayOpen: (url: URL) => boolean): Services | undefined {
  const file = objectOf(json)
  if (!file || !Array.isArray(file['services'])) return undefined
  return listOf(file['services'])
    .flatMap((service) => {
      const [blocks, urls] = listOf(service)
      const base = baseOf(textsOf(urls), mayOpen)
      return base ? textsOf(blocks).flatMap((text) => serviceOf(text, base)) : []
    })
    .slice(0, BLOCKS_MAX)
    .sort((one, other) => other.prefix - one.prefix)
}

/** The base URL of the registry that answers for an address; it ends in a slash. */
export function findService(services: Services, address: IpAddress): URL | undefined {
  return services.find(({ block }) => block.has(address))?.base
}

function serviceOf(text: string, base: URL): Services[number][] {
  const cidr = parseBlock(text)
  if (cidr === undefined) return []
  const prefix = Number(cidr.slice(cidr.indexOf('/') + 1))
  return [{ prefix, block: networkSet([cidr]), base }]
}

function baseOf(texts: readonly string[], mayOpen: (url: URL) => boolean): URL | undefined {
  const urls = texts
    .map((text) => URL.parse(text.endsWith('/') ? text : `${text}/`))
    .filter((url) => url !== null)
    .filter(mayOpen)
  return urls.find(({ protocol }) => protocol === 'https:') ?? urls[0]
}
