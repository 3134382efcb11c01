import type { FactDefinition } from './fact.ts'
import { definitionsOf, double } from './fact-table.ts'
import { seenGroups, type SeenGroup, type SeenKey } from './seen-pieces.ts'

/** The counts of one window, as `counters/windows.ts` gives them. */
export type SeenCounts = {
  readonly ham: number
  readonly spam: number
  readonly complaint: number
  readonly redeemed: number
  readonly unique: number
}

/** Counts of the windows that are used, under the prefixes that are. */
export type SeenWindows = {
  readonly reports?: Readonly<Record<'hour' | 'day' | 'twoWeeks', SeenCounts>>
  readonly checks?: Readonly<Record<'hour' | 'day' | 'twoWeeks', SeenCounts>>
}

/** Numbers by their facts; none where nothing was seen. */
export type SeenFacts = Record<string, number>

const windows = [
  ['hour', 'hour'],
  ['day', 'day'],
  ['twoWeeks', 'weeks'],
] as const

/** What the facts of this group mean. */
export const seenDefinitions: readonly FactDefinition[] = Object.entries(seenGroups).flatMap(
  ([group, what]) =>
    definitionsOf('seen', {
      [`${group}_complaints_hour`]: double(`Reports as spam within the hour: ${what}.`),
      [`${group}_complaints_day`]: double(`Reports as spam within a day: ${what}.`),
      [`${group}_complaints_weeks`]: double(`Reports as spam within two weeks: ${what}.`),
      [`${group}_spam_weeks`]: double(`Reports judged to be spam within two weeks: ${what}.`),
      [`${group}_ham_weeks`]: double(`Reports as wanted mail within two weeks: ${what}.`),
      [`${group}_reporters_weeks`]: double(
        `Different reporters, each day anew, within two weeks; 0 where not told: ${what}.`,
      ),
      [`${group}_copies_hour`]: double(`Messages checked within the hour: ${what}.`),
      [`${group}_copies_day`]: double(`Messages checked within a day: ${what}.`),
      [`${group}_copies_weeks`]: double(`Messages checked within two weeks: ${what}.`),
      [`${group}_blame`]: double(
        `Complaints less wanted, of both and 5 more, two weeks: −1 to 1: ${what}.`,
      ),
      [`${group}_complaint_share`]: double(
        `Complaints of messages checked and reported and 20 more, two weeks, 0 to 1: ${what}.`,
      ),
    }),
)

/** Reports and messages that are made up, so that few of them say little. */
const PRIOR_REPORTS = 5
const PRIOR_COPIES = 20

/**
 * Reduces the windows of the pieces that were asked for, in the order of `groups`: of several
 * pieces of a group the largest count is taken, of each kind. What we concluded of traffic that
 * nobody reported is volume only: counted as evidence it would prove itself.
 */
export function seenFacts(
  groups: readonly SeenKey[],
  known: readonly (SeenWindows | undefined)[],
): SeenFacts {
  const facts: SeenFacts = {}
  for (const [index, { group, counts }] of groups.entries()) {
    const { reports, checks } = known[index] ?? {}
    if (counts === 'reporters') {
      raise(facts, `${group}_reporters_weeks`, reports?.twoWeeks.unique)
      continue
    }
    for (const [name, suffix] of windows) {
      if (reports) raise(facts, `${group}_complaints_${suffix}`, reports[name].complaint)
      if (checks) raise(facts, `${group}_copies_${suffix}`, checks[name].ham + checks[name].spam)
    }
    if (reports) addShares(facts, group, reports.twoWeeks, checks?.twoWeeks)
  }
  return facts
}

function addShares(
  facts: SeenFacts,
  group: SeenGroup,
  { complaint, ham, spam }: SeenCounts,
  checked: SeenCounts | undefined,
): void {
  raise(facts, `${group}_spam_weeks`, spam)
  raise(facts, `${group}_ham_weeks`, ham)
  const reported = Math.max(0, complaint) + Math.max(0, ham)
  const copies = checked ? Math.max(0, checked.ham + checked.spam) : 0
  const blame = (complaint - ham) / (reported + PRIOR_REPORTS)
  const before = facts[`${group}_blame`]
  // The one with most complaints blames, not the one with fewest thanks.
  if (before === undefined || blame > before) facts[`${group}_blame`] = round(blame)
  raise(facts, `${group}_complaint_share`, round(complaint / (reported + copies + PRIOR_COPIES)))
}

function raise(facts: SeenFacts, name: string, count: number | undefined): void {
  if (count !== undefined && count > (facts[name] ?? 0)) facts[name] = count
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
