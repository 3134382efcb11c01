import type { FactDefinition } from '../facts/fact.ts'

/**
 * Why a model must not see a fact; undefined of those that it may.
 *
 * A model learns from labels that rest on what reporters say. If it saw that word, or how far the
 * reporter is believed, it would repeat the label and know nothing of the message.
 */
export function refusalOf({ group, name }: FactDefinition): string | undefined {
  return unfitGroups[group] ?? unfitFacts[`${group}.${name}`]
}

const unfitGroups: Readonly<Record<string, string>> = {
  report: 'What the reporter says is the label; karma says how far the label is believed.',
}

/** Facts by which mail of one collection differs from that of another, not spam from ham. */
const unfitFacts: Readonly<Record<string, string>> = {}

/** Whether a symbol only repeats the reporter's word. */
export function isUnfitSymbol(name: string): boolean {
  return /^REPORT(ED|ER)?_|^KARMA_/.test(name)
}

/** The words of facts that are one of few. */
export const closedSets: Readonly<Record<string, readonly string[]>> = {}
