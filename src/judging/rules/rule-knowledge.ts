import { decide } from '../../verdict/decide.ts'
import { factDefinitions } from '../../verdict/facts/fact-list.ts'
import { unpackFacts } from '../../verdict/facts/packed-facts.ts'
import type { RuleKnowledge } from './dry-run-rules.ts'

/** What the rules of this program are about, and what they lead to. */
export const ruleKnowledge: RuleKnowledge = {
  definitions: factDefinitions,
  unpackFacts,
  judge: decide,
}
