import { hash } from 'node:crypto'
import { cleanLine } from './plain-text.ts'
import { foldText, utf8Words } from './seven-bit.ts'
import { encodeTransfer } from './transfer-encoding.ts'

const addressShape = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,128}@[A-Za-z0-9.-]{1,253}$/
const urlShape = /^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/
const messageIdShape = /^<[\x21-\x3b\x3d\x3f-\x7e]{1,900}>$/

/** What is to be written into a header; what is absent is no fault. */
export type HeaderPieces = {
  addresses: readonly (string | undefined)[]
  messageIds: readonly (string | undefined)[]
  links: readonly (string | undefined)[]
}

/** Throws a RangeError when one of them could break the header of a mail of ours. */
export function checkHeader({ addresses, messageIds, links }: HeaderPieces): void {
  const isWrong = (shape: RegExp) => (piece: string | undefined) =>
    piece !== undefined && !shape.test(piece)
  if (addresses.some(isWrong(addressShape))) {
    throw new RangeError('Not an address to write in a header')
  }
  if (messageIds.some(isWrong(messageIdShape))) throw new RangeError('Not a Message-ID')
  if (links.some(isWrong(urlShape))) throw new RangeError('Not a link')
}

/** The From field: the address, with a display name where there is one (RFC 5322 §3.4). */
export function fromLine(address: string, name: string | undefined): string {
  const shown = cleanLine(name ?? '')
  if (shown === '') return `From: ${address}`
  const isAscii = /^[\x20-\x7e]+$/.test(shown)
  const phrase = isAscii ? `"${shown.replace(/["\\]/g, '\\$&')}"` : utf8Words(shown)
  return `From: ${foldText(`${phrase} <${address}>`, 'From: '.length)}`
}

/** The lines by which one click stops such mail, in the words of RFC 8058 §3.1. */
export function unsubscribeLines(link: string | undefined): string[] {
  if (link === undefined) return []
  return [`List-Unsubscribe: <${link}>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']
}

/** A text part in 7 bits with its header, as a Latin-1 view; lines of the text end in LF. */
export function textPart(text: string): string {
  const lines = text.replaceAll('\n', '\r\n')
  if (/^[\x09\x0d\x0a\x20-\x7e]*$/.test(text)) {
    const type = 'Content-Type: text/plain; charset=us-ascii\r\n'
    return `${type}Content-Transfer-Encoding: 7bit\r\n\r\n${lines}`
  }
  const encoded = encodeTransfer(Buffer.from(lines).toString('latin1'), 'quoted-printable')
  const type = 'Content-Type: text/plain; charset=utf-8\r\n'
  return `${type}Content-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}`
}

/** A boundary that stands nowhere in the parts, and the same each time. */
export function unusedBoundary(messageId: string, parts: readonly string[]): string {
  for (let attempt = 0; ; attempt += 1) {
    const seed = `${messageId} ${String(attempt)}`
    const boundary = `=_${hash('sha256', seed).slice(0, 32)}`
    if (!parts.some((part) => part.includes(boundary))) return boundary
  }
}
