import {
  addressShape,
  composeMailDate,
  fromLine,
  messageIdShape,
  unusedBoundary,
  urlShape,
} from './mail-parts.ts'
import { composeEncodedWords, foldText, utf8Words } from './seven-bit.ts'
import { cleanLine } from './text.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/** A letter: a mail from this service to one person, as text or as text and HTML. */
export type LetterContent = {
  from: string
  /** The name of the operator of this service: the display name of From. */
  operator?: string | undefined
  to: string
  replyTo?: string | undefined
  /** Unicode text. */
  subject: string
  /** Unicode text; lines end in LF. */
  text: string
  /** The same content as an HTML document. */
  html?: string | undefined
  language: 'en' | 'fr' | 'ru'
  date: Date
  /** In angle brackets. */
  messageId: string
  /** The Message-ID of the mail that the letter answers, with its angle brackets. */
  inReplyTo?: string | undefined
  /** `replied` for an answer to a mail we received, else `generated` (RFC 3834 §5). */
  autoSubmitted: 'generated' | 'replied'
  /** A page that stops letters of this kind with one click (RFC 8058). */
  unsubscribe?: string | undefined
}

/**
 * Composes a letter in 7 bits with CRLF line ends; the same content gives the same bytes. Omits
 * `inReplyTo` if it is not a valid Message-ID.
 *
 * Throws a RangeError when an address, its own Message-ID or the link could break the header.
 */
export function composeLetter(content: LetterContent): Buffer {
  const { from, to, replyTo, messageId, inReplyTo, unsubscribe } = content
  const addresses = [from, to, ...(replyTo === undefined ? [] : [replyTo])]
  if (!addresses.every((address) => addressShape.test(address))) {
    throw new RangeError('Not a valid address for a header')
  }
  if (!messageIdShape.test(messageId)) throw new RangeError('Not a valid Message-ID')
  if (unsubscribe !== undefined && !urlShape.test(unsubscribe))
    throw new RangeError('Not a valid link')
  const answered = messageIdShape.test(inReplyTo ?? '') ? inReplyTo : undefined
  const subject = composeSubject(content.subject)
  const fields: [name: string, value: string | undefined][] = [
    ['To', to],
    ['Reply-To', replyTo],
    ['Subject', foldText(subject, 'Subject: '.length)],
    ['Date', composeMailDate(content.date)],
    ['Message-ID', messageId],
    ['In-Reply-To', answered],
    ['References', answered],
    ['Auto-Submitted', `auto-${content.autoSubmitted}`],
    ['Content-Language', content.language],
    ['List-Unsubscribe', unsubscribe && `<${unsubscribe}>`],
    ['List-Unsubscribe-Post', unsubscribe && 'List-Unsubscribe=One-Click'],
    ['MIME-Version', '1.0'],
  ]
  const others = fields
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`)
  const header = `${fromLine(from, content.operator)}\r\n${others.join('')}`
  return Buffer.from(`${header}${composeContent(content)}`, 'latin1')
}

/** Composes the lines about the content and the content: one text, or a choice of text and HTML. */
function composeContent({ text, html, messageId }: LetterContent): string {
  const plain = composePart('plain', text)
  if (html === undefined) return plain
  const parts = [plain, composePart('html', html)]
  const boundary = unusedBoundary(messageId, parts)
  const body = parts.map((part) => `--${boundary}\r\n${part}`).join('')
  const type = `Content-Type: multipart/alternative;\r\n boundary="${boundary}"`
  return `${type}\r\n\r\n${body}--${boundary}--\r\n`
}

function composePart(subtype: 'plain' | 'html', text: string): string {
  const lines = `${text.trimEnd().replace(/\r?\n/g, '\r\n')}\r\n`
  const body = encodeTransfer(Buffer.from(lines).toString('latin1'), 'quoted-printable')
  return (
    `Content-Type: text/${subtype}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: quoted-printable\r\n\r\n${body}`
  )
}

/**
 * Composes one line of text in ASCII. Text that looks like an encoded word is displayed literally.
 */
function composeSubject(text: string): string {
  const line = cleanLine(text)
  if (line.includes('=?')) return utf8Words(line)
  return composeEncodedWords(Buffer.from(line).toString('latin1'))
}
