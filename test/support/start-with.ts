import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * A sequencer that starts with the files whose path contains one of these texts, in this order, and
 * goes on with the largest ones. The longest files come first, so that none runs alone at the end.
 */
export function startWith(...first: readonly string[]): typeof BaseSequencer {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files)
      return sorted
        .map((file) => ({ file, rank: rankOf(file.moduleId) }))
        .toSorted((one, other) => one.rank - other.rank)
        .map(({ file }) => file)
    }
  }

  function rankOf(path: string): number {
    const rank = first.findIndex((text) => path.includes(text))
    return rank < 0 ? first.length : rank
  }
}
