import { expect, test } from 'vitest'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { answerLinks } from '../../../src/mail/verp.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import type { FeedbackContent } from '../../../src/parsing/feedback-content.ts'
import { ringOf } from '../../support/key-ring.ts'

const time = 'Tue, 3 Nov 2026 08:15:00 +0000'
const throughGmail = [
  'from mail-a.google.com (mail-a.google.com [209.85.128.50]) by mx.home.example with ESMTPS id 1',
  'by mail-a.google.com with SMTP id 2',
  'from desk ([192.0.2.44]) by smtp.gmail.com with ESMTPSA id 3',
]

const reportId = '01a1fa3a-814b-7f10-ace3-b4222ca1f3d6'
const secret = ringOf('a secret of the tests, long enough')

async function feedbackOn(
  lines: readonly string[],
  changes: Partial<FeedbackContent> = {},
  { isRebuilt = false } = {},
): Promise<string> {
  const received = lines.map((line) => `Received: ${line}; ${time}\r\n`).join('')
  const raw = Buffer.from(`${received}From: a@author.example\r\n\r\nBuy.\r\n`)
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false, isRebuilt })
  const report = await composeFeedback(raw, analysis, {
    reportId,
    number: 1,
    from: 'feedback@here.example',
    to: 'abuse@there.example',
    createdAt: new Date('2026-11-03T09:00:00Z'),
    domain: 'here.example',
    service: 'here.example',
    feedbackType: 'abuse',
    complaint: { kind: 'spam', verdict: 'undecided', signs: [] },
    format: 'arf',
    form: 'whole',
    incidents: 1,
    answerAddress: 'answer@bounces.test.example',
    answerLinks: answerLinks(
      { reportId, number: 1 },
      { publicUrl: 'https://here.example', secret },
    ),
    answerKeys: [],
    isUnsolicited: true,
    keepsTokens: false,
    network: {
      cidr: '209.85.128.0/17',
      asn: 64_500,
      name: 'There',
      country: 'US',
      abuse: 'abuse@there.example',
      contacts: ['abuse@there.example'],
    },
    reporter: { addresses: ['reader@home.example'] },
    redactionKey: Buffer.alloc(32, 1),
    ...changes,
  })
  const text = report.raw.toString('latin1')
  return text.slice(0, text.indexOf('message/feedback-report')).replace(/\s+/g, ' ')
}

test('the abuse desk of a sending provider learns which client sent the message', async () => {
  const text = await feedbackOn(throughGmail)
  expect(text).toContain('received from IP 209.85.128.50')
  expect(text).toContain(
    'Received line 3: Google received the message from its customer at 192.0.2.44.',
  )
})

test('without a recorded client the report does not mention one', async () => {
  expect(await feedbackOn(throughGmail.slice(0, 2))).not.toContain('customer')
})

test('a rebuilt body is mentioned to the desk, and only that', async () => {
  const note = 'The body was rebuilt, so signatures over it cannot be verified'
  expect(await feedbackOn(throughGmail, {}, { isRebuilt: true })).toContain(note)
  expect(await feedbackOn(throughGmail)).not.toContain('rebuilt')
})

test('a retraction asks for nothing, and still offers to stop', async () => {
  const text = await feedbackOn(throughGmail, { feedbackType: 'not-spam', takenBack: 1, number: 2 })
  expect(text).toContain(`We retract our report ${reportId}.1`)
  expect(text).not.toMatch(/Please tell us the result|\/(?:resolved|wrong|not-ours)\b/)
  expect(text).toMatch(/Stop: https:\/\/here\.example\/answer\/\S+\/stop/)
})

test.for([
  ['spam', 'spam', 'reported this message as spam. We think that it is spam.', 'and stop it.'],
  [
    'phishing',
    'undecided',
    'as phishing. We could not confirm this.',
    'stop it if it is unwanted.',
  ],
] as const)('a complaint of %s judged %s is passed on as what it is', async ([...one]) => {
  const [kind, verdict, said, request] = one
  const signs = ['A link leads to an IP address.']
  const text = await feedbackOn(throughGmail, { complaint: { kind, verdict, signs } })
  expect(text).toContain(said)
  expect(text).toContain('What we see in it: - A link leads to an IP address.')
  expect(text).toContain(request)
})

test.for([
  ['unsubscribed', 'which was accepted at least 15 days before. The sender continues.'],
  ['advised', 'says that the sender continues after that.'],
] as const)('a sender who continued is reported as such: %s', async ([continued, said]) => {
  const complaint = { kind: 'spam', verdict: 'marketing', signs: [], continued } as const
  expect(await feedbackOn(throughGmail, { complaint })).toContain(said)
})
