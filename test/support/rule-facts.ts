import type { FactDefinition, Facts } from '../../src/verdict/facts/fact.ts'

/** A short list of facts, so that tests of rules do not depend on the real one. */
export const ruleFacts: readonly FactDefinition[] = [
  { group: 'report', name: 'kind', type: 'string', meaning: 'What the reporter says it is.' },
  { group: 'links', name: 'count', type: 'double', meaning: 'How many links, 0 to 100.' },
  { group: 'links', name: 'hosts', type: 'strings', meaning: 'The hosts of the links.' },
  { group: 'author', name: 'isFree', type: 'bool', meaning: 'The author has a free mailbox.' },
  { group: 'text', name: 'subject', type: 'string', meaning: 'The subject, 200 characters.' },
]

/** Returns a message's facts; each test sets the relevant ones. */
export function factsOf(some: Record<string, Record<string, Facts[string][string]>>): Facts {
  return {
    report: { kind: 'spam', ...some['report'] },
    links: { count: 0, hosts: [], ...some['links'] },
    author: { isFree: false, ...some['author'] },
    text: { subject: '', ...some['text'] },
  }
}

/**
 * Composes one rule in the file format, on four lines; the condition begins at line 4, column 9.
 */
export function ruleText(symbol: string, when: string, weight = 1): string {
  const meaning = `What ${symbol} means.`
  return `- symbol: ${symbol}\n  weight: ${weight}\n  meaning: ${meaning}\n  when: ${when}\n`
}
