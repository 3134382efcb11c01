import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { Facts, FactValue } from '../../src/verdict/facts/fact.ts'
import { emptyFacts, factDefinitions } from '../../src/verdict/facts/facts.ts'
import { compileRules, type RuleBook } from '../../src/verdict/rules/rule-book.ts'
import { faultLine } from '../../src/verdict/rules/rule-file.ts'
import { symbolScore } from '../../src/verdict/verdict.ts'

const root = path.join(import.meta.dirname, '../..')

let compiledOnce: RuleBook | undefined

/** Compiles the shipped rules for the existing facts, once per worker. */
export function shippedRules(): RuleBook {
  return (compiledOnce ??= compileShipped())
}

function compileShipped(): RuleBook {
  const text = readFileSync(path.join(root, 'src/verdict/rules/shipped-rules.yaml'), 'utf8')
  const compiled = compileRules(text, factDefinitions)
  if ('faults' in compiled) throw new Error(compiled.faults.map(faultLine).join('\n'))
  return compiled.rules
}

/** Returns the names of the symbols that facts raise. */
export function symbolsOf(rules: RuleBook, facts: Facts): string[] {
  return rules.run(facts).map(({ name }) => name)
}

/** Returns the sum of the weights that facts raise. */
export function scoreBy(rules: RuleBook, facts: Facts): number {
  return symbolScore(rules.run(facts))
}

/** Returns facts that are empty except for the given ones, which are named as in rules. */
export function factsWith(known: Readonly<Record<string, FactValue>>): Facts {
  const facts: Record<string, Record<string, FactValue>> = {}
  for (const [group, its] of Object.entries(emptyFacts())) facts[group] = { ...its }
  for (const [key, value] of Object.entries(known)) {
    const [group = '', name = ''] = key.split('.')
    if (facts[group]?.[name] === undefined) throw new Error(`There is no fact ${key}.`)
    facts[group][name] = value
  }
  return facts
}

/** Returns the list in a YAML file of the repository. */
export function readYaml(file: string): unknown[] {
  return parse(readFileSync(path.join(root, file), 'utf8')) as unknown[]
}
