import type { TestApp } from './app.ts'
import { insertInboundMail, type InboundPurpose } from '../../src/db/inbox.ts'
import { pack } from '../../src/db/rows.ts'
import { uuidv7 } from '../../src/world.ts'

function mail(lines: readonly string[]): Buffer<ArrayBuffer> {
  return Buffer.from(lines.join('\r\n'))
}

/** The result that a delivery status notification (RFC 3464) reports. */
export type DsnFacts = {
  recipient: string
  action?: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  status?: string
  said?: string
  envelopeId?: string
  /** The header of the returned mail. */
  returned?: readonly string[]
}

/** Composes a delivery status notification. */
export function dsn(facts: DsnFacts): Buffer<ArrayBuffer> {
  const { recipient, action = 'failed', status = '5.1.1' } = facts
  const { said = `550 ${status} No such user`, envelopeId, returned } = facts
  return mail([
    'From: Mail Delivery System <MAILER-DAEMON@mx.desk.example>',
    'To: <fb@bounces.test.example>',
    'Subject: Undelivered Mail Returned to Sender',
    'Date: Mon, 16 Nov 2026 11:00:00 +0000',
    `Message-ID: <${uuidv7(new Date())}@mx.desk.example>`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    `<${recipient}>: ${said}`,
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.desk.example',
    ...(envelopeId === undefined ? [] : [`Original-Envelope-Id: ${envelopeId}`]),
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${said}`,
    '',
    ...(returned ? ['--b', 'Content-Type: text/rfc822-headers', '', ...returned, ''] : []),
    '--b--',
    '',
  ])
}

/** Composes a bounce in qmail's own format, with the returned mail. */
export function qmailBounce(recipient: string, returned: readonly string[]): Buffer<ArrayBuffer> {
  return mail([
    'From: MAILER-DAEMON@mx.desk.example',
    'To: fb@bounces.test.example',
    'Subject: failure notice',
    'Date: 16 Nov 2026 11:00:00 -0000',
    '',
    'Hi. This is the qmail-send program at mx.desk.example.',
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.",
    '',
    `<${recipient}>:`,
    'Sorry, no mailbox here by that name. (#5.1.1)',
    '',
    '--- Below this line is a copy of the message.',
    '',
    ...returned,
    '',
    'A feedback report.',
    '',
  ])
}

/** Composes a complaint (RFC 5965) about the mail whose header is `returned`. */
export function complaint(
  returned: readonly string[],
  fields: readonly string[] = ['Feedback-Type: abuse'],
): Buffer<ArrayBuffer> {
  return mail([
    'From: <feedbackloop@provider.example>',
    'To: <feedback@bounces.test.example>',
    'Subject: FW: A feedback report',
    'Date: Mon, 16 Nov 2026 12:00:00 +0000',
    `Message-ID: <${uuidv7(new Date())}@provider.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is an email abuse report.',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    ...fields,
    'User-Agent: Loop/1.0',
    'Version: 1',
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    ...returned,
    '',
    'The mail.',
    '',
    '--b--',
    '',
  ])
}

/** Composes a mail from a person; `header` adds fields. */
export function reply(
  from: string,
  text: readonly string[],
  header: readonly string[] = [],
): Buffer<ArrayBuffer> {
  return mail([
    `From: <${from}>`,
    'To: <feedback@bounces.test.example>',
    ...(header.some((line) => /^subject:/i.test(line)) ? [] : ['Subject: Re: Cheap watches']),
    'Date: Mon, 16 Nov 2026 12:00:00 +0000',
    `Message-ID: <${uuidv7(new Date())}@desk.example>`,
    ...header,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...text,
    '',
  ])
}

/**
 * How a mail arrived: the purpose of its recipient address, the author, and what the address refers
 * to.
 */
export type Arrived = {
  purpose: InboundPurpose
  mailFrom?: string
  reportId?: string
  number?: number
  letterId?: string
}

/** Stores a mail as `receive` does, without its job. */
export async function arrive(
  { pool }: Pick<TestApp, 'pool'>,
  raw: Buffer,
  { purpose, mailFrom = '', reportId, number, letterId }: Arrived,
): Promise<{ mailId: string }> {
  const mailId = uuidv7(new Date())
  await insertInboundMail(pool, {
    id: mailId,
    receivedAt: new Date(),
    mailFrom,
    rcptTo: 'fb@bounces.test.example',
    purpose,
    reportId: reportId ?? null,
    number: number ?? (reportId === undefined ? null : 1),
    letterId: letterId ?? null,
    reporterId: null,
    peerIp: null,
    ...(await pack(raw)),
  })
  return { mailId }
}
