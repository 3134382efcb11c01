import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A sequencer that starts with the files whose path matches, then with the largest ones. */
export function longestFirst(longest: RegExp): typeof BaseSequencer {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files)
      const isLong = ({ moduleId }: TestSpecification) => longest.test(moduleId)
      return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
    }
  }
}
