import { type AnalysisOptions, analyzeForCounting } from '../../src/pieces/analyze.ts'
import type { MessageFeatures } from '../../src/pieces/features/features.ts'

/** Header fields by name; null omits a field, a list writes it several times. */
export type WrittenFields = Readonly<Record<string, string | readonly string[] | null>>

const usual: WrittenFields = {
  Received: [
    [
      'from mail.shop.example (mail.shop.example [192.0.2.7])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ' for <ann@reader.example>; Mon, 16 Nov 2026 10:00:00 +0000',
    ].join('\r\n'),
  ],
  From: '"The Shop" <offers@shop.example>',
  To: 'ann.reader@reader.example',
  Subject: 'Your order of Monday',
  Date: 'Mon, 16 Nov 2026 09:59:57 +0000',
  'Message-ID': '<17.4@shop.example>',
  'MIME-Version': '1.0',
  'Content-Type': 'text/plain; charset=utf-8',
}

/** Composes an honest message with other fields and another body. */
export function featureMail(fields: WrittenFields = {}, body = 'Thank you, Ann.'): Buffer {
  const lines = Object.entries({ ...usual, ...fields }).flatMap(([name, value]) => {
    if (value === null) return []
    return [value].flat().map((one) => `${name}: ${one}`)
  })
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}\r\n`)
}

/** Computes the features of a composed message. */
export async function featuresOfMail(
  fields: WrittenFields = {},
  body?: string,
  options: Partial<AnalysisOptions> = {},
): Promise<MessageFeatures> {
  const raw = featureMail(fields, body)
  const whole = { trustedRelays: [], ignoreStamps: false, ...options }
  return (await analyzeForCounting(raw, whole)).features
}

/** Computes the features of a message in HTML. */
export function featuresOfHtml(html: string, fields: WrittenFields = {}): Promise<MessageFeatures> {
  return featuresOfMail({ ...fields, 'Content-Type': 'text/html; charset=utf-8' }, html)
}

/** Computes the features of a message with an attached file, whose content is used unchanged. */
export function featuresOfFile(
  name: string,
  type: string,
  content: Buffer | string,
): Promise<MessageFeatures> {
  const parts = [
    '--b',
    'Content-Type: text/plain',
    '',
    'See the file.',
    '--b',
    `Content-Type: ${type}`,
    `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(name)}`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64'),
    '--b--',
  ]
  return featuresOfMail({ 'Content-Type': 'multipart/mixed; boundary="b"' }, parts.join('\r\n'))
}
