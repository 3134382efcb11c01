import { hash } from 'node:crypto'
import { type HeaderField, parseHeader } from '../header.ts'
import { unusedBoundary } from '../mail-parts.ts'
import { encodeTransfer } from '../transfer-encoding.ts'

/** A piece of text as it was kept, in the charset it was kept in. */
export type KeptText = { bytes: Buffer; charset: string }

/** A file that was attached; `type` undefined where nobody said one. */
export type KeptFile = {
  name: string | undefined
  type: string | undefined
  contentId: string | undefined
  bytes: Buffer
}

/** What a mail program keeps of a message that it took apart. */
export type KeptPieces = {
  /** The header as it was received, as text. */
  header: Buffer
  text: KeptText | undefined
  html: KeptText | undefined
  files: readonly KeptFile[]
}

const typeShape = /^[a-z]+\/[a-z0-9!#$&^_.+-]{1,120}$/i

/**
 * A message of the header as it was received and a body made anew of its pieces, the same bytes
 * each time. What the header says of the form of the old body is left out. Its words are those
 * that were sent, its bytes are not: no signature over the body can verify.
 */
export function rebuildMessage({ header, text, html, files }: KeptPieces): Buffer {
  const fields = parseHeader(header).fields.filter(({ key }) => !isOfBody(key))
  const seed = hash('sha256', header)
  const texts = [
    ...(text || !html ? [textPart('text/plain', text)] : []),
    ...(html ? [textPart('text/html', html)] : []),
  ]
  const body = texts.length > 1 ? multipart('alternative', texts, seed) : (texts[0] ?? '')
  const content =
    files.length > 0 ? multipart('mixed', [body, ...files.map(filePart)], `${seed} all`) : body
  const lines = [...fields.map(asLines), 'MIME-Version: 1.0\r\n', content]
  return Buffer.from(lines.join(''), 'latin1')
}

function isOfBody(key: string): boolean {
  return key === 'mime-version' || key.startsWith('content-')
}

/** All line ends become CRLF; a CR alone would end a line for some readers. */
function asLines({ raw }: HeaderField): string {
  return `${raw.replace(/\r*\n|\r/g, '\r\n')}\r\n`
}

function textPart(type: string, { bytes, charset }: KeptText = emptyText): string {
  const encoded = encodeTransfer(bytes.toString('latin1'), 'base64')
  return (
    `Content-Type: ${type}; charset=${charset}\r\n` +
    `Content-Transfer-Encoding: base64\r\n\r\n${encoded}`
  )
}

const emptyText: KeptText = { bytes: Buffer.alloc(0), charset: 'utf-8' }

function filePart({ name, type = '', contentId, bytes }: KeptFile): string {
  const isMessage = type === 'message/rfc822'
  const isSafe = typeShape.test(type) && !/^(?:multipart|message)\//i.test(type)
  const shownType = isMessage || isSafe ? type : 'application/octet-stream'
  const content = bytes.toString('latin1')
  const encoded = isMessage
    ? `Content-Transfer-Encoding: 8bit\r\n\r\n${content}`
    : `Content-Transfer-Encoding: base64\r\n\r\n${encodeTransfer(content, 'base64')}`
  const id = /^[\x21-\x3b\x3d\x3f-\x7e]{1,200}$/.test(contentId ?? '')
    ? `Content-ID: <${contentId ?? ''}>\r\n`
    : ''
  const file = name === undefined ? '' : `;\r\n filename*=utf-8''${percentEncoded(name)}`
  return `Content-Type: ${shownType}\r\nContent-Disposition: attachment${file}\r\n${id}${encoded}`
}

function percentEncoded(name: string): string {
  return encodeURIComponent(name.toWellFormed().slice(0, 200)).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function multipart(kind: string, parts: readonly string[], seed: string): string {
  const boundary = unusedBoundary(seed, parts)
  const inside = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  const type = `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n`
  return `${type}${inside}--${boundary}--\r\n`
}
