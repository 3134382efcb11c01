/** The tags of a list, names in lower case, values without white space around them. */
export type TagList = ReadonlyMap<string, string>

const tagsMax = 50

/**
 * Reads a list of `name=value` parted by semicolons (RFC 6376 §3.2), as DKIM and ARC have them.
 * Names in any case, as lenient verifiers take them; an entry without `=` is passed over.
 * Undefined when a name comes twice, which makes a list invalid, or when there are more than 50.
 */
export function parseTagList(text: string): TagList | undefined {
  const tags = new Map<string, string>()
  for (let start = 0; start <= text.length;) {
    const semicolon = text.indexOf(';', start)
    const end = semicolon < 0 ? text.length : semicolon
    const equals = text.indexOf('=', start)
    if (equals >= 0 && equals < end) {
      const name = text.slice(start, equals).trim().toLowerCase()
      if (tags.has(name) || tags.size >= tagsMax) return undefined
      tags.set(name, text.slice(equals + 1, end).trim())
    } else if (equals < 0) break
    start = end + 1
  }
  return tags
}
