import type { Rule } from './rule.ts'

/** A rule that stands in both sets and is not the same in them. */
export type ChangedRule = {
  symbol: string
  before: Rule
  after: Rule
  /** What differs. */
  fields: readonly ('weight' | 'meaning' | 'when' | 'enabled')[]
}

/** How one set of rules differs from another. */
export type RuleChanges = {
  added: readonly Rule[]
  removed: readonly Rule[]
  changed: readonly ChangedRule[]
}

/** What somebody changes who puts the second set in place of the first; order changes nothing. */
export function compareRules(before: readonly Rule[], after: readonly Rule[]): RuleChanges {
  const old = new Map(before.map((rule) => [rule.symbol, rule]))
  const fresh = new Map(after.map((rule) => [rule.symbol, rule]))
  return {
    added: after.filter(({ symbol }) => !old.has(symbol)),
    removed: before.filter(({ symbol }) => !fresh.has(symbol)),
    changed: after.flatMap((rule) => {
      const former = old.get(rule.symbol)
      const fields = former ? fieldsThatDiffer(former, rule) : []
      return former && fields.length > 0
        ? [{ symbol: rule.symbol, before: former, after: rule, fields }]
        : []
    }),
  }
}

function fieldsThatDiffer(before: Rule, after: Rule): ChangedRule['fields'] {
  return [
    ...(before.weight === after.weight ? [] : (['weight'] as const)),
    ...(before.meaning === after.meaning ? [] : (['meaning'] as const)),
    ...(plain(before.when) === plain(after.when) ? [] : (['when'] as const)),
    ...(before.isEnabled === after.isEnabled ? [] : (['enabled'] as const)),
  ]
}

/** Broken over lines otherwise, a condition is still the same. */
function plain(when: string): string {
  return when.trim().replaceAll(/\s+/g, ' ')
}

/** In few words, as for a log: `2 added, 1 removed, 3 changed`. */
export function changesInWords({ added, removed, changed }: RuleChanges): string {
  const counts = [
    [added.length, 'added'],
    [removed.length, 'removed'],
    [changed.length, 'changed'],
  ] as const
  const words = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return words.length === 0 ? 'nothing changed' : words.join(', ')
}

/** The changes as lines of text: `+` added, `-` removed, `~` changed. */
export function changeLines({ added, removed, changed }: RuleChanges): string[] {
  const whole = (mark: string, rule: Rule) => [
    `${mark} ${rule.symbol} (${signed(rule.weight)})${rule.isEnabled ? '' : ' off'}`,
    `    ${plain(rule.when)}`,
  ]
  const parts = ({ symbol, before, after, fields }: ChangedRule) => [
    `~ ${symbol}`,
    ...fields.flatMap((field) => {
      if (field === 'weight') return [`    ${signed(before.weight)} → ${signed(after.weight)}`]
      if (field === 'enabled') return [`    ${after.isEnabled ? 'off → on' : 'on → off'}`]
      return [`    - ${plain(before[field])}`, `    + ${plain(after[field])}`]
    }),
  ]
  return [
    ...added.flatMap((rule) => whole('+', rule)),
    ...removed.flatMap((rule) => whole('-', rule)),
    ...changed.flatMap(parts),
  ]
}

/** A weight as people write it when the side matters: `+2`, `-1.5`. */
export function signed(weight: number): string {
  return weight > 0 ? `+${weight}` : String(weight)
}
