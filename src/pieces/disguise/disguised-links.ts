import { withoutPunctuation } from '../written-links.ts'
import { withoutInvisible } from './plain-text.ts'

const DISGUISED_MAX = 200
const TEXT_CHARS_MAX = 256 * 1024

/**
 * Returns web addresses that people recognize as such but programs do not: with `hxxp://`, `[.]` or
 * ` dot `, white space after the scheme, or invisible characters; at most 200. Linear time.
 */
export function disguisedLinks(whole: string): string[] {
  const written = whole.length > TEXT_CHARS_MAX ? whole.slice(0, TEXT_CHARS_MAX) : whole
  const text = mayHide.test(written) ? withoutInvisible(written) : written
  const isDisguised = telltale.test(text)
  if (!isDisguised && text === written) return []
  const found = new Set<string>()
  const add = (links: Iterable<RegExpExecArray>) => {
    for (const [link] of links) {
      if (found.size >= DISGUISED_MAX) return
      found.add(withoutPunctuation(link))
    }
  }
  if (isDisguised) {
    // Links without a disguise, of which there may be thousands, must not hide others.
    add(text.matchAll(disguised).filter(([link]) => telltale.test(link)))
    if (/\sdot\s/i.test(text)) add(spokenIn(text))
  }
  if (text !== written && /:\/\/|www\./i.test(text)) {
    const open = new Set(Array.from(written.matchAll(openly), ([link]) => link))
    add(text.matchAll(openly).filter(([link]) => !open.has(link)))
  }
  return [...found]
}

/** Invisible characters, and other forms of ASCII characters. */
const mayHide = new RegExp(
  '[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3002]|' +
    '[\\ufeff\\uff01-\\uff61\\ud835]|\\u034f|[\\ufe00-\\ufe0f]',
)
const telltale =
  /h(?:xx|\*\*|__)ps?\W|[[({]\s?(?:\.|dot|:)\s?[\])}]|https?\s+:|https?:\s+\/|https?:\/?\\|\sdot\s/i
const dot = String.raw`\s?[[({]\s?(?:\.|dot)\s?[\])}]\s?`
const rest = String.raw`(?:${dot}|[^\s<>"'[\](){}]){1,500}`
const gap = String.raw`\s{0,2}`
const colon = String.raw`${gap}[[({]?${gap}:${gap}[\])}]?${gap}`
const scheme = String.raw`(?:h(?:xx|\*\*|__)ps?|https?|fxp)${colon}[\\/]{2}${gap}`
const page = String.raw`(?:\/[^\s<>"']{0,500})?`
const labels = String.raw`(?:[\w-]{1,63}(?:${dot}|\.)){1,6}?`
const bare = String.raw`(?<![\w-])${labels}[\w-]{1,63}${dot}[a-z]{2,20}${page}`
const simple = String.raw`(?<![\w-])[\w-]{1,63}${dot}[\w-]{1,63}${page}`
const disguised = new RegExp(`${scheme}${rest}|${bare}|${simple}`, 'gi')
const openly = /(?:https?:\/\/|\bwww\.)[^\s<>"'\\]{1,500}/gi

/** An address with ` dot ` between its labels, and perhaps ` slash ` after them. */
const spoken = new RegExp(
  String.raw`(?<![\w.-])(?:https?:\/\/)?(?:[a-z\d-]{1,63}\s{1,3}dot\s{1,3}){1,4}[a-z]{2,24}` +
    String.raw`(?![\w.-])(?:\/[^\s<>"']{0,500}|(?:\s{1,3}slash\s{1,3}[\w-]{1,100}){1,5})?`,
  'gi',
)
/** What people write before "dot com" when they mean the business. */
const aboutDots = new RegExp(
  '^(?:the|an?|this|that|these|those|every|any|new|old|of|in|from|for|or|and|your|our|to|is|at|' +
    'on|by|with|as|no)\\b',
  'i',
)

function* spokenIn(text: string): Generator<RegExpExecArray> {
  for (const found of text.matchAll(spoken)) {
    if (aboutDots.test(found[0])) continue
    found[0] = found[0].replaceAll(/\s+dot\s+/gi, '.').replaceAll(/\s+slash\s+/gi, '/')
    yield found
  }
}
