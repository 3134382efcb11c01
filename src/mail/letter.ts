import { addressShape, composeMailDate, fromLine, messageIdShape, urlShape } from './mail-parts.ts'
import { composeEncodedWords, foldText, utf8Words } from './seven-bit.ts'
import { cleanLine } from './text.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/** A letter: a text mail from this service to one person. */
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
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Transfer-Encoding', 'quoted-printable'],
  ]
  const others = fields
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`)
  const lines = content.text.trimEnd().replace(/\r?\n/g, '\r\n')
  const body = encodeTransfer(Buffer.from(`${lines}\r\n`).toString('latin1'), 'quoted-printable')
  const header = `${fromLine(from, content.operator)}\r\n${others.join('')}`
  return Buffer.from(`${header}\r\n${body}`, 'latin1')
}

/**
 * Composes one line of text in ASCII. Text that looks like an encoded word is displayed literally.
 */
function composeSubject(text: string): string {
  const line = cleanLine(text)
  if (line.includes('=?')) return utf8Words(line)
  return composeEncodedWords(Buffer.from(line).toString('latin1'))
}

const LINE_CHARS_MAX = 78

/**
 * The text of a letter from its paragraphs, wrapped for mail programs. A word that is longer than a
 * line, such as a link, is not broken.
 */
export function letterText(paragraphs: readonly string[]): string {
  return paragraphs.map((one) => one.split('\n').map(wrapped).join('\n')).join('\n\n')
}

function wrapped(text: string): string {
  let line = ''
  const lines: string[] = []
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > LINE_CHARS_MAX) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
