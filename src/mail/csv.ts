/**
 * The blanks, controls, invisible characters and quotes that a spreadsheet may skip before a
 * formula.
 */
const blanks = /^[\s"\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]*/u
/** The signs that begin a formula, also in their full-width, small and raised forms (NFKC). */
const formulaSign = /^[=+\-\u2212@]/
/**
 * What lies between separators. Where numbers have a decimal comma, a semicolon separates cells,
 * and a quoted line end ends the row.
 */
const betweenSeparators = /[^;\t\r\n]+/g

/**
 * Formats a line of CSV (RFC 4180); null is an empty cell. A text that a spreadsheet might take for
 * a formula gets an apostrophe in front, and so does what follows a separator in it; numbers stay
 * as they are.
 */
export function csvLine(values: readonly (string | number | null)[], end = '\r\n'): string {
  const cells = values.map((value) => {
    if (typeof value === 'number') return String(value)
    const text = withoutFormulas(value ?? '')
    return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${cells.join(',')}${end}`
}

function withoutFormulas(text: string): string {
  const parts = text.replaceAll(betweenSeparators, (part) =>
    mayBeFormula(part) ? `'${part}` : part,
  )
  return mayBeFormula(text) && !parts.startsWith("'") ? `'${parts}` : parts
}

function mayBeFormula(cell: string): boolean {
  const first = cell.codePointAt(blanks.exec(cell)?.[0].length ?? 0) ?? 0
  return /^[\t\r\n]/.test(cell) || formulaSign.test(String.fromCodePoint(first).normalize('NFKC'))
}
