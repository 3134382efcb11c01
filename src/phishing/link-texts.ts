import { linkMarks } from '../pieces/html-tokens.ts'
import type { HtmlView } from '../pieces/html-view.ts'

/** What a reader sees of a link. */
export type LinkText = {
  /** Its text on one line; empty for a picture, or when there is nothing to see. */
  text: string
  /** The text before and after it. */
  before: string
  after: string
  /** Whether it has neither text nor picture. */
  isFaint: boolean
}

const TEXT_CHARS_MAX = 200
const AROUND_CHARS_MAX = 120
const LINKS_MAX = 500

const { start, text: opened, end } = linkMarks
const link = new RegExp(`${start}(\\d+)${opened}([^${start}${end}]*)`, 'g')
const marks = new RegExp(`${start}\\d+${opened}|${end}`, 'g')

/** Returns what a reader sees of each link of a page that was viewed with marks around links. */
export function linkTexts({ text, links }: HtmlView): ReadonlyMap<string, LinkText[]> {
  const texts = new Map<string, LinkText[]>()
  for (const found of text.matchAll(link).take(LINKS_MAX)) {
    const [whole, index, inner = ''] = found
    const target = links[Number(index)]
    if (!target) continue
    const from = found.index
    const to = from + whole.length
    texts
      .getOrInsertComputed(target.url, () => [])
      .push({
        text: oneLine(inner).slice(0, TEXT_CHARS_MAX),
        before: oneLine(text.slice(Math.max(0, from - AROUND_CHARS_MAX), from)),
        after: oneLine(text.slice(to, to + AROUND_CHARS_MAX)),
        isFaint: target.isFaint === true,
      })
  }
  return texts
}

function oneLine(text: string): string {
  return text.replace(marks, '').replace(/\s+/g, ' ').trim()
}
