import { parseHeader } from '../header.ts'
import { looksLikeMessage } from '../message.ts'
import { charsetOfCodepage } from './codepage-charset.ts'
import { readCompoundFile, type Storage } from './compound-file.ts'
import { type KeptFile, type KeptText, rebuildMessage } from './rebuild-message.ts'
import { htmlOfRtf } from './rtf-html.ts'

/** What an Outlook file came to. */
export type OutlookMessage = { raw: Buffer } | { refusal: 'no-header' | 'not-a-message' }

/** Property ids of MS-OXPROPS; each is a stream named after it and the type of its value. */
const ids = {
  header: '007D',
  text: '1000',
  html: '1013',
  rtf: '1009',
  data: '3701',
  fileName: '3707',
  shortName: '3704',
  mimeType: '370E',
  contentId: '3712',
}
const internetCodepage = 0x3fde
const messageCodepage = 0x3ffd
const filesMax = 200
const nestingMax = 3
const nameCharsMax = 300

/**
 * Puts the message together anew that an Outlook file (`.msg`, MS-OXMSG) holds: its header stands
 * there as it was received, its body only as Outlook understood it. Without that header nobody can
 * tell where it came from: then it is refused. Never throws.
 */
export function readOutlookMessage(bytes: Buffer): OutlookMessage {
  const root = readCompoundFile(bytes)
  // Word, Excel and installers are compound files too.
  if (!root?.streams.has('__properties_version1.0')) return { refusal: 'not-a-message' }
  const raw = messageOf(root, 0)
  return raw ? { raw } : { refusal: 'no-header' }
}

function messageOf(storage: Storage, depth: number): Buffer | undefined {
  const header = headerOf(storage)
  if (!header) return undefined
  return rebuildMessage({ header, ...textsOf(storage, depth), files: filesOf(storage, depth) })
}

/** Undefined where there is none, or only what a program of the sender's own house wrote. */
function headerOf(storage: Storage): Buffer | undefined {
  const text = textProperty(storage, ids.header)?.bytes.toString('latin1') ?? ''
  const start = text.replace(/^\s*(?:Microsoft Mail Internet Headers Version [\d.]+\s*)?/i, '')
  const header = Buffer.from(start, 'latin1')
  const { fields, bodyOffset } = parseHeader(header)
  return looksLikeMessage({ fields, bodyOffset, lineEnd: 'lf' }) ? header : undefined
}

function textsOf(storage: Storage, depth: number) {
  const numbers = numbersOf(storage, depth)
  const kept = charsetOfCodepage(numbers.get(messageCodepage) ?? 0) ?? 'windows-1252'
  const text = textProperty(storage, ids.text, kept)
  return { text, html: htmlOf(storage, numbers.get(internetCodepage)) }
}

function htmlOf(storage: Storage, codepage = 0): KeptText | undefined {
  const html = streamOf(storage, ids.html, '0102')
  if (html && html.length > 0) return { bytes: html, charset: charsetOfHtml(html, codepage) }
  const text = textProperty(storage, ids.html)
  if (text && text.bytes.length > 0) return text
  const rtf = streamOf(storage, ids.rtf, '0102')
  const found = rtf && htmlOfRtf(rtf)
  return found ? { bytes: Buffer.from(found), charset: 'utf-8' } : undefined
}

function charsetOfHtml(html: Buffer, codepage: number): string {
  const known = charsetOfCodepage(codepage)
  if (known) return known
  return isUtf8(html) ? 'utf-8' : 'windows-1252'
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function filesOf(storage: Storage, depth: number): KeptFile[] {
  return [...storage.storages]
    .filter(([name]) => name.startsWith('__attach_version1.0_#'))
    .slice(0, filesMax)
    .flatMap(([, attachment]) => fileOf(attachment, depth) ?? [])
}

function fileOf(attachment: Storage, depth: number): KeptFile | undefined {
  const word = (id: string) =>
    textProperty(attachment, id)?.bytes.toString().trim().slice(0, nameCharsMax) || undefined
  const name = word(ids.fileName) ?? word(ids.shortName)
  const inside = attachment.storages.get(`__substg1.0_${ids.data}000D`)
  if (inside) {
    const raw = depth < nestingMax ? messageOf(inside, depth + 1) : undefined
    return raw && { name, type: 'message/rfc822', contentId: undefined, bytes: raw }
  }
  const bytes = streamOf(attachment, ids.data, '0102')
  return bytes && { name, type: word(ids.mimeType), contentId: word(ids.contentId), bytes }
}

/** A text: in Unicode as UTF-8; in bytes as they stand, under the charset that was told. */
function textProperty(storage: Storage, id: string, charset = 'utf-8'): KeptText | undefined {
  const unicode = streamOf(storage, id, '001F')
  if (unicode) return { bytes: Buffer.from(unicode.toString('utf16le')), charset: 'utf-8' }
  const bytes = streamOf(storage, id, '001E')
  return bytes && { bytes, charset }
}

function streamOf({ streams }: Storage, id: string, type: string): Buffer | undefined {
  return streams.get(`__substg1.0_${id}${type}`)?.read()
}

/** Properties that are numbers (MS-OXMSG §2.4): 16 bytes each, behind a header. */
function numbersOf({ streams }: Storage, depth: number): Map<number, number> {
  const table = streams.get('__properties_version1.0')?.read() ?? Buffer.alloc(0)
  const numbers = new Map<number, number>()
  for (let at = depth === 0 ? 32 : 24; at + 16 <= table.length; at += 16) {
    if (table.readUInt16LE(at) === 3)
      numbers.set(table.readUInt16LE(at + 2), table.readInt32LE(at + 8))
  }
  return numbers
}
