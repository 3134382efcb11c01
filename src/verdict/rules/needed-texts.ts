import { RE2JS } from 're2js'

/**
 * Texts that occur in every text that a pattern matches, regardless of case: one text, all of
 * several, or any of several.
 */
export type Needed = string | { all: readonly Needed[] } | { any: readonly Needed[] }

/** A shorter text occurs almost everywhere. */
const UNITS_MIN = 2

/**
 * Returns the texts that a valid pattern needs, folded by `foldOf`; undefined if it needs none,
 * such as `[0-9]+`, or if they are not known. The library finds them for its own use, but not those
 * of patterns that ignore case. So the flag is removed from the pattern first.
 */
export function neededTexts(pattern: string): Needed | undefined {
  const cased = withoutCaseFlags(pattern)
  if (cased === undefined) return undefined
  try {
    const { prefilter } = RE2JS.compile(cased).re2() as { prefilter: Prefilter | null }
    return prefilter ? neededOf(prefilter) : undefined
  } catch {
    return undefined
  }
}

/** What the library requires of a text before it runs a pattern. */
type Prefilter = { type: number; str: string; subs: readonly Prefilter[] }
const EXACT = 1
const ALL = 2
const ANY = 3

function neededOf({ type, str, subs }: Prefilter): Needed | undefined {
  if (type === EXACT) {
    const text = folded(str)
    return text.length < UNITS_MIN ? undefined : text
  }
  const parts = subs.map(neededOf)
  const known = parts.filter((part) => part !== undefined)
  if (type === ALL && known.length > 0) return { all: known }
  return type === ANY && known.length === parts.length ? { any: known } : undefined
}

/** An escaped character, a class of characters, or the start of a group with flags. */
const syntax = /\\[^]|\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*\]|\(\?([a-zA-Z]*)(-[a-zA-Z]*)?([:)])/g

/** Undefined for quoted texts (`\Q…\E`), in which the syntax means itself. */
function withoutCaseFlags(pattern: string): string | undefined {
  if (pattern.includes('\\Q')) return undefined
  return pattern.replaceAll(syntax, (part: string, on?: string, off = '', end?: string) => {
    if (end === undefined) return part
    const others = [on ?? '', /[^-i]/.test(off) ? off : '']
    const flags = others.join('').replaceAll('i', '')
    return flags === '' && end === ')' ? '' : `(?${flags}${end}`
  })
}

/** The folded forms of all UTF-16 units; made when needed, which takes some milliseconds. */
let folds: Uint16Array | undefined

/**
 * Returns the table that replaces a UTF-16 unit by a representative of all units that differ only
 * in case (`K`, `k` and the Kelvin sign are `k`).
 */
export function foldTable(): Uint16Array {
  if (folds) return folds
  folds = new Uint16Array(2 ** 16)
  for (let unit = 0; unit < folds.length; unit++) folds[unit] = foldOf(unit)
  return folds
}

function foldOf(unit: number): number {
  const upper = String.fromCharCode(unit).toUpperCase()
  const lower = (upper.length === 1 ? upper : String.fromCharCode(unit)).toLowerCase()
  return lower.length === 1 ? lower.charCodeAt(0) : unit
}

/**
 * Folds a text; cuts it before a character beyond the Basic Multilingual Plane that has two cases,
 * because the table has no such characters.
 */
function folded(text: string): string {
  const cased = [...text].findIndex(
    (char) => char.length > 1 && char.toLowerCase() !== char.toUpperCase(),
  )
  const whole = cased < 0 ? text : [...text].slice(0, cased).join('')
  const table = foldTable()
  return Array.from({ length: whole.length }, (_, at) =>
    String.fromCharCode(table[whole.charCodeAt(at)] ?? 0),
  ).join('')
}
