import { expect, test } from 'vitest'
import {
  answerKinds,
  answerLinks,
  composeAnswerAddress,
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  composeMailInAddress,
  composeReturnPath,
  parseAnswerToken,
  parseOwnAddress,
} from '../../../src/mail/verp.ts'
import { ringOf } from '../../support/key-ring.ts'

const settings = { domain: 'bounce.example.org', secret: ringOf('a secret of the tests') }
const reportId = '0198c5f0-1234-7abc-8def-0123456789ab'
const token = { reportId, number: 7 }
const secret = 'abcdefghijklmnopqrstuvwxy2'

const addresses = {
  'feedback-bounce': composeReturnPath(token, settings),
  'feedback-answer': composeAnswerAddress(token, settings),
  'letter-bounce': composeLetterReturnPath(reportId, settings),
  'letter-answer': composeLetterAnswerAddress(reportId, settings),
  'mail-in': composeMailInAddress(secret, settings),
}

test.for([
  ['feedback-bounce', token],
  ['feedback-answer', token],
  ['letter-bounce', { letterId: reportId }],
  ['letter-answer', { letterId: reportId }],
  ['mail-in', { secret }],
] as const)('the purpose of an address can be read from it: %s', ([is, what]) => {
  expect(parseOwnAddress(addresses[is], settings)).toEqual({ is, ...what })
  expect(parseOwnAddress(`<${addresses[is].toUpperCase()}.>`, settings)).toEqual({ is, ...what })
})

test('the signature for one purpose is not valid for another', () => {
  const turned = addresses['feedback-bounce'].replace(/^fb-/, 're-')
  expect(parseOwnAddress(turned, settings)).toBe('forged')
})

test.for(Object.values(addresses))('%s at another domain is not our address', (address) => {
  expect(parseOwnAddress(address, { ...settings, domain: 'example.net' })).toBeUndefined()
})

test('the links of a feedback report name it, and cannot be forged for another', () => {
  const links = answerLinks(token, { publicUrl: 'https://spam.example', secret: settings.secret })
  for (const kind of answerKinds) {
    const [, given = '', named] =
      /^https:\/\/spam\.example\/answer\/([^/]+)\/(.+)$/.exec(links[kind]) ?? []
    expect(named).toBe(kind)
    expect(parseAnswerToken(given, settings.secret)).toEqual(token)
    expect(parseAnswerToken(given, ringOf('another secret'))).toBeUndefined()
    expect(parseAnswerToken(given.replace(/^./, 'z'), settings.secret)).toBeUndefined()
  }
  const [localPart = ''] = addresses['feedback-answer'].split('@')
  expect(parseAnswerToken(localPart.slice(3), settings.secret)).toBeUndefined()
})
