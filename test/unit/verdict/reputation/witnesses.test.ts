import { expect, test } from 'vitest'
import {
  packWitnesses,
  type Side,
  testify,
  unpackWitnesses,
  type Witness,
  WITNESSES_MAX,
} from '../../../../src/verdict/reputation/karma.ts'

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

/**
 * Applies testimonies: `+1` is one by newcomer 1 for good, `!-2` one by the proven reporter 2 for
 * bad.
 */
function receiveTestimonies(...words: string[]) {
  let witnesses: Witness[] = []
  const agreed: number[] = []
  const contradicted: number[] = []
  for (const word of words) {
    const [, proven, sign = '', number = ''] = /^(!?)([-+~])(\d+)$/.exec(word) ?? []
    const side = ({ '+': 'good', '-': 'bad', '~': 'withdrawn' } as Record<string, Side>)[sign]
    const isProven = proven === '!'
    const settled = testify(witnesses, {
      reporterId: id(Number(number)),
      side: side ?? 'withdrawn',
      isProven,
    })
    witnesses = unpackWitnesses(packWitnesses(settled.witnesses))
    agreed.push(...settled.agreed.map((one) => Number(one.slice(-12))))
    contradicted.push(...settled.contradicted.map((one) => Number(one.slice(-12))))
  }
  return { agreed, contradicted, witnesses }
}

test.for([
  ['newcomers alone settle nothing', ['-1', '-2', '-3'], [], []],
  ['two proven ones raise who came before', ['-1', '-2', '!-3', '!-4'], [1, 2, 3, 4], []],
  ['and who comes after', ['!-3', '!-4', '-1'], [3, 4, 1], []],
  ['one alone raises no newcomer', ['-1', '!-3', '-2', '-4'], [], []],
  ['two proven ones raise each other', ['!-1', '!-2'], [1, 2], []],
  ['each of them once', ['!-1', '!-2', '!-2', '!-3'], [1, 2, 3], []],
  ['one against one is undecided', ['!+1', '!-2'], [], []],
  ['two against one contradict', ['!+1', '!-2', '!-3'], [], [1]],
  ['where proven ones differ nobody gains', ['!+1', '!-2', '-3'], [], []],
  ['what is withdrawn is no testimony', ['!-1', '!-2', '~1', '-3'], [1, 2], []],
  ['nor does it settle twice', ['!-1', '!-2', '-3', '~3', '-3'], [1, 2, 3], []],
] as const)('%s', ([, words, agreed, contradicted]) => {
  expect(receiveTestimonies(...words)).toMatchObject({ agreed, contradicted })
})

test('a full list keeps proven reporters rather than newcomers', () => {
  const crowd = Array.from({ length: 60 }, (_, number) => `-${number}`)
  const { witnesses } = receiveTestimonies(...crowd, '!-99')
  expect(witnesses).toHaveLength(WITNESSES_MAX)
  expect(witnesses.at(-1)).toMatchObject({ reporterId: id(99), isProven: true })
})
