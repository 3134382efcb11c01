import { expect, test } from 'vitest'
import { composeAnswer, composeLines } from '../../../../src/web/check/protocol.ts'

const scores = { reject: 15, greylist: undefined }
const meaning = 'Several reports of a part of it.'
const symbols = [{ name: 'REPORTED', weight: 6.25, meaning, basis: 'known' }] as const
const spam = { class: 'spam', confidence: 0.9, score: 6.25, symbols } as const

test('a verdict is expressed in the terms of rspamd', () => {
  const answer = composeAnswer({ verdict: spam, messageId: '1@shop.example' }, scores, 0.0012341)
  expect(answer).toEqual({
    is_skipped: false,
    score: 6.25,
    required_score: 15,
    action: 'add header',
    symbols: {
      REPORTED: {
        name: 'REPORTED',
        score: 6.25,
        metric_score: 6.25,
        description: 'Several reports of a part of it.',
      },
    },
    messages: {},
    'message-id': '1@shop.example',
    time_real: 0.001234,
    milter: {
      add_headers: { 'X-Spam': { value: 'Yes', order: 0 } },
      remove_headers: { 'X-Spam': 0 },
    },
  })
})

test('a rejection has a reason, and mail that passes loses forged result headers', () => {
  const phishing = { ...spam, class: 'phishing', confidence: 0.99 } as const
  const refused = composeAnswer({ verdict: phishing, messageId: undefined }, scores, 0)
  expect(refused).toMatchObject({
    action: 'reject',
    messages: { smtp_message: 'This message looks like phishing.' },
  })
  expect(refused.milter).toEqual({ remove_headers: { 'X-Spam': 0 } })
})

test.for([
  ['unread', /empty/],
  ['unavailable', /temporarily unavailable/],
] as const)('a message that is %s passes, and a symbol says why', ([checked, why]) => {
  const answer = composeAnswer(checked, scores, 0)
  expect(answer).toMatchObject({ is_skipped: true, action: 'no action', score: 0 })
  expect(answer.symbols).toMatchObject({ NO_VERDICT: { score: 0 } })
  expect(answer.symbols['NO_VERDICT']?.description).toMatch(why)
})

test('the lines are those that Exim reads', () => {
  const answer = composeAnswer({ verdict: spam, messageId: '1@shop.example' }, scores, 0)
  expect(composeLines(answer)).toBe(
    [
      'RSPAMD/1.3 0 EX_OK',
      'Metric: default; True; 6.25 / 15.00 / 0.0',
      'Action: add header',
      'Symbol: REPORTED(6.25)',
      'Message-ID: 1@shop.example',
      '',
    ].join('\r\n'),
  )
})

test('a Message-ID cannot add lines', () => {
  const messageId = '1@shop.example\r\nAction: no action'
  const lines = composeLines(composeAnswer({ verdict: spam, messageId }, scores, 0)).split('\r\n')
  expect(lines).toContain('Message-ID: 1@shop.example Action: no action')
})
