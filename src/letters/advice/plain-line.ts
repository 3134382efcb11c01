/** What is not seen, or changes what is seen beside it; joiners and marks of direction too. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu
const links = /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)\S*/gi

/**
 * A stranger's text on one line of a letter: without what cannot be seen, and without links, which
 * mail programs would make to be clicked. Cut to `charsMax`.
 */
export function plainLine(text: string, charsMax: number): string {
  const isWebsite = /^https?:\/\/[\x21-\x7e]+$/i.test(text)
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(unseen, '')
  const whole = (isWebsite ? line : line.replaceAll(links, '…')).trim()
  return whole.length > charsMax ? `${whole.slice(0, charsMax).toWellFormed()}…` : whole
}

/** Lines that an administrator confirmed: links stay. */
export function plainLines(text: string): string[] {
  return text.split('\n').map((line) => line.replaceAll(unseen, '').trimEnd())
}
