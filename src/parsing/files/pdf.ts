import { hash } from 'node:crypto'
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { inTime } from '../../world.ts'
import { isReadable, type Picture, PIXELS_MAX } from './picture.ts'

/** What a PDF file contains. */
type PdfContent = {
  /** The targets of its links, those of the largest areas first. */
  urls: string[]
  /** How many more targets it has. */
  more: number
  /** The text of its pages, and its scripts. */
  text: string
  pictures: Picture[]
}

const PAGES_MAX = 10
/** Pages of which only the links are read. */
const LINK_PAGES_MAX = 200
/** The type of the annotations that are links, in the library. */
const LINK = 2
const URLS_MAX = 200
const ANNOTATIONS_MAX = 10_000
/** `findLinks` keeps no more of a link. */
const URL_CHARS_MAX = 2_000
const PICTURES_MAX = 8
const TEXT_CHARS_MAX = 64 * 1024
/** Limit in milliseconds for a picture, which may never arrive if it is damaged. */
const PICTURE_MS_MAX = 1_000

/** Nothing is loaded from elsewhere: no fonts, no canvas, no pictures above the limit. */
const options = {
  verbosity: 0,
  useSystemFonts: false,
  disableFontFace: true,
  isOffscreenCanvasSupported: false,
  isImageDecoderSupported: false,
  maxImageSize: 12_000_000,
  enableXfa: false,
}

type Document = Awaited<ReturnType<typeof getDocumentProxy>>
type Page = Awaited<ReturnType<Document['getPage']>>

/**
 * Reads links, text and pictures of a PDF file: its first ten pages, and the links of the next
 * ones. Calls `onPart` after each step. Also reads encrypted files that open without a password.
 * Any other gives nothing and is not `isWhole`, nor is a damaged file.
 */
export async function readPdf(
  file: Buffer,
  onPart: (content: PdfContent) => void = () => undefined,
): Promise<PdfContent & { isWhole: boolean }> {
  const content: PdfContent = { urls: [], more: 0, text: '', pictures: [] }
  const areas = new Map<string, number>()
  const written = new Map<string, number>()
  addLinks(writtenTargets(file), written)
  const keep = () => keepLinks(content, new Map([...written, ...areas]))
  keep()
  if (content.urls.length > 0) onPart(content)
  // The library takes the memory of the bytes, so it gets a copy.
  const document = await getDocumentProxy(Uint8Array.from(file), options).catch(() => undefined)
  if (!document) return { ...content, isWhole: false }
  let isWhole = true
  const seen = new Set<string>()
  try {
    if (document.numPages <= LINK_PAGES_MAX) {
      // Before anything is drawn, which may take too long.
      const links = await document.getAnnotationsByType(new Set([LINK]), new Set())
      addLinks(links as Annotation[], areas)
      keep()
      onPart(content)
    }
    for (let number = 1; number <= Math.min(document.numPages, LINK_PAGES_MAX); number++) {
      const page = await document.getPage(number)
      addLinks((await page.getAnnotations()) as Annotation[], areas)
      if (number <= PAGES_MAX || number % PAGES_MAX === 0) keep()
      if (number > PAGES_MAX) {
        page.cleanup()
        continue
      }
      await readText(page, content)
      onPart(content)
      await readPictures(page, content, seen)
      page.cleanup()
    }
    keep()
    const scripts = Object.values((await document.getJSActions()) ?? {}).flat()
    addText(content, scripts.join('\n'))
    // What only the source names may be left over, where nobody sees it.
    if (document.numPages > 0) keepLinks(content, areas)
  } catch {
    // What was read before the damage counts.
    isWhole = false
  }
  await document.cleanup().catch(() => undefined)
  return { ...content, isWhole }
}

function addText(content: PdfContent, text: string): void {
  const room = TEXT_CHARS_MAX - content.text.length
  if (room > 0) content.text += `${text.slice(0, room)}\n`
}

/** An annotation of a page, as the library gives it. */
type Annotation = { url?: string; unsafeUrl?: string; rect?: number[] }

/**
 * The targets in the source of a file that is not encrypted. They count if the library cannot read
 * all of it, or not in time.
 */
function writtenTargets(file: Buffer): Annotation[] {
  const source = file.toString('latin1')
  if (source.includes('/Encrypt')) return []
  const found = source.matchAll(writtenTarget).take(ANNOTATIONS_MAX)
  return Array.from(found, ([, url = '']) => ({ url: url.replaceAll(/\\([()\\])/g, '$1') }))
}

const writtenTarget =
  /\/(?:URI|F)\s{0,9}\(\s{0,9}((?:https?:|ftp:|www\.)(?:[^()\\]|\\.){1,2000})\)/gi

/** Adds links to `areas`: the largest area of each target. */
function addLinks(annotations: readonly Annotation[], areas: Map<string, number>): void {
  for (const { url, unsafeUrl, rect = [] } of annotations) {
    const target = (url ?? unsafeUrl)?.slice(0, URL_CHARS_MAX)
    if (target === undefined || (areas.size >= ANNOTATIONS_MAX && !areas.has(target))) continue
    const [left = 0, bottom = 0, right = 0, top = 0] = rect
    const area = Math.abs((right - left) * (top - bottom))
    areas.set(target, Math.max(areas.get(target) ?? 0, area))
  }
}

/** Orders the links: one of each host before the others, and the largest first. */
function keepLinks(content: PdfContent, areas: ReadonlyMap<string, number>): void {
  const ordered = [...areas].toSorted(([, one], [, other]) => other - one).map(([url]) => url)
  const hosts = new Set<string>()
  const isNew = (url: string) => hosts.size < hosts.add(hostIn.exec(url)?.[1] ?? url).size
  const fresh = new Set(ordered.filter(isNew))
  content.urls = [...fresh, ...ordered.filter((url) => !fresh.has(url))].slice(0, URLS_MAX)
  content.more = ordered.length - content.urls.length
}

const hostIn = /^[a-z]{1,20}:[\\/]*([^\\/?#]{1,255})/i

async function readText(page: Page, content: PdfContent): Promise<void> {
  const { items } = await page.getTextContent()
  const pieces = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
  addText(content, pieces.join(''))
}

type Drawn = { width: number; height: number; kind?: number; data?: Uint8Array | string }

/** Adds the pictures of a page that differ from those `seen` before. */
async function readPictures(
  page: Page,
  { pictures }: PdfContent,
  seen: Set<string>,
): Promise<void> {
  const { OPS } = await getResolvedPDFJS()
  const drawing = new Set([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
  ])
  const { fnArray, argsArray } = await page.getOperatorList()
  const drawnHere = new Set<unknown>()
  for (const [index, operator] of fnArray.entries()) {
    if (!drawing.has(operator) || seen.size >= PICTURES_MAX) continue
    const [drawn] = argsArray[index] as [string | Drawn]
    if (drawnHere.has(drawn)) continue
    drawnHere.add(drawn)
    const named = typeof drawn === 'string' ? drawn : drawn.data
    const found = typeof named === 'string' ? await objectOf(page, named) : drawn
    const picture = typeof found === 'object' ? pictureOf(found) : undefined
    const key = picture && hash('sha1', picture.data)
    if (!picture || !key || seen.has(key)) continue
    seen.add(key)
    keep(pictures, picture)
  }
}

/** Adds a picture, and drops the largest ones if all together have too many pixels. */
function keep(pictures: Picture[], picture: Picture): void {
  pictures.push(picture)
  pictures.sort((a, b) => a.width * a.height - b.width * b.height)
  let pixels = 0
  const fitting = pictures.findIndex((one) => (pixels += one.width * one.height) > PIXELS_MAX)
  if (fitting >= 0) pictures.length = fitting
}

async function objectOf(page: Page, id: string): Promise<Drawn | undefined> {
  const objects = id.startsWith('g_') ? page.commonObjs : page.objs
  const arrived = new Promise<Drawn | undefined>((resolve) => {
    objects.get(id, (drawn: Drawn | null) => resolve(drawn ?? undefined))
  })
  return inTime(arrived, PICTURE_MS_MAX, undefined)
}

/** Converts one bit, three or four bytes per pixel to four bytes. */
function pictureOf({ width, height, kind = 1, data }: Drawn): Picture | undefined {
  if (!isReadable({ width, height }) || typeof data !== 'object') return undefined
  if (kind === 3) return { width, height, data: Uint8ClampedArray.from(data) }
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255)
  const rowBytes = Math.ceil(width / 8)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const to = pixel * 4
    if (kind === 2) {
      for (let color = 0; color < 3; color++) pixels[to + color] = data[pixel * 3 + color] ?? 0
      continue
    }
    const column = pixel % width
    const byte = data[((pixel - column) / width) * rowBytes + (column >> 3)] ?? 0
    if ((byte & (0x80 >> (column & 7))) === 0) pixels.fill(0, to, to + 3)
  }
  return { width, height, data: pixels }
}
