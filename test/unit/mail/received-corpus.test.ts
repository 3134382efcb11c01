import { describe, expect, test } from 'vitest'
import { parseReceived } from '../../../src/mail/received.ts'
import { compareCase } from '../../support/received-agreement.ts'
import { receivedCases } from '../../support/received-cases.ts'
import { assertionsWeRefuse, outputWeRefuse } from '../../support/received-disagreements.ts'

const asserted = receivedCases('line', 'from-clause')
const observed = receivedCases('oracle-line')

describe.skipIf(!asserted)('the public test suites, where the corpus is present', () => {
  test.for((asserted ?? []).map((testCase) => [testCase.id, testCase] as const))(
    'a line with a known result: %s',
    ([id, testCase]) => {
      const { compared, differing } = compareCase(testCase)
      if (id in assertionsWeRefuse) expect(differing).not.toEqual([])
      else expect(differing).toEqual([])
      expect(compared).toBeGreaterThan(0)
    },
  )

  test.for((observed ?? []).map((testCase) => [testCase.id, testCase] as const))(
    'a line as another parser reads it: %s',
    ([id, testCase]) => {
      const { differing } = compareCase(testCase)
      if (id in outputWeRefuse) expect(differing).not.toEqual([])
      else expect(differing).toEqual([])
    },
  )

  test('all refused lines are listed, and the list has no others', () => {
    const ids = new Set([...(asserted ?? []), ...(observed ?? [])].map(({ id }) => id))
    const named = [...Object.keys(assertionsWeRefuse), ...Object.keys(outputWeRefuse)]
    expect(named.filter((id) => !ids.has(id))).toEqual([])
    expect(agreeingShare(observed ?? [])).toBeGreaterThan(0.94)
    expect(agreeingShare(asserted ?? [])).toBeGreaterThan(0.94)
  })

  test('the parts of a line are bounded', () => {
    for (const { generate } of receivedCases('generator') ?? []) {
      if (!generate) throw new Error('The corpus has a generator case that generates nothing.')
      const line = generate.prefix + generate.repeat.repeat(generate.times)
      const field = parseReceived(line.slice(0, 65_535))
      expect(JSON.stringify(field).length).toBeLessThan(2000)
    }
  })
})

function agreeingShare(cases: NonNullable<typeof asserted>): number {
  return cases.filter((one) => compareCase(one).differing.length === 0).length / cases.length
}
