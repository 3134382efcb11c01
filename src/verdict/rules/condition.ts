import { Environment, EvaluationError, ParseError, TypeError } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import type { FactDefinition, FactValue } from '../facts/fact.ts'
import { createFastCompiler, type FastCondition } from './fast-condition.ts'
import { type ConditionFault, rewriteCondition } from './rewrite-condition.ts'
import { ruleBounds } from './rule-file.ts'

/** The facts of a message as input of conditions, by their full names. */
type FactValues = Readonly<Record<string, FactValue>>

/** A compiled condition. */
export type Condition = {
  /**
   * Evaluates the condition.
   *
   * @throws Error when the condition cannot be evaluated, such as `double("x")`
   */
  holds: (values: FactValues) => boolean
  /**
   * Returns the same as `holds`, faster, for facts that have their defined types. Undefined for a
   * condition with expressions that are not covered.
   */
  holdsFast: FastCondition | undefined
  /** The facts that the condition uses, in order. */
  facts: readonly string[]
}

/** Compiles conditions over one list of facts. */
export type CompileCondition = (when: string) => Condition | { faults: ConditionFault[] }

const limits = {
  maxAstNodes: 500,
  maxDepth: 40,
  maxListElements: 200,
  maxMapEntries: 0,
  maxCallArguments: 4,
}

const celTypes = {
  bool: 'bool',
  double: 'double',
  string: 'string',
  strings: 'list<string>',
} as const

/**
 * Returns a compiler of conditions in the Common Expression Language (CEL) over the given facts,
 * named `group.name`; other names are errors. All numbers are doubles, so `links.count == 4` works
 * as expected. A condition must have type bool, which is checked at compile time. Its run time is
 * bounded: the only loops are `exists`, `all`, `exists_one` and `filter` over lists, nested at most
 * two deep, and `matches` takes linear time (RE2) with a constant pattern.
 */
export function createConditionCompiler(definitions: readonly FactDefinition[]): CompileCondition {
  const patterns = new Map<string, RE2JS>()
  const environment = new Environment({ unlistedVariablesAreDyn: false, limits })
  registerFunctions(environment, patterns)
  for (const { group, name, type } of definitions) {
    environment.registerVariable(`${group}.${name}`, celTypes[type])
  }
  const compileFast = createFastCompiler(definitions)
  const keepPattern = (pattern: string) => keep(patterns, pattern)
  return (when) => {
    try {
      const parsed = environment.parse(when)
      const rewritten = rewriteCondition(parsed.ast, definitions, keepPattern)
      if (rewritten.faults.length > 0) return { faults: rewritten.faults }
      const checked = parsed.check()
      if (checked.error) return { faults: [faultOf(checked.error)] }
      if (checked.type !== 'bool') {
        const reason = `The condition is of type ${checked.type}; it must be true or false.`
        return { faults: [{ offset: 0, reason }] }
      }
      const holds = (values: FactValues) => parsed(values) === true
      return { holds, holdsFast: compileFast(parsed.ast), facts: rewritten.facts }
    } catch (error) {
      return { faults: [faultOf(error)] }
    }
  }
}

/**
 * Registers our own functions, because the library counts in 64-bit integers and evaluates
 * `matches` with a backtracking engine.
 */
function registerFunctions(environment: Environment, patterns: ReadonlyMap<string, RE2JS>): void {
  const plain = { async: false }
  environment
    .registerFunction('size_of(string): double', lettersIn, plain)
    .registerFunction('size_of(list): double', (list: readonly unknown[]) => list.length, plain)
    .registerFunction('string.size_of(): double', lettersIn, plain)
    .registerFunction('list.size_of(): double', (list: readonly unknown[]) => list.length, plain)
    .registerFunction(
      'string.matches_linear(string): bool',
      (text: string, pattern: string) => patterns.get(pattern)?.test(text) ?? false,
      plain,
    )
}

/** Counts Unicode code points, as CEL does. */
function lettersIn(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0xdc00 || unit > 0xdfff) letters++
  }
  return letters
}

/** Compiles a pattern and stores it in `patterns`; returns an error message if it is not valid. */
function keep(patterns: Map<string, RE2JS>, pattern: string): string | undefined {
  const { patternCharsMax, patternStepsMax } = ruleBounds
  if (pattern.length > patternCharsMax) {
    return `A pattern may have at most ${patternCharsMax} characters.`
  }
  if (patterns.has(pattern)) return undefined
  try {
    const compiled = RE2JS.compile(pattern)
    if (compiled.programSize() > patternStepsMax)
      return 'The pattern contains too many repetitions.'
    patterns.set(pattern, compiled)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `The pattern is not valid: ${why.replace(/^error parsing regexp: /, '')}`
  }
}

function faultOf(error: unknown): ConditionFault {
  const isKnown =
    error instanceof ParseError || error instanceof TypeError || error instanceof EvaluationError
  if (!isKnown) {
    // The library should throw no other errors here, but they are handled too, because a condition
    // must never crash the program.
    return { offset: 0, reason: error instanceof Error ? error.message : String(error) }
  }
  const offset = error.range?.start ?? 0
  return { offset, reason: `${upperFirst(inOurWords(error.summary))}.` }
}

function inOurWords(summary: string): string {
  const words = summary
    .replaceAll('size_of', 'size')
    .replaceAll('matches_linear', 'matches')
    .replaceAll(/\bint\b/g, 'double')
  const overload = /^no such overload: (.+)$/.exec(words)?.[1]
  if (overload !== undefined) return `the operator does not support these types: ${overload}`
  const call = /^found no matching overload for '(.+)'$/.exec(words)?.[1]
  return call === undefined ? words : `unknown function ${call}`
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).replace(/\.$/, '')
}
