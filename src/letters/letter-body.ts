import type { KeyedLink } from '../mail/keys.ts'
import { type Language, textsIn } from '../texts/messages.ts'

/**
 * A part of a letter, in Unicode; any text may be untrusted. A string is a paragraph, whose line
 * breaks are kept.
 */
export type LetterPart =
  | string
  | { title: string }
  | { items: readonly (string | { text: string; url: string })[] }
  /** What the reader can do, and the page to do it: a button in HTML. */
  | { action: string; url: string | KeyedLink }
  /** A remark below the letter, with a page. */
  | { small: string; url?: string | KeyedLink }

/** The same letter as plain text and as HTML, and the keys of the links in it. */
export type LetterBody = { text: string; html: string; keys: readonly string[] }

/** Composes both forms of a letter from the same parts. */
export function composeBody(parts: readonly LetterPart[], language: Language): LetterBody {
  const links = parts.flatMap((part) => (typeof part === 'object' && 'url' in part ? part.url : []))
  const keys = links.flatMap((link) => (typeof link === 'object' ? link.key : []))
  return { text: textOf(parts, language), html: htmlOf(parts, language), keys }
}

function addressOf(link: string | KeyedLink): string {
  return typeof link === 'string' ? link : link.url
}

const LINE_CHARS_MAX = 78

function textOf(parts: readonly LetterPart[], language: Language): string {
  const colon = textsIn(language)('marks.colon')
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return wrapped(part)
    if ('title' in part) return part.title.toUpperCase()
    if ('items' in part) return part.items.map(itemText).join('\n')
    if ('action' in part) return `${wrapped(`${part.action}${colon}`)}\n${addressOf(part.url)}`
    const small = wrapped(part.small)
    return part.url === undefined ? small : `${small}\n${addressOf(part.url)}`
  })
  const isTitle = (at: number) => typeof parts[at] === 'object' && 'title' in parts[at]
  return blocks.map((block, at) => block + (isTitle(at) ? '\n' : '\n\n')).join('')
}

function itemText(item: string | { text: string; url: string }): string {
  const lines =
    typeof item === 'string' ? wrapped(item, 2) : `${wrapped(item.text, 2)}\n${item.url}`
  return `- ${lines.replaceAll('\n', '\n  ')}`
}

/** Wraps lines for mail programs. A word longer than a line, such as a link, is not broken. */
function wrapped(text: string, indent = 0): string {
  return text
    .split('\n')
    .map((line) => wrappedLine(line, LINE_CHARS_MAX - indent))
    .join('\n')
}

function wrappedLine(text: string, charsMax: number): string {
  let line = ''
  const lines: string[] = []
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > charsMax) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/**
 * Styles are in the elements, because some mail programs remove others, and nothing is loaded from
 * elsewhere. The colors of text are those of the mail program, in light and in dark.
 */
const styles = {
  body: 'margin:0;color-scheme:light dark;background:Canvas;color:CanvasText',
  page:
    'margin:0 auto;padding:20px 16px;max-width:560px;overflow-wrap:anywhere;' +
    'font:16px/1.5 system-ui,-apple-system,Roboto,Arial,sans-serif',
  brand: 'margin:0 0 20px;font-weight:700',
  paragraph: 'margin:0 0 16px',
  title: 'margin:28px 0 8px;font-size:18px;line-height:1.3',
  list: 'margin:0 0 16px;padding-left:20px',
  item: 'margin:0 0 8px',
  button:
    'display:inline-block;padding:10px 18px;border-radius:6px;background:#0b6b5d;' +
    'color:#ffffff;font-weight:600;text-decoration:none',
  address: 'margin:0 0 20px;font-size:14px',
  line: 'margin:28px 0 16px;border:0;border-top:1px solid #8a94a0',
  small: 'margin:0 0 8px;font-size:14px',
}

function htmlOf(parts: readonly LetterPart[], language: Language): string {
  const firstSmall = parts.findIndex((part) => typeof part === 'object' && 'small' in part)
  const blocks = parts.map((part, at) => {
    if (typeof part === 'string') return element('p', 'paragraph', lines(part))
    if ('title' in part) return element('h2', 'title', escaped(part.title))
    if ('items' in part) return element('ul', 'list', part.items.map(itemHtml).join(''))
    if ('action' in part) {
      const [url, action] = [escaped(addressOf(part.url)), escaped(part.action)]
      const button = `<a href="${url}" style="${styles.button}">${action}</a>`
      return element('p', 'paragraph', button) + element('p', 'address', link(addressOf(part.url)))
    }
    const page = part.url === undefined ? '' : `<br>${link(addressOf(part.url))}`
    const small = element('p', 'small', lines(part.small) + page)
    return at === firstSmall ? `<hr style="${styles.line}">${small}` : small
  })
  return [
    '<!doctype html>',
    `<html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark"></head>',
    `<body style="${styles.body}"><div style="${styles.page}">`,
    element('p', 'brand', 'Signalpost'),
    ...blocks,
    '</div></body></html>',
  ].join('\n')
}

function itemHtml(item: string | { text: string; url: string }): string {
  if (typeof item === 'string') return element('li', 'item', lines(item))
  return element('li', 'item', `${lines(item.text)}<br>${link(item.url)}`)
}

function element(name: string, style: keyof typeof styles, content: string): string {
  return `<${name} style="${styles[style]}">${content}</${name}>`
}

function link(url: string): string {
  return `<a href="${escaped(url)}">${escaped(url)}</a>`
}

function lines(text: string): string {
  return escaped(text).replaceAll('\n', '<br>')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
}
