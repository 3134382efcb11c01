import { spamMessage } from '../messages.ts'
import { type Keys, unsentKinds } from './every-key.ts'

/** Texts with all keys that mail can contain. */
export type KeyTexts = {
  /** One key a line. */
  lines: string
  /** The same as mail programs and gateways write it. */
  encodings: readonly string[]
  /** A body with all of them, with the header fields that describe it. */
  body: string
}

/** Writes all keys as mail programs and gateways do. */
export function textsWithKeys(keys: Keys): KeyTexts {
  const mailed = Object.entries(keys).flatMap(([kind, key]) =>
    unsentKinds.some((one) => one === kind) ? [] : [key],
  )
  const lines = mailed.join('\r\n')
  const quotedPrintable = lines.replaceAll(/.{50}/g, '$&=\r\n').replaceAll('@', '=40')
  const quoted = lines.replaceAll(/^(?=.)/gm, '> ').replaceAll(/.{60}/g, '$&\r\n> ')
  const safeLinks = mailed
    .map((key) => `<a href="https://safe.example/?url=${encodeURIComponent(key)}&amp;x=1">x</a>`)
    .join('\r\n')
  const escaped = mailed.map((key) => key.replaceAll('/', '&#x2F;')).join('<br>\r\n')
  const plain = 'Content-Type: text/plain; charset=utf-8'
  const body = [
    ...['Content-Type: multipart/mixed; boundary="b"', '', '--b'],
    ...[plain, '', lines, quoted, '', '--b'],
    ...[plain, 'Content-Transfer-Encoding: quoted-printable', ''],
    ...[quotedPrintable, '', '--b'],
    ...['Content-Type: text/html; charset=utf-8', '', safeLinks, escaped, '', '--b'],
    ...[plain, 'Content-Transfer-Encoding: base64', ''],
    ...[base64(`Hello\r\n${lines}`, 60), '', '--b'],
    ...['Content-Type: text/plain; charset=utf-16le', 'Content-Transfer-Encoding: base64', ''],
    ...[base64(Buffer.from(lines, 'utf16le').toString('latin1'), 76), '', '--b'],
    ...['Content-Type: message/rfc822', 'Content-Transfer-Encoding: base64', ''],
    ...[base64(`Subject: x\r\n\r\n${base64(lines, 76)}\r\n`, 76), '', '--b--', ''],
  ].join('\r\n')
  const encodings = [quotedPrintable, quoted, safeLinks, escaped, base64(lines, 60)]
  return { lines, encodings, body }
}

function base64(text: string, width: number): string {
  const digits = Buffer.from(text).toString('base64')
  return (digits.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\r\n')
}

/** A message of a spammer, or of somebody who forwards our own letters, with all keys. */
export function messageWithKeys(mark: string, keys: Keys, { body }: KeyTexts): Buffer<ArrayBuffer> {
  const [head = ''] = spamMessage(mark).toString().split('MIME-Version')
  const to = `${keys['mail-in address']}, ${keys['answer address of a letter']}`
  const fields = head
    .replace(/^To: .*$/m, `To: ${to}`)
    .replace(/^Subject: .*$/m, `Subject: Fwd: ${keys['reset link']}`)
  return Buffer.from(`${fields}MIME-Version: 1.0\r\n${body}`)
}

/** A mail to one of our addresses, from an abuse desk, with all keys. */
export function inboundMailWithKeys(keys: Keys, { body }: KeyTexts): Buffer<ArrayBuffer> {
  const to = keys['answer address of a feedback report']
  const head = `From: Abuse <abuse@desk.example>\r\nTo: ${to}\r\n`
  const subject = `Subject: Re: ${keys['answer link']}\r\nMIME-Version: 1.0\r\n`
  return Buffer.from(`${head}${subject}${body}`)
}
