/** Marks the characters of a set for `stretchesOf`; all of them below U+0100. */
export function characterSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of characters) set[character.charCodeAt(0)] = 1
  return set
}

/**
 * All stretches of at least `lengthMin` characters that are in the set, each as long as it can be.
 * Looks where such a stretch would end at the earliest, and from there backwards: the first
 * character that is not in the set rules out all that begin before it. An order of magnitude faster
 * than a regular expression, which begins anew at each.
 */
export function stretchesOf(text: string, set: Uint8Array, lengthMin: number): string[] {
  const found: string[] = []
  let start = 0
  for (let at = lengthMin - 1; at < text.length; at = start + lengthMin - 1) {
    let last = at
    while (last >= start && set[text.charCodeAt(last)] === 1) last--
    if (last >= start) {
      start = last + 1
      continue
    }
    let end = at + 1
    while (end < text.length && set[text.charCodeAt(end)] === 1) end++
    found.push(text.slice(start, end))
    start = end + 1
  }
  return found
}

/** Whether there is any. */
export function hasStretch(text: string, set: Uint8Array, lengthMin: number): boolean {
  let start = 0
  for (let at = lengthMin - 1; at < text.length; at = start + lengthMin - 1) {
    let last = at
    while (last >= start && set[text.charCodeAt(last)] === 1) last--
    if (last < start) return true
    start = last + 1
  }
  return false
}
