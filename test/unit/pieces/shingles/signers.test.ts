import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../../src/pieces/analyze.ts'
import { spamMessage } from '../../../support/messages.ts'
import { rsaKey, signed } from '../../../support/signing.ts'

const key = rsaKey()
const answers = {
  'TXT s1._domainkey.shop.example': { is: 'found', records: [key.record] },
} as const

async function shinglesOf(raw: Buffer): Promise<string[]> {
  const dns = { answers, spf: undefined, listings: [] }
  const options = { trustedRelays: [], ignoreStamps: true, dns }
  const { shingles } = await analyzeMessage(raw, options)
  return shingles.map(({ name }) => name).filter((name) => name.includes('signer'))
}

const claimed = ['claimed-signer-domain', 'claimed-signer-organization', 'claimed-signer-key']
const verified = [
  ...['signer-domain', 'signer-organization', 'signer-key', 'signer-authors', 'ip-signers'],
]

test('a signature that verifies gives shingles of its signer', async () => {
  const raw = await signed(spamMessage('a'), { domain: 'shop.example', key })
  expect(await shinglesOf(raw)).toEqual([...claimed, ...verified])
})

test('a signature that is not valid gives only claimed signers', async () => {
  const raw = await signed(spamMessage('a'), { domain: 'shop.example', key })
  const changed = Buffer.from(raw.toString('latin1').replace('Buy at', 'Pay at'), 'latin1')
  expect(changed.equals(raw)).toBe(false)
  expect(await shinglesOf(changed)).toEqual(claimed)
})
