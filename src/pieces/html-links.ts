import { trimmedEnd } from '../mail/text.ts'

/**
 * Where a link is in HTML: `html`: a link or an area; `form`: the target of a form or a button;
 * `refresh`: a page that replaces this one; `embedded`: a frame, an object or a script; `image`: a
 * picture, which is loaded when the message is shown; `data`: any of these in a `data:` URI.
 */
export type HtmlPlace = 'html' | 'form' | 'refresh' | 'embedded' | 'image' | 'data'

/** What the value of an attribute is: a target, several of them, or something that affects them. */
type AttributeUse = HtmlPlace | 'base' | 'document' | 'sources' | 'condition'

/** The attributes of an element that contain links. */
export type LinkAttributes = {
  uses: ReadonlyMap<string, AttributeUse>
  /** The lengths of their names as bits, to exclude other attributes quickly. */
  lengths: number
}

const background = { background: 'image' } as const
const frame = { src: 'embedded' } as const

const byElement: Readonly<Record<string, Readonly<Record<string, AttributeUse>>>> = {
  a: { href: 'html', 'xlink:href': 'html' },
  area: { href: 'html' },
  base: { href: 'base' },
  body: background,
  button: { formaction: 'form' },
  embed: frame,
  form: { action: 'form' },
  frame,
  iframe: { ...frame, srcdoc: 'document' },
  image: { src: 'image', href: 'image', 'xlink:href': 'image' },
  img: { src: 'image', srcset: 'sources' },
  input: { formaction: 'form', src: 'image' },
  meta: { 'http-equiv': 'condition', content: 'refresh' },
  object: { data: 'embedded' },
  script: { ...frame, href: 'embedded', 'xlink:href': 'embedded' },
  source: { src: 'image', srcset: 'sources' },
  table: background,
  td: background,
  th: background,
  tr: background,
  video: { poster: 'image', src: 'image' },
}

const known = new Map(Object.entries(byElement).map(([name, uses]) => [name, readUses(uses)]))
/** VML, which Outlook draws: every shape may be a link. */
const vml = readUses({ href: 'html', src: 'image' })

function readUses(uses: Readonly<Record<string, AttributeUse>>): LinkAttributes {
  const names = Object.keys(uses)
  const lengths = names.reduce((bits, { length }) => bits | (1 << length), 0)
  return { uses: new Map(Object.entries(uses)), lengths }
}

/**
 * Returns the attributes of an element that contain links; `name` is in lower case, or a prefix
 * such as `v:` for all elements of another language.
 */
export function linkAttributes(name: string): LinkAttributes | undefined {
  return known.get(name) ?? (name === 'v:' ? vml : undefined)
}

/** Returns the target of a refresh (HTML standard §4.2.5.3), from the `content` of a `meta`. */
export function refreshTarget(content: string): string | undefined {
  const [, quoted, single, bare] = refresh.exec(content) ?? []
  return quoted ?? single ?? bare
}

const refresh = /^\s*[\d.]+(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|([^\s].*))/is

const sourcesMax = 8

/** Returns the addresses in a `srcset` (HTML standard §4.8.4.4.1), at most eight. Linear time. */
export function sourcesIn(srcset: string): string[] {
  const found = srcset.matchAll(/([^\s,]\S*)(?:(?<!,)[^,]*)?/g)
  return [...found.take(sourcesMax)].map(([, source = '']) => trimmedEnd(source, ','))
}

const pageTypes = /^data:\s*(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|text\/xml)\b/i

/** Decodes a `data:` URI (RFC 2397) that contains a page or a drawing; undefined for any other. */
export function pageInData(uri: string): string | undefined {
  if (!pageTypes.test(uri)) return undefined
  const comma = uri.indexOf(',')
  if (comma < 0) return undefined
  const content = decodeEscapes(uri.slice(comma + 1))
  const isBase64 = /;\s*base64\s*$/i.test(uri.slice(0, comma))
  return Buffer.from(content, isBase64 ? 'base64' : 'latin1').toString()
}

/** Decodes percent-encoding into bytes, as a Latin-1 view; incorrect escapes stay unchanged. */
function decodeEscapes(text: string): string {
  const bytes = Buffer.from(text).toString('latin1')
  return bytes.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
