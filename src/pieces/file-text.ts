import { decodeHTML } from 'entities/decode'
import type { BodyAttachment } from '../mail/message-body.ts'
import { cellPictures } from './cell-pictures.ts'
import { htmlView } from './html-view.ts'
import type { FileLinks } from './links.ts'
import { linksInScript, writtenLinks } from './written-links.ts'

export type FileText = { links: FileLinks; pictures: Buffer[] }

type TextFile = Pick<BodyAttachment, 'name' | 'type' | 'content'>

/** Only the beginning of a longer file is read. */
const BYTES_MAX = { page: 10_000_000, text: 1_000_000 }
const TEXT_CHARS_MAX = 256 * 1024
/** Pictures in the texts of a file that are larger, or all together, are not decoded. */
const PICTURE_BYTES_MAX = { one: 1_500_000, all: 6_000_000 }

/**
 * Reads a file that is a text for people or programs: a page or a drawing, an entry of a calendar,
 * a shortcut or any other text. Undefined for other files. Linear time.
 */
export function readText(file: TextFile): FileText | undefined {
  const { content } = file
  if (isPage(file)) return readPage(decoded(content.subarray(0, BYTES_MAX.page)))
  if (!isText(content) || headerTypes.test(file.type)) return undefined
  const text = decoded(content.subarray(0, BYTES_MAX.text))
  const isFolded = /^(?:BEGIN:V|\uFEFF?BEGIN:V)/i.test(text)
  if (isFolded) return ofText(unfolded(text))
  // In sources, logs and settings, a word with a dot is seldom a host to visit.
  return ofText(isForPeople(file) ? text : [...writtenLinks(text)].join('\n'))
}

/** Headers of returned mail name the machines of everybody on the way. */
const headerTypes = /^(?:text\/rfc822-headers?|message\/(?:rfc822-headers|delivery-status))\b/i

function isForPeople({ type, name = '' }: TextFile): boolean {
  return /^text\/plain\b/i.test(type) || /\.(?:txt|csv)\s*$/i.test(name)
}

export function ofText(text: string, urls: string[] = []): FileText {
  return {
    links: { where: 'attachment', urls, text: text.slice(0, TEXT_CHARS_MAX) },
    pictures: [],
  }
}

/** Reads a page: its links, the addresses in its text and its scripts, and its pictures. */
export function readPage(html: string): FileText {
  const view = htmlView(html)
  const { dotted, text, script, more } = view
  const clear = view.links.filter(({ isFaint }) => !isFaint)
  const ordered = [...clear, ...view.links.filter(({ isFaint }) => isFaint)]
  const urls = [...ordered.map(({ url }) => url), ...linksInScript(script)]
  const shown = /[[({]|\sdot\s|h(?:xx|\*\*)ps?/i.test(text) ? `${dotted}\n${text}` : dotted
  return {
    links: { where: 'attachment', urls, text: shown.slice(0, TEXT_CHARS_MAX), more },
    pictures: [...picturesIn(view.pictures), ...cellPictures(html, view)],
  }
}

/** Decodes the pictures in `data:` URIs (RFC 2397). */
export function picturesIn(uris: readonly string[]): Buffer[] {
  let bytes = 0
  return uris.flatMap((uri) => {
    const comma = uri.indexOf(',')
    const isData = /;\s*base64\s*$/i.test(uri.slice(0, Math.min(comma, HEAD_CHARS_MAX)))
    if (!isData || uri.length > PICTURE_BYTES_MAX.one * 2) return []
    bytes += (uri.length / 4) * 3
    if (bytes > PICTURE_BYTES_MAX.all) return []
    const data = uri.slice(comma + 1)
    return [Buffer.from(data.includes('%') ? unescaped(data) : data, 'base64')]
  })
}

const HEAD_CHARS_MAX = 200

function unescaped(data: string): string {
  return data.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const pageTypes = /^(?:text\/x?html?|application\/xhtml\+xml|image\/svg\+xml)\b/i

/** Whether a browser opens the file as a page or a drawing. */
function isPage({ type, name = '', content }: TextFile): boolean {
  return (
    pageTypes.test(type) ||
    /\.(?:[sx]?html?|svgz?|mht(?:ml)?)\s*$/i.test(name) ||
    /^\s*<(?:!doctype html|html|svg)\b/i.test(content.toString('latin1', 0, 100))
  )
}

/** Decodes a text. Names in other charsets than UTF-8 and UTF-16 may be garbled. */
function decoded(content: Buffer): string {
  const start = content.length < 2 ? 0 : content.readUInt16BE(0)
  if (start === 0xfffe) return content.toString('utf16le', 2)
  if (start === 0xfeff) return new TextDecoder('utf-16be').decode(content)
  return content.toString()
}

const START_BYTES = 512

export function isRtf(content: Buffer): boolean {
  return content.toString('latin1', 0, 5) === '{\\rtf'
}

/** Whether a file begins without control characters, or with the mark of UTF-16. */
function isText(content: Buffer): boolean {
  const mark = content.length < 2 ? 0 : content.readUInt16BE(0)
  if (mark === 0xfffe || mark === 0xfeff) return true
  const start = content.toString('latin1', 0, START_BYTES)
  return !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(start) && !/^(?:%PDF|MZ|GIF8|\{\\rtf)/.test(start)
}

/** The text of an entry of a calendar or an address book (RFC 5545 §3.1, 3.3.11). */
function unfolded(text: string): string {
  return text
    .replaceAll(/\r?\n[ \t]/g, '')
    .replaceAll(/\\([nN,;\\])/g, (_, sign: string) => (/n/i.test(sign) ? '\n' : sign))
}

/** The digits of a picture or of another object. */
const rtfData = /(?<![\da-f\r\n])[\da-f\r\n]{500,}/gi

/** Reads the beginning of a document in RTF, with the targets of its fields (RTF 1.9.1). */
export function readRtf(content: Buffer): FileText {
  const text = content
    .toString('latin1')
    .replaceAll(rtfData, '')
    .slice(0, BYTES_MAX.text)
    .replaceAll(/\\bin\d{1,9}/g, '')
    .replaceAll(/\\'([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    .replaceAll(/\\u(-?\d{1,5}) ?(?:\\'[\da-f]{2}|[?_])?/g, (_, code: string) =>
      String.fromCharCode((Number(code) + 0x10000) & 0xffff),
    )
    .replaceAll(/\\(?:par|line|cell|row|tab)\b ?/g, '\n')
    .replaceAll(/\\\*|\\[a-z]{1,32}-?\d{0,10} ?|[{}\r\n]/gi, '')
    .replaceAll(/\\(.)/g, '$1')
  return ofText(text)
}

/**
 * Reads a part of an Office document (ECMA-376, ODF): the targets of its relationships outside the
 * document, or its text with what its fields and links say.
 */
export function readOfficePart(name: string, content: Buffer): FileText {
  const xml = decoded(content)
  const valuesOf = (attribute: RegExp) =>
    Array.from(xml.matchAll(attribute), ([, one = '', other = '']) => decodeHTML(one || other))
  if (/\.rels$/i.test(name))
    return ofText(
      '',
      valuesOf(target).filter((url) => outside.test(url)),
    )
  const lines = xml.replaceAll(/<\/(?:w:p|a:p|si|c|text:p)>|<w:(?:br|tab)\b[^<>]{0,99}>/g, '\n')
  const text = decodeHTML(lines.replaceAll(/<[^<>]{0,5000}>/g, ''))
  return ofText([...valuesOf(instruction), text].join('\n'))
}

const target = /\bTarget\s{0,9}=\s{0,9}(?:"([^"]{1,5000})"|'([^']{1,5000})')/g
const instruction = /\b(?:xlink:href|w:instr)\s{0,9}=\s{0,9}(?:"([^"]{1,5000})"|'([^']{1,5000})')/g
const outside = /^\s{0,9}(?:https?:|ftp:|www\.|[\\/]{2})/i
