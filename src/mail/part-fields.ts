import { decodeCharset } from './charset.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { HeaderField } from './header.ts'
import { remembered } from './text.ts'
import { transferEncoding, type TransferEncoding } from './transfer-encoding.ts'

/**
 * What the content fields of an entity say about it (RFC 2045, 2183), read as leniently as mail
 * programs read them. All readers of bodies use it, so that one odd field hides nothing.
 */
export type PartFields = {
  /** In lower case; undefined when no field names a valid type. */
  type: string | undefined
  /** Whether any of the fields names a multipart. */
  isMultipart: boolean
  /** The possible boundaries of a multipart, the most likely first. */
  boundaries: readonly string[]
  /** As written; undefined when there is none. */
  charset: string | undefined
  /** Whether the text is flowed, and how (RFC 3676). */
  isFlowed: boolean
  delSp: boolean
  encoding: TransferEncoding
  /** Whether a field names base64 in an odd way, or after another encoding. */
  mayBeBase64: boolean
  /** The file name; undefined when the part has none. */
  name: string | undefined
  isInline: boolean
  isAttachment: boolean
}

const nameCharsMax = 500

/** Reads the content fields in a header. Of repeated fields, the first usable one counts. */
export function partFields(fields: readonly HeaderField[]): PartFields {
  const types: FieldValue[] = []
  const dispositions: FieldValue[] = []
  const encoded: string[] = []
  for (const { key, value } of contentFields(fields)) {
    if (key === 'content-type') types.push(readFieldValue(value))
    else if (key === 'content-disposition') dispositions.push(readFieldValue(value))
    else if (key === 'content-transfer-encoding' && value !== '') encoded.push(value)
  }
  const typed = types.find(({ type }) => type !== undefined) ?? types[0] ?? empty
  const disposition = dispositions.find(({ word }) => word !== '') ?? dispositions[0] ?? empty
  const { parameters } = typed
  const filename = disposition.parameters.get('filename')
  const name = filename ?? parameters.get('name')
  const isInline = disposition.word === 'inline'
  const isOther = disposition.word !== '' && !isInline
  const encodings = encoded.map((one) => transferEncoding(one))
  const isQuoted = encodings[0] === 'identity' && encodings.includes('quoted-printable')
  const boundaries = new Set(types.flatMap((one) => one.boundaries))
  return {
    type: typed.type,
    isMultipart: types.some(({ type }) => type?.startsWith('multipart/')),
    boundaries: [...boundaries].slice(0, boundariesMax),
    charset: parameters.get('charset'),
    isFlowed: parameters.get('format')?.trim().toLowerCase() === 'flowed',
    delSp: parameters.get('delsp')?.trim().toLowerCase() === 'yes',
    encoding: isQuoted ? 'quoted-printable' : encoded.length > 0 ? encodings[0] : 'identity',
    mayBeBase64: encoded.some((one) => one.includes('64')),
    name: name === undefined ? undefined : decodeHeaderText(name.slice(0, nameCharsMax)),
    isInline,
    isAttachment: disposition.word === 'attachment' || (isOther && filename !== undefined),
  }
}

function contentFields(fields: readonly HeaderField[]): HeaderField[] {
  return fields.filter(({ key }) => key.startsWith('content-'))
}

/** The media type that a Content-Type value names, in lower case; undefined when it is invalid. */
export function mediaType(value: string): string | undefined {
  return readFieldValue(value).type
}

/** The most likely boundary in a Content-Type value (RFC 2046 §5.1.1). */
export function boundaryOf(contentType: string): string | undefined {
  return readFieldValue(contentType).boundaries[0]
}

/** A structured field: a type or a word, and parameters. All text is a Latin-1 view. */
type FieldValue = {
  type: string | undefined
  /** In lower case; empty when the value does not begin with a word. */
  word: string
  parameters: ReadonlyMap<string, string>
  boundaries: readonly string[]
}

const empty: FieldValue = { type: undefined, word: '', parameters: new Map(), boundaries: [] }
const valueCharsMax = 8192
const boundariesMax = 8
const junk = String.raw`[\s"'<>;,:=]*`
const token = '[\\w!#$&+.^-]+'
const typeAtStart = new RegExp(`^${junk}(${token})\\s*/+\\s*(${token})`)
const wordAtStart = new RegExp(`^${junk}([a-z-]+)`, 'i')

/** Reads a value; equal values of most parts are read only once. */
const readFieldValue = remembered(
  (value: string): FieldValue => {
    const text = withoutFirstComments(
      value
        .slice(0, valueCharsMax)
        .replace(/[\0-\x08\x0e-\x1f\x7f]/g, '')
        .replace(/[\t\n\v\f\r]/g, ' '),
    )
    const typed = typeAtStart.exec(text)
    const written = readParameters(text, typed?.[0].length ?? 0)
    const boundaries = written.flatMap(([key, found]) => {
      return /^boundary(?:\*0?\*?)?$/.test(key)
        ? [found, found.trim()].filter((one) => one !== '')
        : []
    })
    const parameters = joinedParameters(written)
    const joined = parameters.get('boundary')
    if (joined) boundaries.push(joined)
    return {
      type: typed ? `${typed[1] ?? ''}/${typed[2] ?? ''}`.toLowerCase() : undefined,
      word: wordAtStart.exec(text)?.[1]?.toLowerCase() ?? '',
      parameters,
      boundaries: [...new Set(boundaries)].slice(0, boundariesMax),
    }
  },
  { max: 500, charsMax: 300 },
)

/** Removes comments (RFC 5322 §3.2.2) before the first word, unless they have no end. */
function withoutFirstComments(text: string): string {
  let at = 0
  for (;;) {
    while (text[at] === ' ') at++
    const end = text[at] === '(' ? commentEnd(text, at) : at + 1
    if (end === at + 1) return text.slice(at)
    at = end
  }
}

/** Where the comment ends that begins at a position; after its parenthesis if it has no end. */
function commentEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '(') depth++
    else if (text[at] === ')' && --depth === 0) return at + 1
  }
  return start + 1
}

const separators = new Set([' ', ';', ',', ':', '"', "'", ')', '>', '='])
const keyEnds = new Set([...separators, '('])
// The next parameter, if the semicolon before it is missing.
const nextParameter = /(?<![\s,])[\s,]+[\w*-]+\s?=/

/** Reads all parameters from a position on; semicolons and closing quotes may be missing. */
function readParameters(text: string, from: number): [key: string, value: string][] {
  const found: [string, string][] = []
  let unclosed = text.length
  let at = from
  while (at < text.length) {
    if (separators.has(text[at] ?? '')) at++
    else if (text[at] === '(') {
      // Without this bound, a value of opening parentheses would take quadratic time.
      const end = at < unclosed ? commentEnd(text, at) : at + 1
      if (end === at + 1) unclosed = at
      at = end
    } else {
      const start = at
      while (at < text.length && !keyEnds.has(text[at] ?? '')) at++
      const key = text.slice(start, at).toLowerCase()
      while (text[at] === ' ') at++
      if (text[at] !== '=') continue
      at++
      // The value may be an encoded word without quotes, which begins with `=?`.
      while (text[at] === ' ' || (text[at] === '=' && text[at + 1] !== '?')) at++
      const { value, end } = readValue(text, at)
      if (value !== '') found.push([key, value])
      at = end
    }
  }
  return found
}

function readValue(text: string, start: number): { value: string; end: number } {
  if (text[start] === '"') {
    let at = start + 1
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    if (at < text.length) {
      return { value: text.slice(start + 1, at).replace(/\\(.)/gs, '$1'), end: at + 1 }
    }
  }
  const semicolon = text.indexOf(';', start)
  const segment = text.slice(start, semicolon < 0 ? text.length : semicolon)
  const value = segment.slice(0, nextParameter.exec(segment)?.index)
  return { value: value.replace(/^["']/, '').trim(), end: start + Math.max(1, value.length) }
}

type Section = { value: string; isEncoded: boolean }

/** A value in the form of RFC 2231, though its name lacks the asterisk. */
const isExtended = /^[\w.:-]{2,40}'[\w-]{0,20}'[^']{0,200}%[\da-f]{2}/i

function extended(value: string): string {
  return joinedValue(new Map([[0, { value, isEncoded: true }]]))
}

/** Joins and decodes split or encoded values (RFC 2231). The first of equal ones counts. */
function joinedParameters(written: readonly [string, string][]): Map<string, string> {
  const parameters = new Map<string, string>()
  const split = new Map<string, Map<number, Section>>()
  for (const [key, value] of written) {
    const [, name = '', number = '0', star] = /^([^*]*)\*(?:(\d{1,3})(\*?))?$/.exec(key) ?? []
    if (name === '') {
      if (!parameters.has(key))
        parameters.set(key, isExtended.test(value) ? extended(value) : value)
      continue
    }
    const sections = split.getOrInsertComputed(name, () => new Map<number, Section>())
    if (!sections.has(Number(number))) {
      sections.set(Number(number), { value, isEncoded: star !== '' })
    }
  }
  for (const [name, sections] of split) {
    if (sections.has(0)) parameters.set(name, joinedValue(sections))
  }
  return parameters
}

/** Returns the Latin-1 view of the value in UTF-8. */
function joinedValue(sections: ReadonlyMap<number, Section>): string {
  const ordered = [...sections].toSorted(([a], [b]) => a - b).map(([, section]) => section)
  const [first] = ordered
  const [, charset, rest] = (first?.isEncoded && /^([^']*)'[^']*'(.*)$/s.exec(first.value)) || []
  const bytes = ordered.map(({ value, isEncoded }, index) => {
    const own = index === 0 ? (rest ?? value) : value
    return isEncoded ? percentDecoded(own) : own
  })
  const joined = bytes.join('')
  if (charset === undefined) return joined
  return Buffer.from(decodeCharset(Buffer.from(joined, 'latin1'), charset)).toString('latin1')
}

function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
