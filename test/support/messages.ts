import path from 'node:path'

/**
 * Composes a spam message that came from `ip`, by default an address of the bundled sample
 * networks. `below` contains the lines of Received fields written by servers of its author.
 */
export function spamMessage(
  mark: string,
  { ip = '198.51.100.23', below = [] }: { ip?: string; below?: readonly string[] } = {},
): Buffer<ArrayBuffer> {
  return Buffer.from(
    [
      'Return-Path: <offers@shop.example>',
      `Received: from mail.shop.example (mail.shop.example [${ip}])`,
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ' for <you@provider.example>; Mon, 16 Nov 2026 10:00:00 +0000',
      ...below,
      'From: "Great Offers" <offers@shop.example>',
      'To: you@provider.example',
      `Subject: Cheap watches ${mark}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${mark}@shop.example>`,
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      `Buy at https://shop.example/${mark} now. Café!`,
      '',
    ].join('\r\n'),
  )
}

/** Composes a spam message that presents itself as a reply. */
export function replyMessage(mark: string): Buffer<ArrayBuffer> {
  const raw = spamMessage(mark).toString()
  return Buffer.from(raw.replace('From:', 'In-Reply-To: <you@provider.example>\r\nFrom:'))
}

/** Composes a delivery status notification (RFC 3464) which says that `to` does not exist. */
export function bounceMessage(to: string): Buffer<ArrayBuffer> {
  return Buffer.from(
    [
      'From: MAILER-DAEMON@mx.desk.example',
      'To: <fb@bounces.example>',
      'Subject: Undelivered Mail Returned to Sender',
      'Date: Mon, 16 Nov 2026 11:00:00 +0000',
      'Message-ID: <bounce-1@mx.desk.example>',
      'Auto-Submitted: auto-replied',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="bounce"',
      '',
      '--bounce',
      'Content-Type: text/plain; charset=us-ascii',
      '',
      `<${to}>: host mx.desk.example said: 550 5.1.1 No such user`,
      '',
      '--bounce',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.desk.example',
      'Arrival-Date: Mon, 16 Nov 2026 10:59:59 +0000',
      '',
      `Final-Recipient: rfc822; ${to}`,
      'Action: failed',
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 No such user',
      '',
      '--bounce--',
      '',
    ].join('\r\n'),
  )
}

/** The file with the networks of a new instance. */
export const sampleNetworks = path.join(import.meta.dirname, '../../src/db/sample-networks.csv')

/**
 * Composes a spam message that came to its reporter through an unknown relay (192.0.2.10), which
 * received it from `ip`.
 */
export function relayedMessage(
  mark: string,
  { ip = '198.51.100.23', domain = 'shop.example' } = {},
): Buffer<ArrayBuffer> {
  return Buffer.from(
    [
      'Received: from relay.provider.example (relay.provider.example [192.0.2.10])',
      ' by mx.home.example (Postfix) with ESMTPS id 4ABC',
      ' for <you@home.example>; Mon, 16 Nov 2026 10:00:02 +0000',
      `Received: from mail.${domain} (mail.${domain} [${ip}])`,
      ' by relay.provider.example (Postfix) with ESMTPS id 4ABD',
      ' for <you@home.example>; Mon, 16 Nov 2026 10:00:00 +0000',
      `From: "Great Offers" <offers@${domain}>`,
      'To: you@home.example',
      `Subject: Cheap watches ${mark}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${mark}@${domain}>`,
      '',
      `Buy at https://${domain}/${mark} now.`,
      '',
    ].join('\r\n'),
  )
}
