/** A rule as it is written down: what it names, how much that weighs, and when it holds. */
export type Rule = {
  /** In capitals, as `FORGED_HOP`: one of each in a set. */
  symbol: string
  /** Above 0 speaks for spam, below 0 against. */
  weight: number
  /** A sentence for who asks why. */
  meaning: string
  /** An expression in CEL over the facts. */
  when: string
  /** A rule that is off is checked like all others, and never run. */
  isEnabled: boolean
  /** The facts it looks at, as `group.name`, in order. */
  facts: readonly string[]
  /** Where it begins in the file, from 1. */
  line: number
}

/** Why a file of rules is refused; `line` and `column` count from 1. */
export type RuleFault = { line: number; column?: number; symbol?: string; reason: string }

/** What a set of rules may be at most. */
export const ruleBounds = {
  fileBytesMax: 512 * 1024,
  rulesMax: 2_000,
  symbolCharsMax: 64,
  meaningCharsMax: 300,
  conditionCharsMax: 1_000,
  patternCharsMax: 200,
  /** Of a compiled pattern: each may be tried at each character of a text. */
  patternStepsMax: 2_000,
  /** Either way. */
  weightMax: 20,
  /** Faults that are told at once; who has more has another kind of file. */
  faultsMax: 100,
} as const

/** A fault on one line of text, as compilers write it: `12:9 FORGED_HOP: …`. */
export function faultLine({ line, column, symbol, reason }: RuleFault): string {
  const place = column === undefined ? String(line) : `${line}:${column}`
  return symbol === undefined ? `${place} ${reason}` : `${place} ${symbol}: ${reason}`
}
