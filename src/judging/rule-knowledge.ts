import type { Facts } from '../verdict/facts/fact.ts'
import type { RuleKnowledge } from './dry-run-rules.ts'

const SPAM_SCORE_MIN = 5

/** What rules of this program are about, and what they lead to. */
export const ruleKnowledge: RuleKnowledge = {
  definitions: [
    {
      group: 'report',
      name: 'kind',
      type: 'string',
      meaning: 'What the reporter says it is: spam, phishing or not-spam; empty when nobody did.',
    },
  ],
  unpackFacts: (packed) => JSON.parse(packed.toString()) as Facts,
  judge: ({ symbols }) => {
    const score = symbols.reduce((sum, { weight }) => sum + weight, 0)
    const its = score >= SPAM_SCORE_MIN ? 'spam' : 'undecided'
    return { class: its, confidence: 1, score, symbols }
  },
}
