import { parseHeader } from '../../src/mail/header.ts'
import { type MessageBody, parseBody } from '../../src/mail/message-body.ts'
import { type MimeLeaf, readMime } from '../../src/mail/mime-leaves.ts'
import { mailparserBody } from './mailparser-body.ts'

/** What a kind of mail is recognized by: its text, its content fields, and what is read in it. */
type Read = {
  raw: Buffer
  text: string
  fields: readonly Field[]
  leaves: readonly MimeLeaf[]
  ours: MessageBody
  theirs: MessageBody
}

/** A content field as written: its name in lower case, and its value. */
type Field = { name: string; value: string }

/**
 * The kinds of mail that our reader and mailparser read differently. Ours is what mail programs
 * show; where programs differ, it is what hides the least.
 */
const kinds: Record<string, (read: Read) => boolean> = {
  'a line that ends in a lone CR': ({ text }) => /\r(?!\n)/.test(text),
  'a delimiter with blanks after it': ({ text }) => /^--\S[^\r\n]*[ \t]+\r?$/m.test(text),
  'a multipart that does not name the boundary of its parts': ({ text, fields }) => {
    const isNameless = ({ value }: Field) => /multipart\//i.test(value) && !/boundary/i.test(value)
    const isAbsent = (name: string) => !isLine(text, `--${name}`) && !isLine(text, `--${name}--`)
    return fields.some(isNameless) || boundariesIn(text).some(isAbsent) || isOpen.test(text)
  },
  'a multipart that is not closed': ({ text }) =>
    boundariesIn(text).some((name) => !isLine(text, `--${name}--`)),
  'a boundary that is used twice': ({ text }) => {
    const names = boundariesIn(text)
    return new Set(names).size < names.length
  },
  'a content field that is damaged, unusual or encoded': ({ fields }) => fields.some(isUnusual),
  'a content field that is repeated': ({ text }) =>
    text.split(/\r?\n\r?\n/).some((block) => {
      const names = contentFieldsIn(block).map(({ name }) => name)
      return new Set(names).size < names.length
    }),
  'letters that are not those of the charset': ({ theirs }) =>
    (theirs.text + theirs.html).includes('\uFFFD'),
  'a message inside whose fields are shown': ({ leaves }) => {
    const isShown = ({ isInline, isTyped }: MimeLeaf) => isInline || !isTyped || leaves.length === 1
    return leaves.some((leaf) => /^message\/(?!delivery)/.test(leaf.type) && isShown(leaf))
  },
  'a multipart without parts, which is shown as a text': ({ leaves }) =>
    leaves.some(({ type }) => type.startsWith('multipart/')),
  'a text as the only part, though it is an attachment': ({ leaves }) =>
    leaves.length === 1 && leaves[0]?.isAttachment === true,
  'a header of a part without a blank line after it': ({ raw, leaves }) =>
    leaves.some(({ content }) => !endsHeader(raw, content.byteOffset - raw.byteOffset)),
  'a soft line break inside an encoded byte': ({ text }) =>
    /quoted-printable/i.test(text) && /=[\da-f]?=[ \t]*(?:\r?\n|$)/i.test(text),
  'base64 with other characters in it': ({ leaves }) =>
    leaves.some(({ encoding, content }) => encoding === 'base64' && !isBase64(content)),
  'a part that is nothing but a line end': ({ text }) => /\r?\n\r?\n\r?\n--/.test(text),
}

function isBase64(content: Buffer): boolean {
  return /^[A-Za-z\d+/\s]*={0,2}\s*$/.test(content.toString('latin1'))
}

/** Whether a blank line ends before a position. */
function endsHeader(raw: Buffer, at: number): boolean {
  return /\n\r?\n$/.test(raw.toString('latin1', Math.max(0, at - 3), at))
}

/** A closing delimiter with a header after it. */
const isOpen = /^--\S[^\r\n]*--\r?\n(?:[\w-]+:[^\r\n]*\r?\n){0,5}content-/im

function boundariesIn(text: string): string[] {
  return [...text.matchAll(/boundary\s*=\s*(?:"([^"]+)"|([^\s";]+))/gi)].map(
    ([, quoted, bare = '']) => quoted ?? bare,
  )
}

function isLine(text: string, line: string): boolean {
  return [`${line}\n`, `${line}\r`].some((one) => text.includes(`\n${one}`)) || text.endsWith(line)
}

const usualParameter = /^\s*[\w-]+=(?:"[^"\\]*"|[^\s"();,=?*]+)\s*$/
const usualValues: Record<string, RegExp> = {
  'content-type': /^[\w+.-]+\/[\w+.-]+$/,
  'content-disposition': /^(?:inline|attachment)$/i,
  'content-transfer-encoding': /^(?:7bit|8bit|binary|base64|quoted-printable)$/i,
}

function isUnusual({ name, value }: Field): boolean {
  const [first = '', ...parameters] = value.trim().split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/)
  if (/[^\t\r\n\x20-\x7e]|=\?/.test(value)) return true
  if (usualValues[name]?.test(first.trim()) !== true) return true
  return parameters.some((one) => one.trim() !== '' && !usualParameter.test(one))
}

const contentField =
  /^(content-(?:type|disposition|transfer-encoding))[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)/gim

function contentFieldsIn(text: string): Field[] {
  return [...text.matchAll(contentField)].map(([, name = '', value = '']) => {
    return { name: name.toLowerCase(), value }
  })
}

/** The names of all kinds. */
export const oddKinds = Object.keys(kinds)

/** Whether both readers read the same, or the kinds of a message that explain the difference. */
export type Opinion = 'same' | string[]

/** Compares our reader of bodies with mailparser. */
export async function secondOpinion(raw: Buffer): Promise<Opinion> {
  const header = parseHeader(raw)
  const ours = await parseBody(raw, header)
  const theirs = await mailparserBody(raw, header)
  if (comparable(ours) === comparable(theirs)) return 'same'
  const text = raw.toString('latin1')
  const read = {
    raw,
    text,
    fields: contentFieldsIn(text),
    leaves: readMime(raw).leaves,
    ours,
    theirs,
  }
  return oddKinds.filter((kind) => kinds[kind]?.(read))
}

function comparable({ text, html, attachments }: MessageBody): string {
  const files = attachments.map(({ name, type, content }) => [
    name ?? '',
    type,
    content.toString('base64'),
  ])
  return JSON.stringify([text, html, files])
}
