const ENGLISH =
  /(?<!\p{L})(?:[Tt]he|[Nn]o(?= [a-z])|of|for|with|from|not|is|are|and|to|by)(?!\p{L})/u

/**
 * Returns the English sentences of a page in another language, without texts by strangers and those
 * marked as English.
 */
export function englishIn(html: string): string[] {
  return html
    .replaceAll(/<(\w+)[^>]*(?: class="[^"]*(?:stranger|address)| lang="en)[^>]*>[^]*?<\/\1>/g, '|')
    .replaceAll(/<(title|pre|code|bdi|textarea|footer)\b[^]*?<\/\1>/g, '|')
    .replaceAll(/<[^>]*>/g, '|')
    .split('|')
    .filter((text) => ENGLISH.test(text))
}
