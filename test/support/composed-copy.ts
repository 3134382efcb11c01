import type { ParsedMail } from 'mailparser'
import { composeFeedback } from '../../src/parsing/compose-report.ts'
import type { FeedbackContent } from '../../src/parsing/feedback-content.ts'
import { analyzePlainly } from '../../src/pieces/analyze.ts'
import { copyIn } from './copied-message.ts'
import { contentOf } from './feedback-reports.ts'

/** The address of the reporter. */
export const address = 'zoe.quarry4711@reporters.example'
/** The header of a message to the reporter. */
export const header = [
  'Return-Path: <offers@shop.example>',
  'Received: from mail.shop.example (mail.shop.example [192.0.2.44]) by mx.reporters.example',
  ` with ESMTPS id 4ABC for <${address}>; Tue, 3 Nov 2026 08:15:00 +0000`,
  'Received: from [203.0.113.9] by mail.shop.example with ESMTPSA id 5; Tue, 3 Nov 2026 08:14:58 +0000',
  'From: "Great Offers" <offers@shop.example>',
  `To: "Zoe Quarry" <${address}>`,
  'Date: Tue, 3 Nov 2026 08:14:57 +0000',
]

/** Composes the report on a message with the usual header, more fields and a body. */
export async function reportOn(
  fields: readonly string[],
  body: string | Buffer,
  changes: Partial<FeedbackContent> = {},
): Promise<Buffer> {
  const head = Buffer.from([...header, ...fields, '', ''].join('\r\n'), 'latin1')
  const raw = Buffer.concat([head, Buffer.from(body)])
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  return (await composeFeedback(raw, analysis, contentOf(1, changes))).raw
}

/** Returns the copy in the report on a message. */
export async function copyOf(
  fields: readonly string[],
  body: string | Buffer,
): Promise<ParsedMail> {
  return copyIn(await reportOn(fields, body))
}

/** Returns the values of a field of the copy, as mailparser unfolds them. */
export function valuesOf({ headerLines }: ParsedMail, name: string): string[] {
  return headerLines
    .filter(({ key }) => key === name.toLowerCase())
    .map(({ line }) =>
      line
        .slice(line.indexOf(':') + 1)
        .replace(/\r?\n/g, '')
        .trim(),
    )
}
