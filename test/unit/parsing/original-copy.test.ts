import { expect, test } from 'vitest'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { contentOf } from '../../support/feedback-reports.ts'

const secret = 'a'.repeat(26)
const text = `Please answer to report-${secret}@bounces.test.example, a plain text without links.`
const quoted = text.replace(secret, `${secret.slice(0, 9)}=\r\n${secret.slice(9)}`)

test.for([
  ['8bit', text],
  ['base64', Buffer.from(text).toString('base64')],
  ['quoted-printable', quoted],
])('a key of ours in an original is masked: %s', async ([encoding = '', body = '']) => {
  const raw = Buffer.from(
    [
      'Received: from mail.shop.example (mail.shop.example [192.0.2.44]) by mx.reporters.example',
      ' with ESMTPS id 4ABC; Tue, 3 Nov 2026 08:15:00 +0000',
      'From: offers@shop.example',
      'Content-Type: text/plain',
      `Content-Transfer-Encoding: ${encoding}`,
      '',
      body,
    ].join('\r\n'),
  )
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const content = { ...contentOf(1), hasOriginal: true }
  const mail = (await composeFeedback(raw, analysis, content)).raw.toString('latin1')
  const shown = [
    mail.replace(/=\r\n/g, ''),
    ...[...mail.matchAll(/^[A-Za-z0-9+/]{40,}=*/gm)].map(([run]) =>
      Buffer.from(run, 'base64').toString('latin1'),
    ),
  ].join('\n')
  expect(shown).toContain('report-****')
  expect(shown).not.toContain(secret)
})
