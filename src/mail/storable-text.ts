/**
 * The text as PostgreSQL text and jsonb can keep it: NULs and lone surrogates become U+FFFD, and
 * what is longer than `charsMax` UTF-16 units is cut. Never throws.
 */
export function storableText(text: string, charsMax: number): string {
  const cut = text.length > charsMax ? text.slice(0, charsMax) : text
  const whole = cut.isWellFormed() ? cut : cut.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}
