import { foldTable } from './needed-texts.ts'

/**
 * Maximum numbers of UTF-16 units of a text that are looked for; tried until the table is small.
 */
const UNITS = [16, 8, 4, 2]
/** Maximum number of cells of the table: 16 MB. */
const CELLS_MAX = 2 ** 22

/** Calls `found` once with the index of each text that occurs, regardless of case. */
export type FindTexts = (text: string, found: (index: number) => void) => void

/**
 * Returns a function that finds which of many texts occur in another one, in a single pass over it
 * (Aho and Corasick 1975). Long texts are looked for by their first units, so a text that is found
 * may not occur completely, but one that occurs is found. `texts` must be folded (`foldTable`).
 * Undefined if the table would be too large.
 */
export function createAutomaton(texts: readonly string[]): FindTexts | undefined {
  for (const units of UNITS) {
    const made = build(texts.map((text) => text.slice(0, units)))
    if (made) return made
  }
  return undefined
}

function build(texts: readonly string[]): FindTexts | undefined {
  const { classes, width } = classesOf(texts)
  const statesMax = Math.min(
    CELLS_MAX / width,
    texts.reduce((sum, { length }) => sum + length, 1),
  )
  /**
   * One row for each state: the index plus 1 of a text that ends here, then the offset of the next
   * state for each class of units.
   */
  let table = new Int32Array(Math.min(2 ** 16, Math.ceil(statesMax) * width))
  let length = width
  // Texts that end where another one does: the same text, or one that is shorter.
  const others = texts.map(() => -1)
  for (const [index, text] of texts.entries()) {
    let state = 0
    for (let at = 0; at < text.length; at++) {
      const cell = state + (classes[text.charCodeAt(at)] ?? 1)
      if (table[cell] === 0) {
        if (length + width > CELLS_MAX) return undefined
        if (length + width > table.length) table = grown(table)
        table[cell] = length
        length += width
      }
      state = table[cell] ?? 0
    }
    others[index] = (table[state] ?? 0) - 1
    table[state] = index + 1
  }
  const shorter = connect(table, width, length)
  const reported = new Int32Array(length / width)
  let run = 0
  return (text, found) => {
    run++
    let state = 0
    for (let at = 0; at < text.length; at++) {
      // Not checked, because it costs a fifth: each unit has a class, and each state a row.
      state = table[state + (classes[text.charCodeAt(at)] as number)] as number
      if (table[state] === 0) continue
      for (
        let end = state;
        end !== 0 && reported[end / width] !== run;
        end = shorter[end / width] ?? 0
      ) {
        reported[end / width] = run
        for (let index = (table[end] ?? 0) - 1; index >= 0; index = others[index] ?? -1)
          found(index)
      }
    }
  }
}

/** Numbers the units that occur in the texts, from 2; 1 is any other unit. */
function classesOf(texts: readonly string[]) {
  const numbers = new Map<number, number>()
  for (const text of texts) {
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (!numbers.has(unit)) numbers.set(unit, numbers.size + 2)
    }
  }
  const classes = foldTable().map((unit) => numbers.get(unit) ?? 1)
  return { classes, width: numbers.size + 2 }
}

function grown(table: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(Math.min(CELLS_MAX, table.length * 2))
  more.set(table)
  return more
}

/**
 * Fills in where to continue when no text continues: after the longest end of what was read with
 * which a text begins. Marks the states in which only a shorter text ends, and returns, for each
 * state in which several texts end, the next such state.
 */
function connect(table: Int32Array, width: number, length: number): Int32Array {
  const shorter = new Int32Array(length / width)
  const fails = new Int32Array(length / width)
  const order: number[] = []
  for (let cell = 1; cell < width; cell++) {
    const next = table[cell] ?? 0
    if (next !== 0) order.push(next)
  }
  // The loop goes on to the states that it adds.
  for (const state of order) {
    const fail = fails[state / width] ?? 0
    if (table[state] !== 0) shorter[state / width] = table[fail] === 0 ? 0 : fail
    else {
      table[state] = table[fail] ?? 0
      shorter[state / width] = shorter[fail / width] ?? 0
    }
    for (let cell = 1; cell < width; cell++) {
      const next = table[state + cell] ?? 0
      const otherwise = table[fail + cell] ?? 0
      if (next === 0) table[state + cell] = otherwise
      else {
        fails[next / width] = otherwise
        order.push(next)
      }
    }
  }
  return shorter
}
