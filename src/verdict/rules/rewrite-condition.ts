import type { ASTNode } from '@marcbachmann/cel-js'
import type { FactDefinition } from '../facts/fact.ts'
import { suggest } from './similar-names.ts'

/** An error in a condition, with the offset of the character, from 0. */
export type ConditionFault = { offset: number; reason: string }

/** A node of the library's syntax tree; the library's own macros use `setMeta`. */
type Node = {
  op: string
  args: unknown
  start: number
  meta: { check: unknown; evaluate: unknown }
  setMeta: (key: string, value: unknown) => Node
}

/** Names of functions in rules, and the names under which they are registered. */
const functions: Readonly<Record<string, string>> = { size: 'size_of', double: 'double' }
const methods: Readonly<Record<string, string>> = {
  size: 'size_of',
  contains: 'contains',
  startsWith: 'startsWith',
  endsWith: 'endsWith',
  lowerAscii: 'lowerAscii',
  upperAscii: 'upperAscii',
  trim: 'trim',
  matches: 'matches_linear',
  listed: 'listed',
}
const comprehensions = ['exists', 'all', 'exists_one', 'filter']
const NESTED_MAX = 2
const operators = [
  ...['!=', '==', 'in', '+', '-', '*', '/', '<', '<=', '>', '>='],
  ...['?:', '||', '&&', '!_', '-_', 'list'],
]

/**
 * Walks a parsed condition before type checking and rewrites it: `links.count` becomes one variable
 * of that name, and whole numbers become doubles. Returns the facts it uses, and all errors.
 */
export function rewriteCondition(
  ast: ASTNode,
  definitions: readonly FactDefinition[],
  checks: ConditionChecks,
): { facts: string[]; faults: ConditionFault[] } {
  const walk = new Walk(definitions, checks)
  walk.visit(ast as unknown as Node, [])
  return { facts: [...walk.facts].sort(), faults: walk.faults }
}

/** What is asked about the patterns and lists of a condition. Both return an error message. */
type ConditionChecks = {
  /** Compiles and stores a pattern. `fact` is undefined if the text is not that of a fact. */
  keepPattern: (pattern: string, fact: string | undefined) => string | undefined
  checkList: (list: string, fact: string) => string | undefined
}

class Walk {
  readonly facts = new Set<string>()
  readonly faults: ConditionFault[] = []
  readonly #names: ReadonlySet<string>
  readonly #groups: ReadonlySet<string>
  readonly #checks: ConditionChecks

  constructor(definitions: readonly FactDefinition[], checks: ConditionChecks) {
    this.#names = new Set(definitions.map(({ group, name }) => `${group}.${name}`))
    this.#groups = new Set(definitions.map(({ group }) => group))
    this.#checks = checks
  }

  /** `bound` contains the element names of the enclosing comprehensions. */
  visit(node: Node, bound: readonly string[]): void {
    if (node.op === 'value') this.#value(node)
    else if (node.op === 'id') this.#id(node, bound)
    else if (node.op === '.') this.#fact(node, bound)
    else if (node.op === '[]') this.#element(node, bound)
    else if (node.op === 'call') this.#call(node, bound)
    else if (node.op === 'rcall') this.#method(node, bound)
    else if (operators.includes(node.op)) {
      const operands = (Array.isArray(node.args) ? node.args : [node.args]) as Node[]
      for (const operand of operands) this.visit(operand, bound)
    } else this.#fault(node, `"${shownOperator(node.op)}" is not allowed in conditions.`)
  }

  #value(node: Node): void {
    if (typeof node.args === 'bigint') node.args = Number(node.args)
    if (['boolean', 'number', 'string'].includes(typeof node.args)) return
    this.#fault(node, 'A value must be a number, a text, true or false.')
  }

  #id(node: Node, bound: readonly string[]): void {
    const name = String(node.args)
    if (bound.includes(name)) return
    if (this.#groups.has(name)) {
      this.#fault(node, `"${name}" is a group of facts. Write ${name}.NAME.`)
    } else this.#unknown(node, name)
  }

  #fact(node: Node, bound: readonly string[]): void {
    const [owner, name] = node.args as [Node, string]
    if (owner.op !== 'id' || bound.includes(String(owner.args))) {
      this.#fault(node, `".${name}": only groups have facts.`)
      return
    }
    const fact = `${String(owner.args)}.${name}`
    if (!this.#names.has(fact)) {
      this.#unknown(node, fact)
      return
    }
    this.facts.add(fact)
    // One lookup in a flat record costs half of two lookups in typed objects.
    node.op = 'id'
    node.args = fact
    node.setMeta('check', owner.meta.check).setMeta('evaluate', owner.meta.evaluate)
  }

  #element(node: Node, bound: readonly string[]): void {
    const [list, index] = node.args as [Node, Node]
    this.visit(list, bound)
    if (index.op !== 'value' || typeof index.args !== 'bigint') {
      this.#fault(index, 'The index of a list must be a whole number, for example list[0].')
    }
  }

  #call(node: Node, bound: readonly string[]): void {
    const args = node.args as [string, Node[]]
    const [name, operands] = args
    if (!this.#rename(node, args, functions)) return
    for (const operand of operands) this.visit(operand, bound)
    if (operands.length !== 1) this.#fault(node, `${name}(…) takes one value.`)
  }

  #method(node: Node, bound: readonly string[]): void {
    const args = node.args as [string, Node, Node[]]
    const [name, receiver, operands] = args
    this.visit(receiver, bound)
    if (comprehensions.includes(name)) {
      this.#comprehension(node, name, operands, bound)
      return
    }
    if (!this.#rename(node, args, methods)) return
    const fact = this.#factAt(receiver)
    if (name === 'matches') this.#pattern(node, fact, operands)
    else if (name === 'listed') this.#list(node, fact, operands)
    else for (const operand of operands) this.visit(operand, bound)
  }

  #comprehension(
    node: Node,
    name: string,
    [variable, body, ...more]: readonly Node[],
    bound: readonly string[],
  ): void {
    const isNamed = variable?.op === 'id' && typeof variable.args === 'string'
    if (!isNamed || body === undefined || more.length > 0) {
      this.#fault(node, `Write list.${name}(x, CONDITION), where x is each element.`)
      return
    }
    const own = String(variable.args)
    if (this.#groups.has(own) || bound.includes(own)) {
      this.#fault(variable, `"${own}" is already in use. Choose another name.`)
    }
    if (bound.length >= NESTED_MAX) {
      this.#fault(node, `${name}: At most ${NESTED_MAX} loops over lists may be nested.`)
    } else this.visit(body, [...bound, own])
  }

  /** The fact that a node was rewritten to; undefined if it is something else. */
  #factAt({ op, args }: Node): string | undefined {
    return op === 'id' && this.#names.has(String(args)) ? String(args) : undefined
  }

  #list(node: Node, fact: string | undefined, operands: readonly Node[]): void {
    const [list] = operands
    if (operands.length !== 1 || list?.op !== 'value' || typeof list.args !== 'string') {
      this.#fault(list ?? node, 'The list must be named by a literal text: "…".')
      return
    }
    const reason =
      fact === undefined
        ? 'Only a fact can be compared with a list.'
        : this.#checks.checkList(list.args, fact)
    if (reason !== undefined) this.#fault(list, reason)
  }

  #pattern(node: Node, fact: string | undefined, operands: readonly Node[]): void {
    const [pattern] = operands
    if (operands.length !== 1 || pattern?.op !== 'value' || typeof pattern.args !== 'string') {
      this.#fault(pattern ?? node, 'The pattern of matches must be a literal text: "…".')
      return
    }
    const reason = this.#checks.keepPattern(pattern.args, fact)
    if (reason !== undefined) this.#fault(pattern, reason)
  }

  #rename(node: Node, args: [string, ...unknown[]], known: Readonly<Record<string, string>>) {
    const [name] = args
    const registered = Object.hasOwn(known, name) ? known[name] : undefined
    if (registered !== undefined) {
      args[0] = registered
      return true
    }
    const names = Object.keys(known)
    const meant = suggest(name, known === methods ? [...names, ...comprehensions] : names)
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    this.#fault(node, `Unknown function ${name}.${hint}`)
    return false
  }

  #unknown(node: Node, name: string): void {
    const meant = suggest(name, [...this.#names])
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    this.#fault(node, `Unknown fact ${name}.${hint}`)
  }

  #fault(node: Node, reason: string): void {
    this.faults.push({ offset: node.start, reason })
  }
}

function shownOperator(op: string): string {
  return op === 'map' ? '{…}' : op.replaceAll('_', '')
}
