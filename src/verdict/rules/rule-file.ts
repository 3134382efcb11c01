import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { suggest } from './similar-names.ts'

/** A rule as written: a symbol, its weight, and the condition for it. */
export type Rule = {
  /** In capitals, as `FORGED_HOP`; unique in a set. */
  symbol: string
  /** Positive for spam, negative against. */
  weight: number
  /** A sentence that explains the symbol. */
  meaning: string
  /** A CEL expression over the facts. */
  when: string
  /** A disabled rule is checked like all others, but never evaluated. */
  isEnabled: boolean
  /** The facts that the rule uses, as `group.name`, in order. */
  facts: readonly string[]
  /** The line where the rule begins in the file, from 1. */
  line: number
}

/** Why a rule file is rejected; `line` and `column` count from 1. */
export type RuleFault = { line: number; column?: number; symbol?: string; reason: string }

/** Upper limits for a set of rules. */
export const ruleBounds = {
  fileBytesMax: 512 * 1024,
  rulesMax: 2_000,
  symbolCharsMax: 64,
  meaningCharsMax: 300,
  conditionCharsMax: 1_000,
  patternCharsMax: 200,
  /** Maximum size of a compiled pattern. Each step may be tried at each character of a text. */
  patternStepsMax: 2_000,
  /** Maximum absolute value of a weight. */
  weightMax: 20,
  /** Maximum number of errors reported. With more, the file is probably not a rule file. */
  faultsMax: 100,
} as const

/** Formats an error as compilers do: `12:9 FORGED_HOP: …`. */
export function faultLine({ line, column, symbol, reason }: RuleFault): string {
  const place = column === undefined ? String(line) : `${line}:${column}`
  return symbol === undefined ? `${place} ${reason}` : `${place} ${symbol}: ${reason}`
}

/** A rule from the file, with fields of the right types; its condition is not compiled yet. */
type WrittenRule = {
  symbol: string
  weight: number
  meaning: string
  when: string
  isEnabled: boolean
  line: number
}

/** A condition in the file, even if its rule has other errors; in that case `rule` is absent. */
type WrittenCondition = {
  when: string
  symbol: string | undefined
  rule: WrittenRule | undefined
  /** Returns the position in the file of a character of the condition. */
  placeOf: (offset: number) => Place
}

/** A position in the file, both values from 1. */
type Place = { line: number; column: number }

/** Contents of a rule file, and all errors in it. */
export type RuleFileReading = { conditions: WrittenCondition[]; faults: RuleFault[] }

const keys = ['symbol', 'weight', 'meaning', 'when', 'enabled'] as const
type Key = (typeof keys)[number]
const SYMBOL = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/

/**
 * Parses a rule file: a YAML list of maps. Anchors, aliases and tags are errors, because they could
 * make the content larger than it looks, or different. Time and memory are linear in the size of
 * the input.
 */
export function readRuleFile(text: string): RuleFileReading {
  if (Buffer.byteLength(text) > ruleBounds.fileBytesMax) {
    const most = ruleBounds.fileBytesMax / 1024
    return { conditions: [], faults: [{ line: 1, reason: `The file is larger than ${most} KB.` }] }
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) {
    const line = text.slice(0, nul).split('\n').length
    return { conditions: [], faults: [{ line, reason: 'The file contains a NUL character.' }] }
  }
  const lineCounter = new LineCounter()
  // Duplicate keys are checked here, where maps are small: the library compares every pair of keys.
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false, version: '1.2' } as const
  const document = parseDocument(text, options)
  const reader = new Reader(text, lineCounter)
  for (const { pos, message } of document.errors)
    reader.fault(pos[0], `This is not valid YAML: ${message}`)
  if (reader.faults.length === 0) refuseTricks(document.contents, reader)
  if (reader.faults.length > 0) return { conditions: [], faults: reader.faults }
  return { conditions: reader.conditionsOf(document.contents), faults: reader.faults }
}

function refuseTricks(contents: Node | null, reader: Reader): void {
  if (contents === null) return
  visit(contents, {
    Alias: (_, node) => reader.fault(node.range?.[0] ?? 0, 'Aliases (*name) are not supported.'),
    Node: (_, node) => {
      if (node.anchor !== undefined) {
        reader.fault(node.range?.[0] ?? 0, 'Anchors (&name) are not supported.')
      }
      if (node.tag !== undefined) {
        reader.fault(node.range?.[0] ?? 0, `Tags (${node.tag}) are not supported.`)
      }
    },
  })
}

class Reader {
  readonly faults: RuleFault[] = []
  readonly #text: string
  readonly #lines: LineCounter

  constructor(text: string, lines: LineCounter) {
    this.#text = text
    this.#lines = lines
  }

  fault(offset: number, reason: string, symbol?: string): void {
    const { line, column } = this.#place(offset)
    this.faults.push({ line, column, ...(symbol !== undefined && { symbol }), reason })
  }

  conditionsOf(contents: Node | null): WrittenCondition[] {
    if (contents === null || (isScalar(contents) && contents.value === null)) {
      this.fault(0, 'The file has no rules. To use no rules, write an empty list: []')
      return []
    }
    if (!isSeq(contents)) {
      this.fault(
        contents.range?.[0] ?? 0,
        'A rule file must be a list. Begin each rule with "- symbol:".',
      )
      return []
    }
    const { rulesMax } = ruleBounds
    if (contents.items.length > rulesMax) {
      this.fault(0, `There are ${contents.items.length} rules. At most ${rulesMax} are allowed.`)
      return []
    }
    const found = contents.items.flatMap((item) => this.#conditionOf(item as Node | null) ?? [])
    this.#refuseTwins(found.flatMap(({ rule }) => rule ?? []))
    return found
  }

  #conditionOf(item: Node | null): WrittenCondition | undefined {
    const start = item?.range?.[0] ?? 0
    if (!isMap(item)) {
      this.fault(start, 'A rule must have the fields symbol, weight, meaning and when.')
      return undefined
    }
    const fields = new Map<Key, { value: unknown; node: Node }>()
    for (const { key, value } of item.items) this.#takeField(key, value, start, fields)
    const written = fields.get('symbol')?.value
    const symbol = typeof written === 'string' ? written : undefined
    const field = (key: Key, isOptional: 'optional' | 'required') => {
      const found = fields.get(key)
      if (!found && isOptional === 'required') this.fault(start, `"${key}" is missing.`, symbol)
      return found
    }
    const complain = (key: Key, reason: string) =>
      this.fault(fields.get(key)?.node.range?.[0] ?? start, reason, symbol)
    const rule = {
      symbol: checkSymbol(field('symbol', 'required')?.value, complain),
      weight: checkWeight(field('weight', 'required')?.value, complain),
      meaning: checkText('meaning', field('meaning', 'required')?.value, complain),
      when: checkText('when', field('when', 'required')?.value, complain),
      isEnabled: checkEnabled(field('enabled', 'optional')?.value, complain),
    }
    const { when } = rule
    const node = fields.get('when')?.node
    if (when === undefined || !node) return undefined
    const { line } = this.#place(start)
    return {
      when,
      symbol,
      rule: isWhole(rule) ? { ...rule, line } : undefined,
      placeOf: (offset) => this.#place(offsetIn(this.#text, node, when, offset)),
    }
  }

  #takeField(
    key: unknown,
    node: unknown,
    start: number,
    fields: Map<Key, { value: unknown; node: Node }>,
  ): void {
    const name = isScalar(key) ? key.value : undefined
    const at = isScalar(key) ? (key.range?.[0] ?? start) : start
    const known = keys.find((one) => one === name)
    if (known === undefined) {
      const shown = String(name).slice(0, 40)
      const meant = suggest(shown, keys)
      const hint = meant === undefined ? `A rule has ${keys.join(', ')}.` : `Is it "${meant}"?`
      this.fault(at, `Unknown field "${shown}". ${hint}`)
    } else if (fields.has(known)) {
      this.fault(at, `The field "${known}" appears twice.`)
    } else {
      const value = isScalar(node) ? node.value : node === null ? null : []
      fields.set(known, { value, node: (node ?? key) as Node })
    }
  }

  #refuseTwins(rules: readonly WrittenRule[]): void {
    const lines = new Map<string, number>()
    for (const { symbol, line } of rules) {
      const first = lines.get(symbol)
      if (first === undefined) lines.set(symbol, line)
      else
        this.faults.push({
          line,
          symbol,
          reason: `The rule on line ${first} already has this symbol.`,
        })
    }
  }

  #place(offset: number): Place {
    const { line, col } = this.#lines.linePos(Math.min(offset, this.#text.length))
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
}

type Complain = (key: Key, reason: string) => void

function checkSymbol(value: unknown, complain: Complain): string | undefined {
  if (value === undefined) return undefined
  const { symbolCharsMax } = ruleBounds
  if (typeof value !== 'string' || !SYMBOL.test(value)) {
    complain(
      'symbol',
      'A symbol may contain only capital letters, digits and "_", for example FORGED_HOP.',
    )
  } else if (value.length > symbolCharsMax) {
    complain('symbol', `A symbol may have at most ${symbolCharsMax} characters.`)
  } else return value
  return undefined
}

function checkWeight(value: unknown, complain: Complain): number | undefined {
  if (value === undefined) return undefined
  const { weightMax } = ruleBounds
  if (typeof value === 'number' && Math.abs(value) <= weightMax) return value
  complain('weight', `A weight must be a number from -${weightMax} to ${weightMax}.`)
  return undefined
}

function checkText(
  key: 'meaning' | 'when',
  value: unknown,
  complain: Complain,
): string | undefined {
  if (value === undefined) return undefined
  // YAML parses some conditions as another type: `when: true`.
  const text = key === 'when' && typeof value === 'boolean' ? String(value) : value
  const most = key === 'when' ? ruleBounds.conditionCharsMax : ruleBounds.meaningCharsMax
  if (typeof text !== 'string' || text.trim() === '') complain(key, `"${key}" must be a text.`)
  else if (text.length > most) complain(key, `"${key}" may have at most ${most} characters.`)
  else return key === 'meaning' ? text.trim() : text
  return undefined
}

function checkEnabled(value: unknown, complain: Complain): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value ?? true
  complain('enabled', '"enabled" must be true or false.')
  return undefined
}

type Whole<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function isWhole<T extends object>(value: T): value is T & Whole<T> {
  return Object.values(value).every((field) => field !== undefined)
}

/**
 * Returns the position in the file of a character of a scalar value. Compares both texts, treating
 * all white space as equal, to account for quoting, folding and indentation; if they do not match,
 * returns the start of the scalar.
 */
function offsetIn(text: string, node: Node, value: string, offset: number): number {
  const [start = 0, end = text.length] = node.range ?? []
  let at = start
  if (/["']/.test(text[at] ?? '') && text[at] !== value[0]) at++
  if (/[|>]/.test(text[at] ?? '')) at = text.indexOf('\n', at) + 1
  for (let i = 0; ; i++) {
    if (/\s/.test(text[at] ?? '') && (i === 0 || /\s/.test(value[i] ?? ''))) {
      while (at < end && /\s/.test(text[at] ?? '')) at++
      while (/\s/.test(value[i] ?? '') && i < offset) i++
    }
    if (i >= offset) return Math.min(at, end)
    if (at >= end || text[at] !== value[i]) return start
    at++
  }
}
