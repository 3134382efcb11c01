import type { MessageCopy } from '../mail/arf.ts'
import { fieldValue, type Header, type HeaderField } from '../mail/header.ts'
import { textPart } from '../mail/mail-parts.ts'
import { type MessageBody, parseBody } from '../mail/message-body.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { tidied } from '../mail/text.ts'
import { type Analysis, bodyLimits } from '../pieces/analyze.ts'
import { hiddenMarks } from '../pieces/html-tokens.ts'
import { type HtmlView, markedView } from '../pieces/html-view.ts'
import type { FileContents } from '../pieces/file-contents.ts'
import { weightOf } from '../pieces/file-kinds.ts'
import { leadsSomewhere } from '../pieces/links.ts'
import { reducedBody } from '../pieces/reduced-body.ts'
import type { Concealer } from './conceal.ts'
import { plainText, withoutCodes, withoutCutWord } from './plain-forms.ts'
import { composeFields, newField } from './copy-fields.ts'

/** The parts of an analysis that a copy is composed from. */
export type CopiedAnalysis = Pick<
  Analysis,
  'origin' | 'links' | 'moreLinks' | 'attachments' | 'bytes' | 'sha256' | 'isReduced'
>

const READ_CHARS_MAX = 256 * 1024
const TEXT_CHARS_MAX = 32 * 1024
/** Maximum number of links that open other programs; those to the web are limited already. */
const OTHER_LINKS_MAX = 50
const PARTS_MAX = 50

/**
 * Composes the copy of a message for one consumer: header fields from a list, the text as a person
 * saw it, the links in their order, and descriptions of other parts. Nothing is copied as bytes.
 * `keeps`: the fields that this consumer needs, by their keys; by default all on the list.
 */
export async function composeCopy(
  raw: Buffer,
  analysis: CopiedAnalysis,
  given: {
    header: Header
    concealer: Concealer
    form: 'whole' | 'headers'
    keeps?: ReadonlySet<string> | undefined
  },
): Promise<MessageCopy> {
  const { header, concealer, form, keeps } = given
  const kept = keeps ? header.fields.filter(({ key }) => keeps.has(key)) : header.fields
  const composed = composeFields(kept, concealer, (analysis.origin?.hop ?? -1) + 1)
  const type = originalType(header.fields, concealer)
  const fields = [
    ...composed.fields,
    ...(type === undefined ? [] : [newField('X-Original-Content-Type', type)]),
    newField(COPY_FIELD, noteOf(composed)),
  ]
  const lines = fields.map((field) => `${field.raw}\r\n`).join('')
  if (form === 'headers') return { fields, content: lines, form }
  const isReduced =
    analysis.isReduced === true || exceedsLimits(raw, bodyLimits, header) !== undefined
  const body = isReduced ? reducedBody(raw, header) : await parseBody(raw, header)
  const page = markedView(body.html)
  const text = [
    shownText(body, page, { concealer, raw }),
    ...linkLines(analysis, page, concealer),
    ...partLines(analysis, body, concealer),
  ].join('\n')
  return { fields, content: `${lines}MIME-Version: 1.0\r\n${textPart(text)}`, form }
}

/** Says that a copy was composed, and which fields it does not have. */
const COPY_FIELD = 'X-Signalpost-Copy'

function noteOf({ omitted, unknown }: ReturnType<typeof composeFields>): string {
  const names = omitted.join(', ')
  const others = unknown === 0 ? '' : `${unknown} with other names`
  const left = [names, others].filter((one) => one !== '').join(', ')
  const note = 'composed from the message; codes replace what may identify the recipient'
  return left === '' ? note : `${note}; fields left out: ${left}`
}

/** The media type and the charset of the message. */
function originalType(fields: readonly HeaderField[], concealer: Concealer): string | undefined {
  const value = fieldValue(fields, 'content-type')
  const type = /^\s*([a-z]{1,20}\/[a-z.+-]{1,60})\b/i.exec(value ?? '')?.[1]?.toLowerCase()
  const charset = /;\s*charset\s*=\s*"?([\w-]{2,20})\b/i.exec(value ?? '')?.[1]?.toLowerCase()
  if (type === undefined) return undefined
  const shown = shownType(type, concealer)
  return charset !== undefined && charsets.test(charset) ? `${shown}; charset=${charset}` : shown
}

/** A media type in small letters; one of groups of four letters may be an encoding. */
function shownType(type: string, { fileName }: Concealer): string {
  return /(?:\b[a-z\d]{4}\.){2}/.test(type) ? 'other' : fileName(type)
}

/** Names of charsets, which cannot be codes for the recipient. */
const charsets = new RegExp(
  '^(?:us-ascii|utf-\\d{1,2}|iso-(?:8859-\\d{1,2}|2022-[a-z]{2})|windows-\\d{3,4}|koi8-[ru]|big5|' +
    'gb(?:k|2312|18030)|shift_jis|euc-[a-z]{2})$',
)

/**
 * The text as a person saw it, then the text that the page hides, and the plain text if it says
 * something else than the page.
 */
function shownText(
  { text, html }: MessageBody,
  page: HtmlView,
  { concealer, raw }: { concealer: Concealer; raw: Buffer },
): string {
  const { shown, hidden } = withoutHidden(page.text)
  const isPage = html !== '' && (hasWords(shown) || text.trim() === '')
  const isBeside = isPage && text.trim() !== '' && !alternative.test(raw.toString('latin1'))
  const isSeen = isBeside && isOther(text, page.text)
  const other = isSeen ? text : ''
  const its = textLines(isPage ? shown : text, concealer)
  const sections = [
    its || '[no text]',
    ...titled('Hidden text:', textLines(hidden, concealer)),
    ...titled('Plain text beside the page:', textLines(other, concealer)),
  ]
  return `${sections.join('\n\n')}\n`
}

function titled(title: string, text: string): string[] {
  return text === '' ? [] : [title, text]
}

/** Parts of which a mail program shows one. */
const alternative = /multipart\/alternative/i
const OTHER_WORDS_MAX = 2_000

/** Whether a third of the words of a plain text are not in the page. */
function isOther(text: string, page: string): boolean {
  const words = text.split(/[^\p{L}]+/u, OTHER_WORDS_MAX).filter((word) => word.length > 3)
  const known = new Set(page.split(/[^\p{L}]+/u))
  return words.filter((word) => !known.has(word)).length > words.length / 3
}

/** Whether a page has so many words that it is more than a picture. */
function hasWords(text: string): boolean {
  return (
    text
      .trimStart()
      .split(/\s+/, WORDS_MIN)
      .filter((word) => word !== '').length >= WORDS_MIN
  )
}

const WORDS_MIN = 4

/** Separates what the page hides, which may be inside a word, or in other hidden text. */
function withoutHidden(text: string): { shown: string; hidden: string } {
  const { start, end } = hiddenMarks
  const byDepth: string[] = ['']
  let depth = 0
  for (const piece of text.split(hiddenMark)) {
    if (piece === start) depth = Math.min(depth + 1, HIDDEN_DEPTH_MAX)
    else if (piece === end) depth = Math.max(depth - 1, 0)
    else byDepth[depth] = (byDepth[depth] ?? '') + piece
  }
  const [shown = '', ...hidden] = byDepth
  return { shown, hidden: hidden.join('\n') }
}

const hiddenMark = new RegExp(`([${hiddenMarks.start}${hiddenMarks.end}])`)
const HIDDEN_DEPTH_MAX = 5

function textLines(text: string, concealer: Concealer): string {
  const plain = withoutControls(plainText(text.slice(0, READ_CHARS_MAX).replaceAll('\r\n', '\n')))
  const whole = tidied(withoutCodes(plain.toWellFormed()))
  const cut = withoutCutWord(whole, TEXT_CHARS_MAX)
  const written = concealer.text(cut)
  const lines = written === whole ? whole : tidied(written)
  const left = whole.length - cut.length
  return left === 0 ? lines : `${lines}\n[The text goes on for ${left} characters.]`
}

/** Tags that a text may have within words, also those of enriched text (RFC 1896). */
const shownTags = new RegExp(
  '</?(?:b|i|u|em|strong|span|font|small|wbr|bold|italic|underline|fixed|smaller|bigger|lang|' +
    'fontfamily|(?:x-)?color)>|<param>[^<>\\n]{0,200}</param>|<!--[^]{0,200}?-->',
  'gi',
)

/** Removes tags that are shown as text, and control characters; a backspace takes one away. */
function withoutControls(text: string): string {
  return text
    .replace(/[^\n]?\x08/g, '')
    .replace(/(?<!\?)=\n(?=\S)/g, '')
    .replace(shownTags, '')
    .replace(/[\0-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, '')
}

/** Lists the links to the web, and then those that open other programs. */
function linkLines(
  { links, moreLinks = 0 }: Pick<CopiedAnalysis, 'links' | 'moreLinks'>,
  page: HtmlView,
  concealer: Concealer,
): string[] {
  const web = links.map((link) => {
    return { url: link.url, kind: leadsSomewhere(link) ? link.where : 'picture' }
  })
  const others = page.links.flatMap(({ url }) =>
    isForProgram.test(url) ? [{ url, kind: 'other program' }] : [],
  )
  const written = new Set<string>()
  for (const { url, kind } of [...web, ...others.slice(0, OTHER_LINKS_MAX)]) {
    written.add(`${concealer.link(withoutCodes(url))} (${kind})`)
  }
  if (moreLinks > 0) written.add(`${moreLinks} more`)
  return written.size === 0 ? [] : ['Links in the message:', ...withDashes(written), '']
}

const isForProgram = /^(?!https?:|ftp:|javascript:|data:)[a-z][a-z\d+-]{1,20}:/i

/** Describes the parts that are not text, the page, and the message itself. */
function partLines(
  { attachments, bytes, sha256 }: CopiedAnalysis,
  { html }: MessageBody,
  concealer: Concealer,
): string[] {
  const parts = attachments.slice(0, PARTS_MAX).map(({ type, name, contents = {}, ...file }) => {
    const called = name === null ? '' : ` ${quotedName(name, concealer)}`
    const size = `${file.bytes} bytes, SHA-256 ${file.sha256}`
    return [
      `${shownType(type, concealer)}${called}, ${size}`,
      ...contentWords(contents, concealer),
    ].join('; ')
  })
  const more = attachments.length - parts.length
  if (more > 0) parts.push(`${more} more`)
  const page = Buffer.byteLength(html)
  // Without a hash: whoever wrote a page for each recipient could find the recipient by it.
  if (page > 0) parts.push(`text/html, about ${Math.ceil(page / 1024)} KB, shown above as text`)
  return [
    ...(parts.length === 0 ? [] : ['Parts that are not included:', ...withDashes(parts), '']),
    `The original message: ${bytes} bytes, SHA-256 ${sha256}`,
    '',
  ]
}

function quotedName(name: string, concealer: Concealer): string {
  return `"${concealer.fileName(withoutCodes(name)).replaceAll('"', '')}"`
}

/** How many names of the files in a part are told. */
const NAMES_MAX = 20

/** Tells what was found in a part: macros, encryption, and the names of the files in it. */
function contentWords(contents: FileContents, concealer: Concealer): string[] {
  const { names = [], more = 0, isEncrypted, hasMacros } = contents
  const does = (name: string) => weightOf(name) > 1
  const told = [...names.filter(does), ...names.filter((name) => !does(name))].slice(0, NAMES_MAX)
  const list = (some: readonly string[]) =>
    some.map((name) => quotedName(name, concealer)).join(', ')
  const [running, others] = [told.filter(does), told.filter((name) => !does(name))]
  const rest = more + names.length - told.length
  return [
    ...(hasMacros ? ['with macros'] : []),
    ...(isEncrypted ? ['encrypted'] : []),
    ...(running.length > 0 ? [`files in it that can run: ${list(running)}`] : []),
    ...(others.length > 0 ? [`other files in it: ${list(others)}`] : []),
    ...(rest > 0 ? [`${rest} more files in it`] : []),
  ]
}

function withDashes(lines: Iterable<string>): string[] {
  return Array.from(lines, (line) => `- ${line}`)
}
