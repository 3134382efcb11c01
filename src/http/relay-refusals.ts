import type { RelayRefusal } from '../mail/relay-block.ts'

/** Why programs may not name a block as relays: what follows the block in a sentence. */
export const refusalWords: Readonly<Record<RelayRefusal, string>> = {
  unreadable: 'is neither an IP address nor a CIDR block, such as 192.0.2.0/24.',
  'too-wide': 'is too wide: at most a /16, or a /32 for IPv6.',
  'link-local': 'is a link-local address: it means another machine on every cable.',
  reserved: 'is reserved: no machine can have such an address.',
}
