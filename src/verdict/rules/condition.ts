import { Environment, EvaluationError, ParseError, TypeError } from '@marcbachmann/cel-js'
import { RE2JS } from 're2js'
import { CONTENT_GROUP, type FactDefinition, type FactValue } from '../facts/fact.ts'
import { createFastCompiler, type FastCondition } from './fast-condition.ts'
import { type ConditionFault, rewriteCondition } from './rewrite-condition.ts'
import { ruleBounds } from './rule-file.ts'
import { suggest } from './similar-names.ts'
import { isRuleListName, listableFacts, type RuleListKind, type Searched } from './rule-lists.ts'
import { TextSearch } from './text-search.ts'

/** The facts of a message as input of conditions, by their full names. */
type FactValues = Readonly<Record<string, FactValue>>

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
 * as expected. Patterns and lists are looked for by `search`. `knownLists` are the lists that
 * exist, by their kinds; without it, every name of a list is accepted, and a list that does not
 * exist has no entries. A condition must have type bool, which is checked at compile time. Its run
 * time is bounded: the only loops are `exists`, `all`, `exists_one` and `filter` over lists, nested
 * at most two deep, and `matches` takes linear time (RE2) with a constant pattern.
 */
export function createConditionCompiler(
  definitions: readonly FactDefinition[],
  search = new TextSearch(),
  knownLists?: ReadonlyMap<string, RuleListKind>,
): CompileCondition {
  const environment = new Environment({ unlistedVariablesAreDyn: false, limits })
  registerFunctions(environment, search)
  for (const { group, name, type } of definitions) {
    environment.registerVariable(`${group}.${name}`, celTypes[type])
  }
  const compileFast = createFastCompiler(definitions, search)
  const checks = {
    keepPattern: (pattern: string, fact: string | undefined) => keep(search, pattern, fact),
    checkList: (list: string, fact: string) => listFault(list, fact, knownLists),
  }
  return (when) => {
    try {
      const parsed = environment.parse(when)
      const rewritten = rewriteCondition(parsed.ast, definitions, checks)
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
function registerFunctions(environment: Environment, search: TextSearch): void {
  const plain = { async: false }
  const matches = (value: Searched, pattern: string) => search.matches(pattern, value)
  const isListed = (value: Searched, list: string) => search.isListed(list, value)
  environment
    .registerFunction('size_of(string): double', lettersIn, plain)
    .registerFunction('size_of(list): double', (list: readonly unknown[]) => list.length, plain)
    .registerFunction('string.size_of(): double', lettersIn, plain)
    .registerFunction('list.size_of(): double', (list: readonly unknown[]) => list.length, plain)
    .registerFunction('string.matches_linear(string): bool', matches, plain)
    .registerFunction('list.matches_linear(string): bool', matches, plain)
    .registerFunction('string.listed(string): bool', isListed, plain)
    .registerFunction('list.listed(string): bool', isListed, plain)
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

/**
 * Compiles a pattern and adds it to `search`; returns an error message if it is not valid. `fact`
 * is the fact that it is matched with, if it is matched with one directly.
 */
function keep(search: TextSearch, pattern: string, fact: string | undefined): string | undefined {
  const { patternCharsMax, patternStepsMax } = ruleBounds
  if (pattern.length > patternCharsMax) {
    return `A pattern may have at most ${patternCharsMax} characters.`
  }
  try {
    const known = search.pattern(pattern)
    const compiled = known ?? RE2JS.compile(pattern)
    if (compiled.programSize() > patternStepsMax)
      return 'The pattern contains too many repetitions.'
    if (fact?.startsWith(`${CONTENT_GROUP}.`) && compiled.test('')) {
      return 'The pattern matches every text, because it matches the empty text.'
    }
    if (!known) search.add(pattern, compiled)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `The pattern is not valid: ${why.replace(/^error parsing regexp: /, '')}`
  }
}

/** Returns why a fact cannot be compared with a list; undefined if it can. */
function listFault(
  list: string,
  fact: string,
  known: ReadonlyMap<string, RuleListKind> | undefined,
): string | undefined {
  const kind = listableFacts[fact]
  if (kind === undefined) {
    return `${fact} cannot be compared with a list. Use ${Object.keys(listableFacts).join(', ')}.`
  }
  if (!isRuleListName(list)) return 'The name of a list may contain only a-z, 0-9 and "-".'
  if (!known) return undefined
  const its = known.get(list)
  if (its === undefined) {
    const meant = suggest(list, [...known.keys()])
    return `Unknown list "${list}".${meant === undefined ? '' : ` Did you mean "${meant}"?`}`
  }
  return its === kind ? undefined : `The list "${list}" has ${its}, but ${fact} has ${kind}.`
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
