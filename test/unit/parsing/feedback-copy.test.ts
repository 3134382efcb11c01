import { expect, test } from 'vitest'
import { feedbackFormats } from '../../../src/mail/feedback-format.ts'
import { signMail, withSignatureOf } from '../../../src/mail/dkim-signature.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { contentOf } from '../../support/feedback-reports.ts'
import { spamMessage } from '../../support/messages.ts'
import { keysIn } from '../../support/seen-keys.ts'
import { ed25519Key } from '../../support/signing.ts'

const raw = spamMessage('copy')
const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })

const forms = feedbackFormats.flatMap((format) =>
  (['whole', 'headers'] as const).flatMap((form) =>
    [true, false].map((isUnsolicited) => ({ format, form, isUnsolicited })),
  ),
)

test.for(forms)(
  'the copy of a feedback report differs from it only in its keys: %o',
  async (changes) => {
    // Each length of the texts before them shifts the keys in base64 and in quoted-printable.
    for (let at = 1; at < 40; at++) {
      const content = contentOf(1, { ...changes, from: `${'a'.repeat(at)}@here.example` })
      const needles = Object.fromEntries(content.answerKeys.entries())
      const mail = await composeFeedback(raw, analysis, content)
      expect(keysIn(mail.raw, needles).length).toBeGreaterThan(0)
      expect(keysIn(mail.copy, needles)).toEqual([])
      expect(mail.copy).toHaveLength(mail.raw.length)
      const differing = [...mail.copy.entries()].filter(([index, byte]) => byte !== mail.raw[index])
      expect(differing.length).toBeLessThan(16 * 12)
    }
  },
)

test('the copy has the signature of the mail that is sent', async () => {
  const { privateKey } = ed25519Key()
  const mail = await composeFeedback(raw, analysis, contentOf(1))
  const signed = signMail(mail.raw, { domain: 'here.example', selector: 'a', privateKey })
  const copy = withSignatureOf(signed, mail.copy)
  const end = signed.length - mail.raw.length
  expect(end).toBeGreaterThan(100)
  expect(copy).toHaveLength(signed.length)
  expect(copy.subarray(0, end).equals(signed.subarray(0, end))).toBe(true)
})

test('keys of the reporter in the message do not reach the desk', async () => {
  const link = 'https://spam.example/account/reset/Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OTAx'
  const text = `${String(raw)}\r\n${link}\r\n`
  const reported = Buffer.from(text)
  const found = await analyzePlainly(reported, { trustedRelays: [], ignoreStamps: false })
  for (const format of feedbackFormats) {
    const content = contentOf(1, { format, keepsTokens: true })
    const mail = await composeFeedback(reported, found, content)
    expect(keysIn(mail.raw, { link: link.slice(-16) })).toEqual([])
  }
})
