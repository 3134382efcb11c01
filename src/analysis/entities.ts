const named = new Map<string, string>([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00A0'],
  ['shy', '\u00AD'],
  ['tab', '\t'],
  ['newline', '\n'],
  ['colon', ':'],
  ['sol', '/'],
  ['bsol', '\\'],
  ['period', '.'],
  ['comma', ','],
  ['quest', '?'],
  ['equals', '='],
  ['num', '#'],
  ['percnt', '%'],
  ['commat', '@'],
  ['lowbar', '_'],
  ['hyphen', '\u2010'],
  ['lpar', '('],
  ['rpar', ')'],
  ['semi', ';'],
  ['excl', '!'],
])

/**
 * Decodes the character references of HTML that addresses are written with: all numeric ones and
 * the named ones of punctuation. Others stay as written. Linear.
 */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));?/gi,
    (written: string, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return fromName(name, written)
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD'
    },
  )
}

/** Only `&amp` and its old kin may go without their semicolon. */
function fromName(name: string, written: string): string {
  const text = named.get(name.toLowerCase())
  const isOld = /^(amp|lt|gt|quot)$/i.test(name)
  return text !== undefined && (written.endsWith(';') || isOld) ? text : written
}
