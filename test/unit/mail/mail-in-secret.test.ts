import { expect, test } from 'vitest'
import {
  composeMailInAddress,
  mailInHash,
  mailInSecret,
  parseOwnAddress,
} from '../../../src/mail/verp.ts'
import { ringOf } from '../../support/key-ring.ts'

const ann = { reporterId: '0190a000-0000-7000-8000-000000000001', generation: 1 }
const ring = ringOf('a secret of the tests, long enough for all')
const key = ring.key('mail-in address')

test('each reporter and each generation has a separate secret', () => {
  const secrets = [
    mailInSecret(ann, key),
    mailInSecret({ ...ann, generation: 2 }, key),
    mailInSecret({ ...ann, reporterId: ann.reporterId.replace(/1$/, '2') }, key),
    mailInSecret(ann, Buffer.from('another')),
  ]
  expect(new Set(secrets).size).toBe(4)
  for (const secret of secrets) expect(secret).toMatch(/^[a-z2-7]{26}$/)
  expect(mailInSecret(ann, key)).toBe(secrets[0])
})

test('the address made from it can be read back, in any case', () => {
  const secret = mailInSecret(ann, key)
  const address = composeMailInAddress(secret, { domain: 'bounces.example' })
  const settings = { domain: 'bounces.example', secret: ring }
  expect(parseOwnAddress(address.toUpperCase(), settings)).toEqual({ is: 'mail-in', secret })
  expect(mailInHash(secret.toUpperCase())).toEqual(mailInHash(secret))
})
