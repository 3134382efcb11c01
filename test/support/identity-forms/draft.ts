import type { Needle } from './needles.ts'
import type { Category, Pick } from './identities.ts'
import type { Medium } from './way.ts'

/** A part of a message: its fields, and its body as it is in the message. */
export type Part = { fields: readonly string[]; body: string | Buffer }

/** A message that is being written. */
export type Draft = {
  /** Fields that replace the usual ones, and further ones, by their names in small letters. */
  fields: Map<string, string>
  returnPath: string
  /** The clauses of the Received field of the reporter's provider. */
  entry: { helo: string; reverse: string; by: string; id: string; comment: string }
  /** Further Received fields, below. */
  hops: string[]
  deliveries: string[]
  to: string[]
  cc: string[]
  /** Lines of plain text, and elements of the head and of the body of HTML. */
  plain: string[]
  head: string[]
  html: string[]
  parts: Part[]
  preamble: string[]
  epilogue: string[]
  boundary: string
  /** Further parameters of the Content-Type of the message. */
  parameters: string
}

/**
 * A place in a message for a text. `put` returns needles of its own if the text stands there in a
 * form that only this place has, such as a file. It returns `impossible` for a text that cannot
 * stand there.
 */
export type Place = {
  name: string
  medium: Medium
  /** Undefined for all. */
  categories?: readonly Category[] | undefined
  /** Two places with the same key cannot be in one message. */
  key?: string | undefined
  put: (draft: Draft, written: string) => readonly Needle[] | 'impossible' | undefined
}

export function newDraft(): Draft {
  return {
    fields: new Map([
      ['from', 'From: Offers <offers@spam.test>'],
      ['subject', 'Subject: cheap pills'],
      ['message-id', 'Message-ID: <aaa@spam.test>'],
      ['date', 'Date: Sun, 22 Nov 2026 14:58:00 +0000'],
      ['mime-version', 'MIME-Version: 1.0'],
    ]),
    returnPath: 'bounces@spam.test',
    entry: {
      helo: 'host.spam.test',
      reverse: 'host.spam.test',
      by: 'mx.inbox.test',
      id: '5b1f',
      comment: '',
    },
    hops: [],
    deliveries: [],
    to: [],
    cc: [],
    plain: [],
    head: [],
    html: [],
    parts: [],
    preamble: [],
    epilogue: [],
    boundary: 'part-of-mail',
    parameters: '',
  }
}

/** Composes a message: simple when its places allow that, and with parts otherwise. */
export function composeDraft(draft: Draft, recipients: readonly string[], pick: Pick): Buffer {
  const { entry } = draft
  const [first = ''] = recipients
  const header = [
    `Return-Path: <${draft.returnPath}>`,
    ...draft.deliveries,
    `Received: from ${entry.helo} (${entry.reverse} [46.20.1.2]) by ${entry.by}${entry.comment}` +
      ` with ESMTP id ${entry.id}${first === '' ? '' : `\r\n for <${first}>`}; Sun, 22 Nov 2026 15:00:11 +0000`,
    ...draft.hops,
    ...(draft.to.length > 0 ? [`To: ${draft.to.join(',\r\n ')}`] : []),
    ...(draft.cc.length > 0 ? [`Cc: ${draft.cc.join(',\r\n ')}`] : []),
    ...draft.fields.values(),
  ]
  const body = bodyOf(draft, pick)
  const lines = [...header, ...body.fields].map((line) => `${line}\r\n`).join('')
  return Buffer.concat([Buffer.from(`${lines}\r\n`), bytesOf(body.body)])
}

function bodyOf(draft: Draft, pick: Pick): Part {
  const plain = textPart('plain', ['Buy our cheap pills.', ...draft.plain].join('\r\n'), pick)
  const html = textPart('html', htmlOf(draft), pick)
  const isSimple =
    draft.parts.length + draft.preamble.length + draft.epilogue.length === 0 &&
    draft.parameters === '' &&
    draft.boundary === 'part-of-mail'
  if (isSimple && draft.plain.length === 0) return html
  if (isSimple && draft.html.length + draft.head.length === 0) return plain
  const texts: Part = {
    fields: ['Content-Type: multipart/alternative; boundary="texts"'],
    body: joined([plain, html], 'texts'),
  }
  const body = joined([texts, ...draft.parts], draft.boundary)
  return {
    fields: [`Content-Type: multipart/mixed; boundary="${draft.boundary}"${draft.parameters}`],
    body: Buffer.concat([
      bytesOf(draft.preamble.map((line) => `${line}\r\n`).join('')),
      body,
      bytesOf(draft.epilogue.map((line) => `${line}\r\n`).join('')),
    ]),
  }
}

function htmlOf({ head, html }: Draft): string {
  const lines = [
    '<html><head>',
    ...head,
    '</head><body><p>Buy our cheap pills.</p>',
    ...html,
    '</body></html>',
  ]
  return lines.join('\r\n')
}

/** A text part in one of the transfer encodings. */
function textPart(subtype: string, text: string, pick: Pick): Part {
  const encoding = pick(['8bit', 'quoted-printable', 'base64'])
  const body = `${text}\r\n`
  return {
    fields: [
      `Content-Type: text/${subtype}; charset=utf-8`,
      `Content-Transfer-Encoding: ${encoding}`,
    ],
    body:
      encoding === '8bit'
        ? body
        : encoding === 'base64'
          ? inLines(Buffer.from(body))
          : quoted(body),
  }
}

/** Base64 in lines of 76 digits. */
export function inLines(bytes: Buffer): string {
  return (bytes.toString('base64').match(/.{1,76}/g) ?? []).map((line) => `${line}\r\n`).join('')
}

function quoted(text: string): string {
  const letters = text.replace(/=(?!\r\n)|=(?=\r\n)|[^\x20-\x7e\r\n\t]/gu, (letter) =>
    Buffer.from(letter)
      .toString('hex')
      .replace(/../g, (digits) => `=${digits.toUpperCase()}`),
  )
  return letters
    .split('\r\n')
    .map((line) => (line.match(/(?:=[0-9A-F]{2}|[^=]){1,70}/g) ?? []).join('=\r\n'))
    .join('\r\n')
}

function joined(parts: readonly Part[], boundary: string): Buffer {
  const chunks = parts.flatMap(({ fields, body }) => [
    bytesOf(`--${boundary}\r\n${fields.map((line) => `${line}\r\n`).join('')}\r\n`),
    bytesOf(body),
    bytesOf('\r\n'),
  ])
  return Buffer.concat([...chunks, bytesOf(`--${boundary}--\r\n`)])
}

function bytesOf(body: string | Buffer): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body
}
