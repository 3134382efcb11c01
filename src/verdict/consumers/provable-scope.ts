import { parseBlock, prefixOf } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import { networkSet } from '../../mail/ip.ts'
import { mergeLayers, type NetworkLayer } from '../network-layers.ts'

/**
 * Whether an abuse address answers for all of a block, as far as tables, registries and
 * administrators say: for the block as a whole it is a registered contact, and nothing inside is
 * said to be anybody else's. `layers` are all around the block and in it. In doubt it does not.
 */
export function answersForBlock(
  address: string,
  cidr: string,
  layers: readonly NetworkLayer[],
): boolean {
  const start = parseIp(cidr.slice(0, cidr.indexOf('/')))
  if (!start || parseBlock(cidr) !== cidr) return false
  const around = layers.filter(
    (layer) => prefixOf(layer.cidr) <= prefixOf(cidr) && networkSet([layer.cidr]).has(start),
  )
  const network = mergeLayers(around)?.network
  if (!network || network.isMuted || !names(network.contacts, address)) return false
  return layers
    .filter((layer) => !around.includes(layer))
    .every(
      (layer) =>
        !layer.isMuted &&
        (layer.asn === null || layer.asn === network.asn) &&
        (layer.contacts.length === 0 || names(layer.contacts, address)),
    )
}

function names(contacts: readonly string[], address: string): boolean {
  return contacts.some((contact) => contact.toLowerCase() === address.toLowerCase())
}
