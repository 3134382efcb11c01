import { describe, expect, test } from 'vitest'
import { findCryptoAddresses } from '../../../src/pieces/crypto-addresses.ts'

/**
 * Addresses from the specifications: the genesis block, BIP 173, BIP 350, EIP-55, Tron's
 * documentation.
 */
const addresses: readonly (readonly [string, string])[] = [
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'bitcoin'],
  ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'bitcoin'],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'bitcoin'],
  ['BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'bitcoin'],
  ['bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'bitcoin'],
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'ethereum'],
  ['0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', 'ethereum'],
  ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 'ethereum'],
  ['TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', 'tron'],
]

describe('addresses of cryptocurrencies', () => {
  test.for(addresses)('%s', ([address, chain]) => {
    const [found = ''] = findCryptoAddresses(`Pay to ${address}, today.`)
    expect(found.split(':')[0]).toBe(chain)
    expect(found.toLowerCase()).toBe(`${chain}:${address.toLowerCase()}`)
  })

  test.for([
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
    // From BIP 350: a version 1 address with the checksum of version 0.
    ['bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8F3T4'],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['x1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa1'],
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0'],
  ] as const)('%s is not an address', ([text]) => {
    expect(findCryptoAddresses(text)).toEqual([])
  })
})
