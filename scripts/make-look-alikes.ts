/**
 * Makes `src/pieces/disguise/look-alikes.json` from the confusables of Unicode (UTS #39):
 *
 *   curl -O https://www.unicode.org/Public/security/latest/confusables.txt
 *   node scripts/make-look-alikes.ts confusables.txt > src/pieces/disguise/look-alikes.json
 *
 * For each letter, it has the code points in hexadecimal.
 *
 * Hashes are stored for weeks, so after a change of the table some pieces count as new.
 */
import { readFileSync } from 'node:fs'

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('Usage: node scripts/make-look-alikes.ts confusables.txt')
  process.exit(2)
}

/**
 * Characters that Unicode distinguishes, such as small capitals, but that people read as the
 * letter.
 */
const alsoRead: Readonly<Record<string, string>> = {
  бв: 'b',
  гґ: 'r',
  кқќ: 'k',
  мᴍ: 'm',
  нʜᴎ: 'h',
  тᴛτ: 't',
  ий: 'n',
  я: 'r',
  лʟ: 'l',
  'зε€': 'e',
  ʙ: 'b',
  ĸκ: 'k',
  ᴀα: 'a',
  ᴅ: 'd',
  ᴇ: 'e',
  ꜰ: 'f',
  ɢ: 'g',
  ɪι: 'i',
  ɴη: 'n',
  ᴘ: 'p',
  ʀ: 'r',
  ꜱ: 's',
  ωшщ: 'w',
  жχ: 'x',
  ʏ: 'y',
}

/** Alphabets in boxes, circles and flags, which no normalization removes: the first letter A. */
const alphabetStarts = [0x1f150, 0x1f170, 0x1f1e6]

const table = readFileSync(file, 'utf8')
const version = /^# Version: ([\d.]+)/m.exec(table)?.[1] ?? ''
const close = readTable(table)
for (const start of alphabetStarts) {
  for (let at = 0; at < 26; at++) {
    close.set(String.fromCodePoint(start + at), String.fromCharCode(0x61 + at))
  }
}
const loose = new Map<string, string>()
for (const [sources, letter] of Object.entries(alsoRead)) {
  for (const source of sources) {
    // Small capitals belong to no alphabet that is in use.
    const letters = /\p{Script=Latin}/u.test(source) ? close : loose
    if (!close.has(source)) letters.set(source, letter)
  }
}
process.stdout.write(composed())

/**
 * Parses Unicode's table. Returns the single characters that look like one ASCII letter, and that
 * NFKD does not convert, with their letters.
 */
function readTable(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [source, target] = (line.split('#')[0] ?? '').split(';').map((part) => part.trim())
    if (source === undefined || target === undefined || source.includes(' ')) continue
    const written = fromHex(source)
    const seen = fromHex(target)
    // Unicode treats I and l as one letter; the capital one is an I.
    const isI = seen === 'l' && /^[\p{Lu}\p{Script=Lisu}]$/u.test(written)
    const whole = isI ? 'i' : seen === 'rn' ? 'm' : seen
    const letter = /^[A-Za-z]$/.test(whole) ? whole.toLowerCase() : undefined
    if (letter === undefined || written <= '\x7f' || !/^[\p{L}\p{N}]$/u.test(written)) continue
    // Digits of any script stay digits: a look-alike of 0 is not an O.
    if (/^\p{Nd}$/u.test(written)) continue
    if (/^[\0-\x7f]+$/.test(written.normalize('NFKD').replaceAll(/\p{M}/gu, ''))) continue
    found.set(written, letter)
  }
  return found
}

function fromHex(codes: string): string {
  return codes
    .split(/\s+/)
    .map((code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .join('')
}

function codesOf(letters: ReadonlyMap<string, string>): Record<string, string> {
  const byLetter = Map.groupBy(letters, ([, letter]) => letter)
  const rows = [...byLetter].map(([letter, entries]) => {
    const codes = entries.map(([written]) => (written.codePointAt(0) ?? 0).toString(16)).sort()
    return [letter, codes.join(' ')] as const
  })
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function composed(): string {
  const source =
    `Made by scripts/make-look-alikes.ts from confusables.txt ${version} of Unicode (UTS #39) ` +
    'and a list of its own. © Unicode, Inc., under the Unicode License V3 ' +
    '(https://www.unicode.org/license.txt).'
  return `${JSON.stringify({ source, close: codesOf(close), loose: codesOf(loose) }, null, 2)}\n`
}
