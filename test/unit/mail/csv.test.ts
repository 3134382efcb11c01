import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { csvLine } from '../../../src/mail/csv.ts'

const signs = '= + - @ ＝ ＋ － ＠ ﹢ ﹣ ﹦ ﹫ ⁺ ⁻ ⁼ ₊ ₋ ₌'.split(' ')
const blanks: string[] = [
  ...['', ' ', '   ', '\t', '\r', '\n', '\r\n', '\v', '\f', '\0', '\x1b', '\x7f', '\x85'],
  ...['\u00a0', '\u1680', '\u2000', '\u2009', '\u202f', '\u205f', '\u3000', '\u2028', '\u2029'],
  ...['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u200e', '\u202e', '\u2066'],
  ...['\u034f', '\u115f', '\u3164', '\uffa0', '\ufe0f', '\u2800', '\u{e0020}', ' \ufeff\t\u00a0\n'],
]

test('a text is no formula, whatever blanks precede its sign', () => {
  for (const blank of blanks) {
    for (const sign of signs) {
      const text = `${blank}${sign}1+1`
      const [cell = '', next] = cellsOf(csvLine([text, 'x']), ',')
      expect(cell.at(0), JSON.stringify(text)).toBe("'")
      expect([cell.replaceAll("'", ''), next]).toEqual([text, 'x'])
    }
  }
})

test('a text stays no formula where a semicolon separates cells and quotes are not known', () => {
  for (const separator of [';', '\n', '\t', '\r\n']) {
    for (const sign of signs) {
      const texts = [' ', '"', ' "" '].map(
        (blank) => `b${separator}${blank}${sign}cmd|'/C calc'!A0`,
      )
      const cells = csvLine(['a', ...texts])
        .replaceAll('"', '')
        .split(/[,;\t\r\n]/)
      expect(cells.filter((cell) => signs.some((one) => cell.trim().startsWith(one)))).toEqual([])
    }
  }
})

test('other texts and numbers stay as they are', () => {
  const texts = ['a=b', 'a - b', "it's", '1-2', 'name@host.example', ' padded', '', 'ё', '…']
  expect(cellsOf(csvLine(texts), ',')).toEqual(texts)
  expect(csvLine([-5, 0.5, null])).toBe('-5,0.5,\r\n')
  expect(csvLine(['a"b', 'c,d', 'e\nf', 'g;h'])).toBe('"a""b","c,d","e\nf","g;h"\r\n')
  expect(csvLine(['a', 1], '\n')).toBe('a,1\n')
})

test('a long run of blanks takes linear time', () => {
  const before = process.cpuUsage()
  csvLine([`${' '.repeat(1_000_000)}x`, `${'; '.repeat(500_000)}=x`])
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
})

test('every export as CSV is written by the same function', () => {
  const root = path.join(import.meta.dirname, '../../../src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const writers = files.filter((file) => {
    if (!file.endsWith('.ts')) return false
    return /text\/csv|function \w*csv\w*\(/i.test(readFileSync(path.join(root, file), 'utf8'))
  })
  // These define it, read CSV, send a file that was written, or describe an answer.
  const known = ['mail/csv.ts', 'origin/network-tables/text-tables.ts', 'web/lists/downloads.ts']
  const others = writers.filter(
    (file) => !known.includes(file) && !file.startsWith('web/api/contract/'),
  )
  expect(others.length).toBeGreaterThan(3)
  for (const file of others) {
    expect(readFileSync(path.join(root, file), 'utf8'), file).toMatch(/from '[./]+\/mail\/csv\.ts'/)
  }
})

/** Reads one line of CSV, as RFC 4180 describes it. */
function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = []
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}]*))(?:${separator}|\\r\\n$)`, 'gy')
  for (const { 1: quoted, 2: plain } of line.matchAll(cell)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
  }
  return cells
}
