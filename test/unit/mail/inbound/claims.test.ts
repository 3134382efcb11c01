import { expect, test } from 'vitest'
import { claimsOf, isOurOwn, ownMessageId } from '../../../../src/mail/inbound/own-mail.ts'
import {
  composeAnswerAddress,
  composeLetterReturnPath,
  composeReturnPath,
} from '../../../../src/mail/verp.ts'
import { ringOf } from '../../../support/key-ring.ts'

const settings = { domain: 'bounces.test.example', secret: ringOf('a secret of the tests') }
const reportId = '0198c5f0-1234-7abc-8def-0123456789ab'
const token = { reportId, number: 7 }
const nothing = { messageIds: [], envelopeIds: [], returnPaths: [] }
const returned = (some: Partial<Record<keyof typeof nothing, string[]>>) => ({
  returned: { ...nothing, ...some },
  references: [],
})

test.for([
  [`<${reportId}.7@bounces.test.example>`, { reportId, number: 7 }],
  [`${reportId.toUpperCase()}.255@Bounces.Test.Example`, { reportId, number: 255 }],
  [`letter.${reportId}@bounces.test.example`, { letterId: reportId }],
] as const)('%s is one of our Message-IDs', ([messageId, mail]) => {
  expect(ownMessageId(messageId, settings)).toEqual(mail)
})

test.for([
  `${reportId}.7@elsewhere.example`,
  `${reportId}.0@bounces.test.example`,
  `${reportId}.256@bounces.test.example`,
  `x${reportId}.7@bounces.test.example`,
  `${reportId}@bounces.test.example`,
  `other.${reportId}@bounces.test.example`,
  '',
])('%s is not one of our Message-IDs', (messageId) => {
  expect(ownMessageId(messageId, settings)).toBeUndefined()
})

test('identifiers that we signed take precedence over forgeable ones', () => {
  const letterId = '0198c5f0-1234-7abc-8def-0123456789ff'
  const claims = claimsOf(
    {
      returned: {
        messageIds: [`${reportId}.1@bounces.test.example`],
        envelopeIds: [`x ${composeReturnPath(token, settings).split('@')[0]} y`],
        returnPaths: [composeLetterReturnPath(letterId, settings)],
      },
      references: [`${reportId}.2@bounces.test.example`, 'spam@shop.example'],
    },
    settings,
  )
  expect(claims).toEqual([
    { mail: token, by: 'envelope-id', isSigned: true },
    { mail: { letterId }, by: 'return-path', isSigned: true },
    { mail: { reportId, number: 1 }, by: 'message-id', isSigned: false },
    { mail: { reportId, number: 2 }, by: 'reference', isSigned: false },
  ])
})

test('a token with an invalid signature has no effect', () => {
  const forged = composeReturnPath(token, { ...settings, secret: ringOf('another secret') })
  expect(claimsOf(returned({ envelopeIds: [forged], returnPaths: [forged] }), settings)).toEqual([])
})

test('of a thousand references only some are followed', () => {
  const references = Array.from({ length: 1_000 }, (_, at) => {
    return `${reportId}.${(at % 255) + 1}@bounces.test.example`
  })
  expect(claimsOf({ returned: nothing, references }, settings)).toHaveLength(20)
})

const own = `${reportId}.7@bounces.test.example`

test.for([
  ['a complaint with our Message-ID', 'complaint', own, 'desk@there.example', true],
  ['a reply with our Message-ID', 'reply', own, '', true],
  ['a bounce that kept our Message-ID', 'bounce', own, '', false],
  ['a reply of a stranger', 'reply', 'a@there.example', 'desk@there.example', false],
  ['a mail without a Message-ID', 'reply', null, 'desk@there.example', false],
] as const)('%s', ([, kind, messageId, mailFrom, expected]) => {
  expect(isOurOwn({ kind, messageId }, mailFrom, settings)).toBe(expected)
})

test('mail from an address that we signed is our own, from a forged one is not', () => {
  const mail = { kind: 'bounce', messageId: null } as const
  expect(isOurOwn(mail, composeReturnPath(token, settings), settings)).toBe(true)
  expect(isOurOwn(mail, `<${composeAnswerAddress(token, settings)}>`, settings)).toBe(true)
  const forged = composeReturnPath(token, { ...settings, secret: ringOf('another secret') })
  expect(isOurOwn(mail, forged, settings)).toBe(false)
})
