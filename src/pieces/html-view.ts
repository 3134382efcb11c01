import { decodeHTMLAttribute } from 'entities/decode'
import {
  type HtmlPlace,
  linkAttributes,
  type LinkAttributes,
  pageInData,
  refreshTarget,
  sourcesIn,
} from './html-links.ts'
import {
  cleanTarget,
  codesOf,
  decodeText,
  type Element,
  elementOf,
  ending,
  endsName,
  endsValue,
  hiddenMarks,
  hiding,
  hostIn,
  integrating,
  isLetter,
  isNamePart,
  isSpace,
  isVoid,
  linkMarks,
  startOfLink,
  startsTag,
} from './html-tokens.ts'

/**
 * A target in HTML: decoded, and resolved against `<base>` if there is one. `isFaint`: a link
 * without a text or a picture to click.
 */
type HtmlLink = { url: string; where: HtmlPlace; isFaint?: boolean }

/** Content and structure of an HTML text. */
export type HtmlView = {
  /** Visible text; blocks are separated by an empty line. */
  text: string
  /**
   * The pieces of text between tags that may contain an address: with a dot, and outside of links,
   * in whose text no program finds a second link.
   */
  dotted: string
  /** Element names in order, without closing tags; consecutive equal names are merged. */
  tags: string[]
  title: string
  images: string[]
  /** Pictures in `data:` URIs, at most 50. */
  pictures: string[]
  /** The number of cells in tables without a text: those of a drawing. */
  cells: number
  comments: string[]
  styleSheet: string
  /** The scripts, at most the first 262,144 characters. */
  script: string
  /**
   * Everything that a browser or a mail program could open: 1,000 targets, and then at most 4,000
   * on other hosts.
   */
  links: HtmlLink[]
  /** How many more targets there are. */
  more: number
}

/**
 * Parses HTML in one pass, with the tokenizer of the HTML standard (§13.2.5): at most 3,000 tags,
 * 70 images, 20 comments. Differs from browsers in two ways: a quote that is never closed ends
 * with its tag, because the end of a message may be lost; and the links of comments that Outlook
 * reads (`<!--[if mso]>`) are found, too. Linear time.
 */
export function htmlView(html: string): HtmlView {
  return html === '' ? emptyView() : new Reader(html, 0).read()
}

/** What is marked: text that its style hides from readers, or the text of each link. */
type Marks = 'hidden' | 'links'
/** Like `htmlView`, with marks in its text (`hiddenMarks`, `linkMarks`). */
export function markedView(html: string, marks: Marks = 'hidden'): HtmlView {
  const bare = html.replace(/[\uE000-\uE004]/g, '')
  const isNeeded = marks === 'links' || hiding.test(bare)
  return bare === '' ? emptyView() : new Reader(bare, 0, isNeeded ? marks : undefined).read()
}

const tagsMax = 3000
const imagesMax = 50
const backgroundsMax = 20
const commentsMax = 20
const commentCharsMax = 500
const sourceCharsMax = 2000
const linksMax = 1000
const hostsMax = 4000
const picturesMax = 50
/** Length of `&nbsp;`, which is in cells that would be too small otherwise. */
const spaceCharsMax = 6
/** Maximum length of a picture in a `data:` URI. */
const pictureCharsMax = 2 * 1024 * 1024
const targetCharsMax = 8000
/** Maximum length of a text inside the HTML that is read, too: frames and comments. */
const innerCharsMax = 256 * 1024
const nestingMax = 3
const openMax = 100
/** Length of the shortest host name, `g.co`. */
const charsOfNameMin = 4
/** Length of the longest attribute with links, `http-equiv` and `xlink:href`. */
const attributeCharsMax = 10
const nameCharsMax = 20

function emptyView(): HtmlView {
  return {
    ...{ text: '', dotted: '', tags: [], title: '', images: [], comments: [] },
    ...{ styleSheet: '', script: '', links: [], more: 0, pictures: [], cells: 0 },
  }
}

class Reader {
  readonly #html: string
  readonly #codes: Uint16Array
  /** How many texts contain this one. */
  readonly #depth: number
  readonly #view = emptyView()
  /** Marks that do not occur in the rest of the text, so that they are searched only once. */
  readonly #absent = new Set<string>()
  /** The open SVG and MathML elements, and those in them that contain HTML. */
  readonly #foreign: string[] = []
  #text = ''
  #dotted = ''
  #isInLink = false
  /** The open link in which nothing is shown yet. */
  #faint: HtmlLink | undefined
  /** Whether a cell has begun in which no text is yet. */
  #isCell = false
  /** The hosts of the targets, once there are many. */
  #hosts: Set<string> | undefined
  #base: string | undefined
  readonly #marks: Marks | undefined
  /** The elements that hide their content, and how many of their names are open in them. */
  readonly #hidden: { name: string; open: number }[] = []

  constructor(html: string, depth: number, marks?: Marks) {
    this.#html = html
    this.#marks = marks
    this.#codes = codesOf(html, depth)
    this.#depth = depth
  }

  /** The UTF-16 code unit at a position; -1 after the end. */
  #code(at: number): number {
    return this.#codes[at] ?? -1
  }

  read(): HtmlView {
    const html = this.#html
    let done = 0
    let at = html.indexOf('<')
    while (at >= 0) {
      const code = this.#code(at + 1)
      if (!startsTag(code)) {
        at = html.indexOf('<', at + 1)
        continue
      }
      if (at > done) this.#addText(html.slice(done, at))
      done = this.#isDeclaration(at, code) ? this.#declaration(at) : this.#tag(at)
      at = html.indexOf('<', done)
    }
    this.#addText(html.slice(done))
    this.#addBackgrounds()
    const { title, links } = this.#view
    const isBased = this.#base !== undefined && links.length > 0
    return {
      ...this.#view,
      text: decodeText(this.#text),
      title: decodeText(title),
      dotted: decodeText(this.#dotted),
      links: isBased ? links.map((link) => this.#resolved(link)) : links,
    }
  }

  #addText(text: string): void {
    this.#text += text
    if (this.#faint && /\S/.test(text)) this.#unfaint()
    if (this.#isCell && text.length > spaceCharsMax && /\S/.test(text)) this.#isCell = false
    if (this.#isInLink || text.length < charsOfNameMin) return
    if (text.includes('.') || text.includes('&#')) this.#dotted += `${text}\n`
  }

  #unfaint(): void {
    if (this.#faint) this.#faint.isFaint = false
    this.#faint = undefined
  }

  /** Whether no tag begins here, but a comment, a doctype or what browsers take for a comment. */
  #isDeclaration(at: number, code: number): boolean {
    if (code !== 0x2f) return code === 0x21 || code === 0x3f
    return !isLetter(this.#code(at + 2))
  }

  /** Skips a comment, a doctype or similar; returns its end. */
  #declaration(at: number): number {
    const html = this.#html
    if (html.startsWith('<!--', at)) return this.#comment(at + 4)
    const isData = this.#foreign.length > 0 && html.startsWith('<![CDATA[', at)
    const end = isData ? html.indexOf(']]>', at) : html.indexOf('>', at)
    if (end < 0) return html.length
    if (isData && this.#isForeign()) this.#addText(html.slice(at + 9, end))
    return end + (isData ? 3 : 1)
  }

  /** Skips a comment whose content begins at `start` (§13.2.5.43 to 51); returns its end. */
  #comment(start: number): number {
    const html = this.#html
    if (this.#code(start) === 0x3e) return start + 1
    if (html.startsWith('->', start)) return start + 2
    const usual = this.#find('-->', start)
    // Searched no further: it may be far away, after many comments.
    const unusual = html.slice(start, usual < 0 ? html.length : usual).indexOf('--!>')
    const end = unusual < 0 ? usual : start + unusual
    const content = html.slice(start, end < 0 ? start + innerCharsMax : end)
    if (/^\s{0,9}\[if\b/i.test(content)) this.#inner(content)
    if (end < 0) return html.length
    const { comments } = this.#view
    if (comments.length < commentsMax) {
      const comment = content.slice(0, commentCharsMax).trim()
      if (comment !== '') comments.push(comment)
    }
    return end + (unusual < 0 ? 3 : 4)
  }

  /** Adds the links of a text that is part of this one. */
  #inner(text: string, where?: HtmlPlace): void {
    if (this.#depth >= nestingMax || !text.includes('<')) return
    const inner = new Reader(text.slice(0, innerCharsMax), this.#depth + 1).read()
    const { images, pictures } = this.#view
    for (const link of inner.links) this.#keepLink({ ...link, where: where ?? link.where })
    this.#view.more += inner.more
    this.#view.cells += inner.cells
    images.push(...inner.images.slice(0, imagesMax - images.length))
    pictures.push(...inner.pictures.slice(0, picturesMax - pictures.length))
    this.#dotted += inner.dotted
  }

  #find(mark: string, from: number): number {
    if (this.#absent.size > 0 && this.#absent.has(mark)) return -1
    const found = this.#html.indexOf(mark, from)
    if (found < 0) this.#absent.add(mark)
    return found
  }

  #tag(at: number): number {
    const html = this.#html
    const isClosing = this.#code(at + 1) === 0x2f
    const nameAt = isClosing ? at + 2 : at + 1
    let nameEnd = nameAt
    let hash = 0
    for (; nameEnd < nameAt + nameCharsMax; nameEnd++) {
      const code = this.#code(nameEnd)
      if (!isNamePart(code)) break
      hash = Math.imul(hash, 31) + (code | 0x20)
    }
    const element = elementOf(this.#codes, nameAt, nameEnd, hash)
    const { name, gap } = element
    const isWhole = endsName(this.#code(nameEnd))
    const attributes = isWhole ? element.links : this.#ofLongName(nameAt, nameEnd)
    const targets = this.#view.links.length
    let from = nameEnd
    while (!endsName(this.#code(from)) && from < html.length) from++
    const end = this.#attributes(from, isClosing ? undefined : attributes)
    if (gap !== '') this.#text += gap
    if (this.#marks === 'hidden') this.#markHidden(name, isClosing, html.slice(at, end))
    const { tags } = this.#view
    if (!isClosing && tags.length < tagsMax && tags.at(-1) !== name) tags.push(name)
    if (!isWhole) return end
    if (name === 'a') {
      const link = isClosing ? undefined : this.#view.links[targets]
      this.#isInLink = link !== undefined
      this.#faint = link
      if (link) link.isFaint = true
      if (this.#marks === 'links') this.#text += link ? startOfLink(targets) : linkMarks.end
    } else if (name === 'td' && !isClosing) {
      if (this.#isCell) this.#view.cells++
      this.#isCell = true
    }
    const isForeign = this.#follow(name, isClosing, this.#code(end - 2) === 0x2f)
    if (isClosing) return end
    if (name === 'plaintext' && !isForeign) {
      this.#addText(html.slice(end))
      return html.length
    }
    return element.isRaw && !isForeign ? this.#raw(element, end) : end
  }

  /** Marks where the content of an element that is hidden begins and ends. */
  #markHidden(name: string, isClosing: boolean, tag: string): void {
    const inner = this.#hidden.at(-1)
    if (!isClosing && !isVoid.has(name) && hiding.test(tag)) {
      this.#hidden.push({ name, open: 1 })
      this.#text += hiddenMarks.start
    } else if (inner?.name === name) {
      inner.open += isClosing ? -1 : 1
      if (inner.open > 0) return
      this.#hidden.pop()
      this.#text += hiddenMarks.end
    }
  }

  /** The attributes of an element whose name has a prefix, such as `v:rect`. */
  #ofLongName(nameAt: number, nameEnd: number): LinkAttributes | undefined {
    if (this.#code(nameEnd) !== 0x3a) return undefined
    return linkAttributes(this.#html.slice(nameAt, nameEnd + 1).toLowerCase())
  }

  #isForeign(): boolean {
    const last = this.#foreign.at(-1)
    return last === 'svg' || last === 'math'
  }

  /**
   * Notes that an element of SVG or MathML begins or ends. Returns whether the tag belongs to one,
   * where `title`, `style` and others contain tags.
   */
  #follow(name: string, isClosing: boolean, isEmpty: boolean): boolean {
    const open = this.#foreign
    if (open.length === 0 && name !== 'svg' && name !== 'math') return false
    const isForeign = this.#isForeign()
    if (isClosing) {
      const start = open.lastIndexOf(name)
      if (start >= 0 && (isForeign || start === open.length - 1)) open.length = start
      else if (isForeign && (name === 'p' || name === 'br')) this.#leaveForeign()
      return isForeign
    }
    if (isForeign && ending.has(name)) {
      this.#leaveForeign()
      return false
    }
    const isRoot = name === 'svg' || name === 'math'
    if (!isEmpty && open.length < openMax && (isRoot || integrating[open.at(-1) ?? '']?.has(name)))
      open.push(name)
    return isForeign || isRoot
  }

  #leaveForeign(): void {
    while (this.#isForeign()) this.#foreign.pop()
  }

  /**
   * Reads the attributes of a tag (§13.2.5.32 to 40) and returns the position after the `>` that
   * ends it. Adds the links in the `wanted` attributes.
   */
  #attributes(from: number, wanted: LinkAttributes | undefined): number {
    const html = this.#html
    const values = wanted && new Map<string, string>()
    let done = from
    let at = from
    for (let code = this.#code(at); code !== 0x3e; code = this.#code(++at)) {
      if (code > 0x3e) continue
      if (code !== 0x3d) {
        if (code < 0) break
        continue
      }
      // An equals sign before a name is part of the name.
      const isInName = at === done || endsName(this.#code(at - 1))
      if (isInName && !this.#hasName(done, at)) continue
      const sign = at
      do code = this.#code(++at)
      while (isSpace(code))
      let end: number
      const isQuoted = code === 0x22 || code === 0x27
      if (isQuoted) end = this.#quotedEnd(code === 0x22 ? '"' : "'", ++at)
      else for (end = at; !endsValue(code); code = this.#code(++end));
      if (wanted && values) this.#keep(wanted, values, [done, sign, at, end])
      done = isQuoted ? end + 1 : end
      // Without a closing quote, the value ends before the `>`, which ends the tag.
      at = isQuoted && this.#code(end) !== 0x3e ? end : end - 1
    }
    if (wanted && values && values.size > 0) this.#addLinks(wanted, values)
    return Math.min(at + 1, html.length)
  }

  /** Whether a name and blanks are before the equals sign at `sign`. */
  #hasName(done: number, sign: number): boolean {
    let at = sign - 1
    while (at >= done && isSpace(this.#code(at))) at--
    return at >= done && this.#code(at) !== 0x2f
  }

  #quotedEnd(quote: string, from: number): number {
    const close = this.#find(quote, from)
    if (close >= 0) return close
    const end = this.#html.indexOf('>', from)
    return end < 0 ? this.#html.length : end
  }

  /** Keeps the value of the attribute whose name ends before `sign`, if it is wanted. */
  #keep(
    { uses, lengths }: LinkAttributes,
    values: Map<string, string>,
    [done, sign, from, end]: [number, number, number, number],
  ): void {
    const html = this.#html
    let nameEnd = sign
    while (nameEnd > done && isSpace(this.#code(nameEnd - 1))) nameEnd--
    let start = nameEnd
    while (start > done && !endsName(this.#code(start - 1))) start--
    const length = nameEnd - start
    if (length > attributeCharsMax || (lengths & (1 << length)) === 0) return
    const name = html.slice(start, nameEnd).toLowerCase()
    if (!uses.has(name) || values.has(name)) return
    const isPicture = html.startsWith('data:image/', from)
    const charsMax = isPicture ? pictureCharsMax : innerCharsMax
    const value = html.slice(from, Math.min(end, from + charsMax)).replaceAll('\0', '\uFFFD')
    values.set(name, value.includes('&') ? decodeHTMLAttribute(value) : value)
  }

  #addLinks({ uses }: LinkAttributes, values: ReadonlyMap<string, string>): void {
    for (const [name, value] of values) {
      const use = uses.get(name)
      if (use === 'base') this.#base ??= value
      else if (use === 'document') this.#inner(value)
      else if (use === 'sources') for (const one of sourcesIn(value)) this.#addLink(one, 'image')
      else if (use === 'refresh') {
        const isRefresh = values.get('http-equiv')?.toLowerCase() === 'refresh'
        const target = isRefresh ? refreshTarget(value) : undefined
        if (target !== undefined) this.#addLink(target, 'refresh')
      } else if (use !== undefined && use !== 'condition') this.#addLink(value, use)
    }
  }

  #addLink(written: string, where: HtmlPlace): void {
    const url = cleanTarget(written)
    if (where === 'image') return this.#addImage(url)
    if (!this.#keepLink({ url: url.slice(0, targetCharsMax), where })) return
    const page = /^data:/i.test(url) ? pageInData(url) : undefined
    if (page !== undefined) this.#inner(page, 'data')
  }

  #addImage(source: string): void {
    const { images, pictures } = this.#view
    this.#unfaint()
    if (images.length < imagesMax) images.push(source.slice(0, sourceCharsMax))
    if (pictures.length < picturesMax && /^data:image\//i.test(source)) pictures.push(source)
  }

  /** Keeps a link; one of many only if it leads to a host of its own. */
  #keepLink(link: HtmlLink): boolean {
    const { links } = this.#view
    if (links.length < linksMax) return links.push(link) > 0
    this.#hosts ??= new Set(links.map(({ url }) => hostIn(url)))
    const isNew = this.#hosts.size < this.#hosts.add(hostIn(link.url)).size
    if (isNew && links.length < linksMax + hostsMax) return links.push(link) > 0
    this.#view.more++
    return false
  }

  /** Adds the pictures that style sheets load or contain. */
  #addBackgrounds(): void {
    const { images, pictures } = this.#view
    if (!this.#html.includes('url(')) return
    if (this.#html.includes('data:image/')) {
      const data = this.#html.matchAll(/\burl\(\s{0,9}["']?(data:image\/[^\s"'()<>]{1,2000000})/gi)
      for (const [, url = ''] of data.take(picturesMax - pictures.length)) pictures.push(url)
    }
    const found = this.#html.matchAll(/\burl\(\s{0,9}["']?((?:https?:)?\/\/[^\s"'()<>]{1,2000})/gi)
    for (const [, url = ''] of found.take(backgroundsMax)) images.push(decodeText(url))
  }

  /** Resolves a target against `<base>`, wherever that is in the page (HTML standard §2.4.3). */
  #resolved(link: HtmlLink): HtmlLink {
    const { url } = link
    const base = this.#base ?? ''
    const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) || !/^(?:https?|ftp):/i.test(base)
    return isWhole ? link : { ...link, url: URL.parse(url, base)?.href ?? url }
  }

  /** Skips an element whose content is text; returns the start of its closing tag. */
  #raw({ name, isUnseen }: Element, from: number): number {
    const html = this.#html
    let end = from - 1
    do end = html.indexOf('</', end + 1)
    while (end >= 0 && !this.#closes(name, end))
    const stop = end < 0 ? html.length : end
    const content = html.slice(from, stop)
    const { title, styleSheet, script } = this.#view
    if (!isUnseen) this.#addText(content)
    else if (name === 'title') this.#view.title = title || content.slice(0, commentCharsMax)
    else if (name === 'style') this.#view.styleSheet = joined(styleSheet, content)
    else if (name === 'script') this.#view.script = joined(script, content)
    return stop
  }

  #closes(name: string, at: number): boolean {
    const end = at + 2 + name.length
    return this.#html.slice(at + 2, end).toLowerCase() === name && endsName(this.#code(end))
  }
}

function joined(known: string, more: string): string {
  return known.length < innerCharsMax ? known + more.slice(0, innerCharsMax) : known
}
