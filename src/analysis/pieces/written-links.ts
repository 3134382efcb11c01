import { withoutInvisible } from '../disguise/plain-text.ts'

/**
 * The addresses in a text that no program takes for a link but a person does: `hxxp://`, `[.]`,
 * blanks after the scheme, wide characters and invisible ones. At most 20. Linear.
 */
export function findWrittenLinks(written: string): string[] {
  const text = withoutInvisible(written)
  const found = new Set<string>()
  const add = (links: Iterable<RegExpExecArray>) => {
    let count = 0
    for (const [link] of links) {
      if (!written.includes(link) || link.search(telltale) >= 0) {
        found.add(link.replace(/[.,;:!?)\]}*_]+$/, ''))
      }
      if (found.size >= linksMax || ++count >= candidatesMax) return
    }
  }
  if (telltale.test(text)) add(text.matchAll(disguised))
  if (text !== written) add(text.matchAll(openly))
  return [...found]
}

const linksMax = 20
const candidatesMax = 200

const telltale =
  /h(?:xx|\*\*|__)ps?\W|[[({]\s?(?:\.|dot|:)\s?[\])}]|https?\s+:|https?:\s+\/|https?:\/?\\/i
const dot = String.raw`\s?[[({]\s?(?:\.|dot)\s?[\])}]\s?`
const rest = String.raw`(?:${dot}|[^\s<>"'[\](){}]){1,500}`
const scheme = String.raw`(?:h(?:xx|\*\*|__)ps?|https?|fxp)\s{0,2}[[({]?\s{0,2}:\s{0,2}[\])}]?\s{0,2}[\\/]{2}\s{0,2}`
const bare = String.raw`(?<![\w-])(?:[\w-]{1,63}(?:${dot}|\.)){1,6}?[\w-]{1,63}${dot}[a-z]{2,20}(?:\/[^\s<>"']{0,500})?`
const simple = String.raw`(?<![\w-])[\w-]{1,63}${dot}[\w-]{1,63}(?:\/[^\s<>"']{0,500})?`
const disguised = new RegExp(`${scheme}${rest}|${bare}|${simple}`, 'gi')
const openly = /(?:https?:\/\/|\bwww\.)[^\s<>"'\\]{1,500}/gi
