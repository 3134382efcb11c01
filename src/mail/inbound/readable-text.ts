import { withoutTags } from '../bounces/bounce-text.ts'
import { decodeCharset } from '../encoded-word.ts'
import { entityField, fieldParameter, leafText, ownPart } from '../mime-tree.ts'
import type { Entity } from '../mime-tree.ts'

const partCharsMax = 128 * 1024

/**
 * The text of a message for its reader: the first text/plain part that says something, else the
 * HTML part without its tags and what it quotes. Attached messages are left out.
 */
export function readableText(tree: Entity): string {
  const plain = decoded(ownPart(tree, 'text/plain'))
  if (plain.trim() !== '') return plain
  const html = decoded(ownPart(tree, 'text/html'))
  return html === '' ? '' : shownText(html)
}

function decoded(part: Entity | undefined): string {
  if (part === undefined) return ''
  const charset = fieldParameter(entityField(part, 'content-type') ?? '', 'charset') ?? 'utf-8'
  return decodeCharset(Buffer.from(leafText(part).slice(0, partCharsMax), 'latin1'), charset)
}

const quotations = [
  'blockquote',
  'div[^<>]{0,200}\\b(?:gmail_quote|yahoo_quoted|moz-cite-prefix|divRplyFwdMsg|OutlookMessageHeader)',
].join('|')
const firstQuotation = new RegExp(`<(?:${quotations})\\b`, 'i')

/** What HTML shows before it quotes: mail programs put an answer above what it answers. */
function shownText(html: string): string {
  const body = html.slice(Math.max(0, html.search(/<body\b/i)))
  const at = firstQuotation.exec(body)?.index ?? body.length
  const own = withoutTags(withoutHidden(body.slice(0, at)))
  return own.trim() === '' ? withoutTags(withoutHidden(body)) : own
}

/** Without style sheets, scripts and comments; one that does not end takes the rest with it. */
function withoutHidden(html: string): string {
  const lower = html.toLowerCase()
  let text = ''
  let from = 0
  const opening = /<(style|script|title|head)\b|<!--/gi
  for (let found = opening.exec(html); found; found = opening.exec(html)) {
    text += html.slice(from, found.index)
    const name = found[1]?.toLowerCase()
    const close = name === undefined ? '-->' : `</${name}`
    const end = lower.indexOf(close, found.index)
    if (end < 0) return text
    from = end + close.length
    opening.lastIndex = from
  }
  return text + html.slice(from)
}
