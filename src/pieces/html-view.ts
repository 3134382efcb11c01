import { decodeEntities } from './links.ts'

/** Content and structure of an HTML text. */
export type HtmlView = {
  /** Visible text; blocks are separated by an empty line. */
  text: string
  /** Element names in order, without closing tags; consecutive equal names are merged. */
  tags: string[]
  title: string
  /** Sources of images, as written. */
  images: string[]
  comments: string[]
  styleSheet: string
}

/**
 * Parses HTML in one pass: its first 262,144 characters, at most 3,000 tags, 50 images, 20
 * comments. As tolerant as browsers; linear time.
 */
export function htmlView(html: string): HtmlView {
  return html === '' ? emptyView() : new Reader(html.slice(0, htmlCharsMax)).read()
}

const htmlCharsMax = 256 * 1024
const tagsMax = 3000
const imagesMax = 50
const commentsMax = 20
const commentCharsMax = 500
const sourceCharsMax = 2000
const nameCharsMax = 20
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
const unseen = new Set(['style', 'script', 'title', 'template'])

/** Properties of an element: its name in lower case, and its effect on the text. */
type Element = { name: string; gap: string; isUnseen: boolean }

const elements: (Element | undefined)[] = Array.from({ length: 1024 })

/**
 * Returns the element of a tag. Names are cached by `hash`, which is computed from the lower-case
 * name.
 */
function elementOf(html: string, start: number, end: number, hash: number): Element {
  const slot = (hash ^ (hash >>> 10) ^ (hash >>> 20)) & 1023
  const known = elements[slot]
  if (known && isNamed(known.name, html, start, end)) return known
  const name = html.slice(start, end).toLowerCase()
  const element = { name, gap: breaks.get(name) ?? '', isUnseen: unseen.has(name) }
  // A slice of a longer name would keep the whole text in memory.
  if (name.length <= nameCharsKept) elements[slot] = element
  return element
}

function isNamed(name: string, html: string, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let at = start; at < end; at++) {
    const code = html.charCodeAt(at)
    if ((isDigit(code) ? code : code | 0x20) !== name.charCodeAt(at - start)) return false
  }
  return true
}

function emptyView(): HtmlView {
  return { text: '', tags: [], title: '', images: [], comments: [], styleSheet: '' }
}

class Reader {
  readonly #html: string
  readonly #view = emptyView()
  /**
   * Quote characters that do not occur in the rest of the text, so that they are searched only
   * once.
   */
  readonly #openQuotes = new Set<string>()
  #text = ''

  constructor(html: string) {
    this.#html = html
  }

  read(): HtmlView {
    const html = this.#html
    let done = 0
    let at = html.indexOf('<')
    while (at >= 0) {
      const code = html.charCodeAt(at + 1)
      if (!startsTag(code)) {
        at = html.indexOf('<', at + 1)
        continue
      }
      if (at > done) this.#text += html.slice(done, at)
      done = code === 0x21 || code === 0x3f ? this.#declaration(at) : this.#tag(at)
      at = html.indexOf('<', done)
    }
    this.#text += html.slice(done)
    this.#view.text = decodedText(this.#text)
    this.#view.title = decodedText(this.#view.title)
    return this.#view
  }

  /** Skips a comment, a doctype or similar; returns its end. */
  #declaration(at: number): number {
    const html = this.#html
    const isComment = html.startsWith('<!--', at)
    const end = isComment ? html.indexOf('-->', at + 4) : html.indexOf('>', at)
    if (end < 0) return html.length
    const { comments } = this.#view
    if (isComment && comments.length < commentsMax) {
      const comment = html.slice(at + 4, Math.min(end, at + 4 + commentCharsMax)).trim()
      if (comment !== '') comments.push(comment)
    }
    return end + (isComment ? 3 : 1)
  }

  #tag(at: number): number {
    const html = this.#html
    const isClosing = html.charCodeAt(at + 1) === 0x2f
    const nameAt = isClosing ? at + 2 : at + 1
    let nameEnd = nameAt
    let hash = 0
    for (; nameEnd < nameAt + nameCharsMax; nameEnd++) {
      const code = html.charCodeAt(nameEnd)
      if (!isNamePart(code)) break
      hash = Math.imul(hash, 31) + (code | 0x20)
    }
    const { name, gap, isUnseen } = elementOf(html, nameAt, nameEnd, hash)
    const end = this.#tagEnd(nameEnd)
    if (gap !== '') this.#text += gap
    if (isClosing) return end
    const { tags, images } = this.#view
    if (tags.length < tagsMax && tags.at(-1) !== name) tags.push(name)
    if (name === 'img' && images.length < imagesMax) this.#image(html.slice(nameEnd, end))
    return isUnseen ? this.#unseen(name, end) : end
  }

  /** Returns the position after the `>` that ends the tag, ignoring quoted ones. */
  #tagEnd(from: number): number {
    const html = this.#html
    for (let at = from; at < html.length; at++) {
      const code = html.charCodeAt(at)
      if (code === 0x3e) return at + 1
      if ((code === 0x22 || code === 0x27) && isAfterEqualSign(html, at)) {
        const close = this.#quoteEnd(html.charAt(at), at + 1)
        if (close > 0) at = close
      }
    }
    return html.length
  }

  #quoteEnd(quote: string, from: number): number {
    if (this.#openQuotes.has(quote)) return -1
    const end = this.#html.indexOf(quote, from)
    if (end < 0) this.#openQuotes.add(quote)
    return end
  }

  /** Skips an element that is not displayed; returns the start of its closing tag. */
  #unseen(name: string, from: number): number {
    const html = this.#html
    let end = from - 1
    do end = html.indexOf('</', end + 1)
    while (end >= 0 && html.slice(end + 2, end + 2 + name.length).toLowerCase() !== name)
    const content = html.slice(from, end < 0 ? html.length : end)
    if (name === 'title') this.#view.title ||= content.slice(0, commentCharsMax)
    else if (name === 'style') this.#view.styleSheet += content
    return end < 0 ? html.length : end
  }

  #image(attributes: string): void {
    const [, quoted, single, bare] = source.exec(attributes.slice(0, sourceCharsMax * 2)) ?? []
    const src = quoted ?? single ?? bare
    if (src !== undefined) this.#view.images.push(decodeEntities(src.slice(0, sourceCharsMax)))
  }
}

const source = /\ssrc\s{0,5}=\s{0,5}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i

function startsTag(code: number): boolean {
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
  return isLetter || code === 0x2f || code === 0x21 || code === 0x3f
}

function isNamePart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || isDigit(code)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isAfterEqualSign(html: string, at: number): boolean {
  let before = at - 1
  while (before > at - 5 && html.charCodeAt(before) <= 0x20) before--
  return html.charCodeAt(before) === 0x3d
}

/**
 * Decodes character references. Letters with accents become plain letters, because accents are
 * removed later anyway. Named references that are not known become blanks.
 */
function decodedText(text: string): string {
  if (!text.includes('&')) return text
  return decodeEntities(lettersIn(text)).replace(/&[a-z]{2,20};/gi, ' ')
}

const letterEntity = new RegExp(
  `&(?:${[
    '[a-z](?:acute|grave|circ|tilde|uml|ring|cedil|caron|slash)',
    '(?:sz|ae|oe|a)lig|shy|zwn?j|lrm|rlm|rsquo',
  ].join('|')})`,
  'i',
)

function lettersIn(text: string): string {
  if (!letterEntity.test(text)) return text
  return text
    .replace(/&([a-z])(?:acute|grave|circ|tilde|uml|ring|cedil|caron|slash);?/gi, '$1')
    .replace(/&(sz|ae|oe|a)lig;/gi, (_, name: string) => (name === 'sz' ? 'ss' : name))
    .replace(/&(?:shy|zwn?j|lrm|rlm);?/gi, '')
    .replace(/&rsquo;/gi, '’')
}
