import { createHash } from 'node:crypto'

/** One part of a forward: its header lines and its unchanged body. */
export type ForwardPart = { header: readonly string[]; body: Buffer | string }

/** Composes a mail by ann with the given parts between its delimiters. */
export function forwardOf(
  parts: readonly ForwardPart[],
  {
    eol = '\r\n',
    before = [] as readonly string[],
    header = [] as readonly string[],
    from = 'ann@reporters.example',
  } = {},
): Buffer {
  const hash = createHash('sha1')
  for (const { body } of parts) hash.update(body)
  // Derived from the parts, so that the boundary of a forward inside another does not end the outer
  // one.
  const boundary = `=_${hash.update(header.join()).digest('hex')}`
  const lines = [
    ...before,
    `From: Ann <${from}>`,
    'To: <report@bounces.test.example>',
    'Subject: Fwd: junk',
    ...header,
    'Message-ID: <forward-1@reporters.example>',
    'Date: Mon, 16 Nov 2026 12:00:00 +0000',
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    '',
  ]
  const pieces = parts.flatMap(({ header: own, body }) => [
    Buffer.from([`--${boundary}`, ...own, '', ''].join(eol)),
    Buffer.from(body),
    Buffer.from(eol),
  ])
  return Buffer.concat([
    Buffer.from(lines.join(eol)),
    ...pieces,
    Buffer.from(`--${boundary}--${eol}`),
  ])
}

/** A text part that accompanies the forwarded messages. */
export const greeting: ForwardPart = {
  header: ['Content-Type: text/plain; charset=utf-8'],
  body: 'See attached.\r\n',
}

/** An attached message, in the way in which most programs attach it. */
export function attached(message: Buffer, name = 'message.eml'): ForwardPart {
  return {
    header: [
      'Content-Type: message/rfc822',
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: 8bit',
    ],
    body: message,
  }
}

/** An attached file in base64. */
export function file(type: string, name: string, content: Buffer): ForwardPart {
  const lines = content.toString('base64').match(/.{1,76}/g) ?? []
  return {
    header: [
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
    ],
    body: lines.join('\r\n'),
  }
}
