/** Marks the characters of a set for `stretchesOf`; all of them below U+0100. */
export function characterSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of characters) set[character.charCodeAt(0)] = 1
  return set
}

/**
 * All stretches of at least `lengthMin` characters that are in the set, each as long as it can be.
 * Looks at every `lengthMin`-th character first, which such a stretch cannot avoid: an order of
 * magnitude faster than a regular expression, which begins anew at each.
 */
export function stretchesOf(text: string, set: Uint8Array, lengthMin: number): string[] {
  const found: string[] = []
  let done = 0
  for (let at = lengthMin - 1; at < text.length; at += lengthMin) {
    if (set[text.charCodeAt(at)] !== 1) continue
    let start = at
    while (start > done && set[text.charCodeAt(start - 1)] === 1) start--
    let end = at + 1
    while (end < text.length && set[text.charCodeAt(end)] === 1) end++
    if (end - start >= lengthMin) found.push(text.slice(start, end))
    done = end
    at = end
  }
  return found
}
