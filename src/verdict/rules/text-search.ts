import type { RE2JS } from 're2js'
import { createAutomaton, type FindTexts } from './automaton.ts'
import { type Needed, neededTexts } from './needed-texts.ts'
import type { RuleLists, Searched } from './rule-lists.ts'

type Pattern = { compiled: RE2JS; needed: Compact | undefined }

/** `Needed`, with the index of a text instead of the text. */
type Compact = number | { all: readonly Compact[] } | { any: readonly Compact[] }

/** What was found in a value: `runs[index]` is the current run if the text of that index occurs. */
type Scan = { value: Searched; runs: Int32Array }

/**
 * Maximum number of UTF-16 units of one message in which patterns are searched, all together: about
 * 6 ms. Only a message that contains the needed texts of many patterns reaches it. Further patterns
 * do not match it.
 */
const UNITS_MAX = 2 ** 20

/**
 * Searches the texts of a message for the patterns and lists of one set of rules. First finds, in
 * one pass over each text, which of the texts that the patterns need occur; runs only the patterns
 * for which they do. Call `begin` before each message.
 */
export class TextSearch {
  readonly #patterns = new Map<string, Pattern>()
  readonly #texts = new Map<string, number>()
  readonly #lists: () => RuleLists | undefined
  /** Null if the texts are too many for an automaton; undefined before the first search. */
  #find: FindTexts | null | undefined
  readonly #scans: Scan[] = []
  #scansUsed = 0
  /** The latest scan, because most rules in a row look at the same text. */
  #last: Scan | undefined
  #run = 0
  #units = 0

  constructor(lists: () => RuleLists | undefined = () => undefined) {
    this.#lists = lists
  }

  /** Adds a pattern; to be called for all patterns before the first search. */
  add(pattern: string, compiled: RE2JS): void {
    const needed = neededTexts(pattern)
    this.#patterns.set(pattern, {
      compiled,
      needed: needed === undefined ? needed : this.#compact(needed),
    })
  }

  pattern(pattern: string): RE2JS | undefined {
    return this.#patterns.get(pattern)?.compiled
  }

  /** Forgets the previous message. */
  begin(): void {
    this.#run++
    this.#scansUsed = 0
    this.#last = undefined
    this.#units = 0
    this.#lists()?.begin()
  }

  /** Whether a pattern that was added matches a text, or any of several. */
  matches(pattern: string, value: Searched): boolean {
    const known = this.#patterns.get(pattern)
    return known !== undefined && this.#matches(known, value)
  }

  /** Returns a function that does the same for one pattern, faster. */
  matcher(pattern: string): (value: Searched) => boolean {
    const known = this.#patterns.get(pattern)
    return known ? (value) => this.#matches(known, value) : () => false
  }

  #matches({ compiled, needed }: Pattern, value: Searched): boolean {
    if (needed !== undefined && !this.#hasNeeded(needed, value)) return false
    if (typeof value === 'string') return this.#test(compiled, value)
    return value.some((one) => this.#test(compiled, one))
  }

  /** Whether an entry of a list occurs in a text, or in any of several. */
  isListed(list: string, value: Searched): boolean {
    return this.#lists()?.isListed(list, value) === true
  }

  #test(compiled: RE2JS, text: string): boolean {
    this.#units += text.length
    return this.#units <= UNITS_MAX && compiled.test(text)
  }

  #compact(needed: Needed): Compact {
    if (typeof needed !== 'string') {
      if ('all' in needed) return { all: needed.all.map((one) => this.#compact(one)) }
      return { any: needed.any.map((one) => this.#compact(one)) }
    }
    return this.#texts.getOrInsert(needed, this.#texts.size)
  }

  #hasNeeded(needed: Compact, value: Searched): boolean {
    const last = this.#last
    if (last !== undefined && last.value === value) return hasAll(needed, last.runs, this.#run)
    this.#find ??= createAutomaton([...this.#texts.keys()]) ?? null
    if (this.#find === null) return true
    this.#last = this.#scanOf(value, this.#find)
    return hasAll(needed, this.#last.runs, this.#run)
  }

  #scanOf(value: Searched, find: FindTexts): Scan {
    for (let at = 0; at < this.#scansUsed; at++) {
      const scan = this.#scans[at]
      if (scan?.value === value) return scan
    }
    const { runs } = this.#scans[this.#scansUsed] ?? { runs: new Int32Array(this.#texts.size) }
    const scan = (this.#scans[this.#scansUsed++] = { value, runs })
    const found = (index: number) => void (runs[index] = this.#run)
    if (typeof value === 'string') find(value, found)
    else for (const one of value) find(one, found)
    return scan
  }
}

function hasAll(needed: Compact, runs: Int32Array, run: number): boolean {
  if (typeof needed === 'number') return runs[needed] === run
  if ('all' in needed) return needed.all.every((one) => hasAll(one, runs, run))
  return needed.any.some((one) => hasAll(one, runs, run))
}
