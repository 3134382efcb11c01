import { type IpAddress, networkSet, parseIp } from '../mail/ip.ts'

/**
 * Whether a machine on the Internet answers at this address, and none of ours: an address that IANA
 * gave out for global use, and that does not carry another inside (IPv4-mapped and -compatible,
 * NAT64, 6to4, Teredo, ISATAP). Anything else is refused, what is not known above all.
 */
export function isPublicAddress(text: string): boolean {
  // parseIp reads ::ffff:192.0.2.1 as IPv4: who writes that wants to hide something.
  if (text.includes(':') && text.includes('.')) return false
  const address = parseIp(text)
  if (!address || text.includes('%')) return false
  if (address.family === 4) return !text.includes(':') && !special4.has(address)
  return global6.has(address) && !special6.has(address) && !isIsatap(address)
}

/** IANA IPv4 special-purpose registry, multicast and what is reserved. */
const special4 = networkSet([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
])

const global6 = networkSet(['2000::/3'])

/** IANA IPv6 special-purpose registry inside of 2000::/3: Teredo and ORCHID are in 2001::/23. */
const special6 = networkSet([
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
])

/** RFC 5214 §6.1: an IPv4 address behind 0000:5efe or 0200:5efe. */
function isIsatap({ groups }: IpAddress): boolean {
  return groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0
}
