import type { RuleProcess } from '../../db/rule-processes.ts'
import type { RuleSetLine } from '../../db/rule-sets.ts'
import { shownLine } from '../../http/shown-text.ts'
import type { RuleVersion } from '../../judging/rules/rule-versions.ts'
import type { FactDefinition } from '../../verdict/facts/fact.ts'
import { signed } from '../../verdict/rules/compare-rules.ts'
import type { DryRunResult } from '../../verdict/rules/dry-run.ts'
import type { Rule } from '../../verdict/rules/rule.ts'

const CHANGED_SHOWN = 100

/** The acting rules, where they act, and which of them are cut off. */
export function rulesText(
  { version, isShipped }: RuleVersion,
  rules: readonly Rule[],
  processes: readonly RuleProcess[],
): string {
  const origin = isShipped ? ', as the program brings it' : ''
  const cutOff = new Set(
    processes
      .filter((process) => process.version === version)
      .flatMap(({ health }) => health.filter((one) => one.cutOff).map(({ symbol }) => symbol)),
  )
  return [
    `Version ${version}${origin}: ${rules.length} rules.`,
    ...processes.map(({ name, version: its, fault }) =>
      fault === null
        ? `${name} runs version ${its}.`
        : `${name} runs version ${its}, not a newer one:\n${shownLine(fault, 500)}`,
    ),
    '',
    ...columns(
      rules.map(({ symbol, weight, meaning, isEnabled }) => [
        symbol,
        signed(weight),
        `${isEnabled ? '' : '(off) '}${cutOff.has(symbol) ? '(cut off) ' : ''}${meaning}`,
      ]),
    ),
  ].join('\n')
}

/** The versions, newest first. */
export function historyText(lines: readonly RuleSetLine[]): string {
  if (lines.length === 0) return "Nothing was ever applied: the program's own rules act."
  return columns(
    lines.map(({ version, appliedAt, note }) => [
      String(version),
      appliedAt.toISOString().slice(0, 19).replace('T', ' '),
      shownLine(note),
    ]),
  ).join('\n')
}

/** All facts that conditions may ask. */
export function factsText(definitions: readonly FactDefinition[]): string {
  const types = { bool: 'bool', double: 'number', string: 'text', strings: 'list of texts' }
  return columns(
    definitions.map(({ group, name, type, meaning }) => [`${group}.${name}`, types[type], meaning]),
  ).join('\n')
}

/** What a set of rules would have done. */
export function dryRunText(result: DryRunResult): string {
  const { reports, changed, changedTotal, moves, symbols, errors, cutOff } = result
  const more = changedTotal - Math.min(changed.length, CHANGED_SHOWN)
  return [
    ...columns(
      changed
        .slice(0, CHANGED_SHOWN)
        .map(({ id, before, after, scoreBefore, scoreAfter, gained, lost }) => [
          id,
          `${before} → ${after}`,
          `${rounded(scoreBefore)} → ${rounded(scoreAfter)}`,
          [...gained.map((name) => `+${name}`), ...lost.map((name) => `-${name}`)].join(' '),
        ]),
    ),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(symbols.length === 0 ? [] : ['', 'Raised, before and after:']),
    ...columns(symbols.map((one) => [`  ${one.symbol}`, String(one.before), String(one.after)])),
    ...errors.map((one) => `${one.symbol} could not be evaluated ${one.errors} times.`),
    ...cutOff.map((symbol) => `${symbol} costs too much and would be cut off.`),
    ...(moves.length === 0 ? [] : ['']),
    ...moves.map(({ before, after, reports: count }) => `${count}: ${before} → ${after}`),
    `Of ${reports} reports ${changedTotal} would be judged otherwise.`,
  ].join('\n')
}

function rounded(score: number): string {
  return String(Math.round(score * 100) / 100)
}

/** Rows with their columns below each other; the last is as long as it is. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((cells) => (cells[at] ?? '').length)),
  )
  return rows.map((cells) =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
