import { withoutInvisible } from '../disguise/plain-text.ts'

/**
 * The addresses in a text that no program takes for a link but a person does: `hxxp://`, `[.]`,
 * blanks after the scheme, wide characters and invisible ones. At most 20. Linear. `bare` is
 * the same without marks.
 */
export function findWrittenLinks(written: string, bare: string): string[] {
  if (!/:\/\/|www\./i.test(bare) && !telltale.test(bare)) return []
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
const gap = String.raw`\s{0,2}`
const colon = String.raw`${gap}[[({]?${gap}:${gap}[\])}]?${gap}`
const scheme = String.raw`(?:h(?:xx|\*\*|__)ps?|https?|fxp)${colon}[\\/]{2}${gap}`
const page = String.raw`(?:\/[^\s<>"']{0,500})?`
const labels = String.raw`(?:[\w-]{1,63}(?:${dot}|\.)){1,6}?`
const bare = String.raw`(?<![\w-])${labels}[\w-]{1,63}${dot}[a-z]{2,20}${page}`
const simple = String.raw`(?<![\w-])[\w-]{1,63}${dot}[\w-]{1,63}${page}`
const disguised = new RegExp(`${scheme}${rest}|${bare}|${simple}`, 'gi')
const openly = /(?:https?:\/\/|\bwww\.)[^\s<>"'\\]{1,500}/gi
