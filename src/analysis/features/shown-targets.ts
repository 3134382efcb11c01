import { registrableDomain } from '../../mail/domain.ts'

const linksMax = 100
const tagCharsMax = 3_000
const textCharsMax = 200

/**
 * How many links of an HTML text show the address of one organization and lead to another. Only
 * texts that are an address by themselves are looked at; reads from left to right, at most 100.
 */
export function countMisleading(html: string): number {
  let count = 0
  let at = html.indexOf('</a')
  for (let looked = 0; at >= 0 && looked < linksMax; looked++) {
    const shown = shownHost(html, at)
    if (shown !== undefined && isElsewhere(shown, targetHost(html, at))) count++
    at = html.indexOf('</a', at + 3)
  }
  return count
}

/** The host that the text before a closing tag shows, where that text is an address. */
function shownHost(html: string, close: number): string | undefined {
  const from = html.lastIndexOf('>', close - 1)
  if (from < 0 || close - from > textCharsMax) return undefined
  const text = html.slice(from + 1, close).trim()
  if (!text.includes('.') || text.includes('@')) return undefined
  const found = /^(?:https?:\/\/)?((?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24})(?:[/:?#]\S*)?$/i.exec(text)
  return found?.[1]?.toLowerCase()
}

function targetHost(html: string, close: number): string | undefined {
  const before = html.slice(Math.max(0, close - tagCharsMax), close)
  const open = Math.max(before.lastIndexOf('<a '), before.lastIndexOf('<A '))
  if (open < 0) return undefined
  const written = /\shref\s{0,5}=\s{0,5}["']?\s{0,5}https?:\/\/([^/?#"'\s>:]{1,253})/i.exec(
    before.slice(open),
  )?.[1]
  return written?.slice(written.lastIndexOf('@') + 1).toLowerCase()
}

/** Both are registered, and by others. */
function isElsewhere(shown: string, target: string | undefined): boolean {
  const one = registrableDomain(shown)
  const other = target === undefined ? undefined : registrableDomain(target)
  return one !== undefined && other !== undefined && one !== other
}
