// One byte a letter, and more than Latin letters: what old mail programs still write.
const charsets = [
  ...['windows-1251', 'koi8-r', 'koi8-u', 'iso-8859-5', 'ibm866', 'windows-1250', 'iso-8859-2'],
  ...['windows-1252', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
]

/** Byte of each letter by charset; made at the first name that needs them. */
let tables: Map<string, number>[] | undefined

/**
 * A text as Latin-1 views of its bytes in UTF-8 and in the charsets of one byte a letter that have
 * all of its letters. The text itself where it is ASCII.
 */
export function writtenForms(text: string): string[] {
  const utf8 = Buffer.from(text).toString('latin1')
  if (utf8 === text) return [text]
  tables ??= charsets.map(tableOf)
  const single = tables.flatMap((table) => {
    const bytes = [...text].map((letter) => table.get(letter))
    return bytes.includes(undefined) ? [] : [Buffer.from(bytes as number[]).toString('latin1')]
  })
  const own = /^[\0-\xff]+$/.test(text) ? [text] : []
  return [...new Set([utf8, ...own, ...single])]
}

function tableOf(charset: string): Map<string, number> {
  const decoder = new TextDecoder(charset)
  const letters = Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte)))
  return new Map(letters.map((letter, byte) => [letter, byte]))
}

/** What UTF-7 (RFC 2152) says in ASCII letters, as far as it is ASCII. */
export function decodeUtf7(text: string): string {
  return text.replace(/\+([A-Za-z0-9+/]{2,})-?/g, (_, digits: string) =>
    Buffer.from(digits, 'base64').toString('latin1').replaceAll('\0', ''),
  )
}
