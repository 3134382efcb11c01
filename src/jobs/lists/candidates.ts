import type { ListCandidate } from '../../verdict/lists/list.ts'
import type { Subject } from '../../reputation/subject.ts'

/** Where what is known of subjects comes from. */
export type CandidateReader = {
  /**
   * A page of those that may deserve an entry, in the order of kind and name; `after` is the last
   * of the page before. Fewer than `limit` end it.
   */
  page: (after: Subject | undefined, limit: number) => Promise<ListCandidate[]>
  /** What is known of these, in no order; those of whom nothing is known are missing. */
  find: (subjects: readonly Subject[]) => Promise<ListCandidate[]>
}
