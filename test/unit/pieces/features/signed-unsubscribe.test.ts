import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../../src/pieces/analyze.ts'
import { rsaKey, signed } from '../../../support/signing.ts'

const key = rsaKey(1024)
const fields = [
  'From: Shop <news@shop.example>',
  'Subject: Offers',
  'List-Unsubscribe: <https://mailer.example/leave>',
]
const message = Buffer.from([...fields, '', 'Buy.', ''].join('\r\n'))

test.for([
  ['the author signs the address', { domain: 'shop.example' }, true],
  ['another domain signs it', { domain: 'mailer.example' }, false],
  ['the author signs the rest', { domain: 'shop.example', covering: 'From:Subject' }, false],
] as const)('bulk mail is verified or not: %s', async ([, options, expected]) => {
  const raw = await signed(message, { ...options, key })
  const answers = { [`TXT s1._domainkey.${options.domain}`]: found }
  const dns = { answers, spf: undefined, listings: [] }
  const { features } = await analyzeForCounting(raw, { trustedRelays: [], ignoreStamps: true, dns })
  expect(features.authentication.dkim_passes).toBe(1)
  expect(features.authentication.unsubscribe_signed).toBe(expected)
})

const found = { is: 'found' as const, records: [key.record] }
