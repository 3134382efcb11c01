import { decodeHTML } from 'entities/decode'
import { linkAttributes, type LinkAttributes } from './html-links.ts'

const nameCharsKept = 12

/** Text that an element inserts before its content. */
const breaks = new Map<string, string>([
  ...(
    'address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 ' +
    'h5 h6 header hr li main nav ol p pre section table td th tr ul'
  )
    .split(' ')
    .map((name): [string, string] => [name, '\n\n']),
  ['br', '\n'],
  ['img', ' '],
])
/** Elements whose content is not displayed. */
const unseen = new Set(['style', 'script', 'title', 'template', 'iframe', 'noembed', 'noframes'])
/** Elements whose content is text, even if it looks like tags. */
const raw = new Set([...unseen, 'textarea', 'xmp'])
/** HTML elements that end an SVG or MathML element (§13.2.6.5), except `font`. */
export const ending = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img ' +
    'li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)
/** Elements that contain HTML, by the language around them. */
export const integrating: Readonly<Record<string, ReadonlySet<string>>> = {
  svg: new Set(['foreignobject', 'desc', 'title']),
  math: new Set(['mi', 'mo', 'mn', 'ms', 'mtext']),
}

/** Properties of an element: its name in lower case, and its effect on the text and the links. */
export type Element = {
  name: string
  gap: string
  isRaw: boolean
  isUnseen: boolean
  links: LinkAttributes | undefined
}

const elements: (Element | undefined)[] = Array.from({ length: 1024 })

/**
 * Returns the element of a tag. Names are cached by `hash`, which is computed from the lower-case
 * name.
 */
export function elementOf(codes: Uint16Array, start: number, end: number, hash: number): Element {
  const slot = (hash ^ (hash >>> 10) ^ (hash >>> 20)) & 1023
  const known = elements[slot]
  if (known && isNamed(known.name, codes, start, end)) return known
  const element = newElement(String.fromCharCode(...codes.subarray(start, end)).toLowerCase())
  if (element.name.length <= nameCharsKept) elements[slot] = element
  return element
}

function newElement(name: string): Element {
  return {
    name,
    gap: breaks.get(name) ?? '',
    isRaw: raw.has(name),
    isUnseen: unseen.has(name),
    links: linkAttributes(name),
  }
}

function isNamed(name: string, codes: Uint16Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0
    if ((isDigit(code) ? code : code | 0x20) !== name.charCodeAt(at - start)) return false
  }
  return true
}

const scratchChars = 256 * 1024
const scratches: Buffer[] = []

/**
 * Returns the code units of a text. Reading them from memory of our own takes half the time of
 * reading strings, which V8 stores in several forms. The texts that contain each other are read at
 * the same time, so each depth has its memory.
 */
export function codesOf(html: string, depth: number): Uint16Array {
  const isLong = html.length > scratchChars
  const bytes = isLong
    ? Buffer.allocUnsafeSlow(html.length * 2)
    : (scratches[depth] ??= Buffer.allocUnsafeSlow(scratchChars * 2))
  bytes.write(html, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, html.length)
}

export function startsTag(code: number): boolean {
  return isLetter(code) || code === 0x2f || code === 0x21 || code === 0x3f
}

export function isNamePart(code: number): boolean {
  return isLetter(code) || isDigit(code)
}

export function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b)
}

/** Whether the name of an element ends before this character. */
export function endsName(code: number): boolean {
  return code === 0x3e || code === 0x2f || isSpace(code)
}

/** Whether a value without quotes ends before this character, or the text ends. */
export function endsValue(code: number): boolean {
  return code <= 0x3e && (code === 0x3e || code < 0 || isSpace(code))
}

/** What begins and ends hidden text in the result of `markedView`. */
export const hiddenMarks = { start: '\uE000', end: '\uE001' } as const
/** In the result of `linkedView`: `start`, the index of a link, `text`, its text, `end`. */
export const linkMarks = { start: '\uE002', text: '\uE003', end: '\uE004' } as const

export function startOfLink(index: number): string {
  return `${linkMarks.start}${index}${linkMarks.text}`
}

/** Styles by which senders hide text. */
export const hiding = new RegExp(
  [
    /display\s*:\s*none|visibility\s*:\s*hidden|max-height\s*:\s*0/,
    // In a container, its content often has a size of its own.
    /<(?:span|font|small|p)\b[^<>]{1,500}font-size\s*:\s*[01](?:px|pt|%|em)?\s*[;"'!]/,
    /opacity\s*:\s*0\s*[;"'!]/,
    /(?:left|top|text-indent)\s*:\s*-\d{3}|<[^<>]{1,500}\shidden[\s>=]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)
/** Elements without an end tag. */
export const isVoid = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)

/** The host of a target, or what is in its place. */
export function hostIn(url: string): string {
  return /^(?:[a-z]{1,10}:)?[\\/]*([^\\/?#]{0,255})/i.exec(url)?.[1]?.toLowerCase() ?? ''
}

/**
 * Cleans a target as browsers do: removes line breaks, tabs, and control characters and blanks
 * around it.
 */
export function cleanTarget(value: string): string {
  const line = /[\t\r\n]/.test(value) ? value.replaceAll(/[\t\r\n]/g, '') : value
  return line.replace(/^[\0- ]+/, '').trimEnd()
}

/** Decodes the character references in a text as browsers do. */
export function decodeText(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text
}
