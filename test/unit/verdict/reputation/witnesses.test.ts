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
 * Applies testimonies: `+1` is one by newcomer 1 for good, `!-2` one by the vouched reporter 2 for
 * bad, `p-3` one by the proven reporter 3, `*-4` one that the message supports. Each account signed
 * up on the day of its number, or on that after `/`, and is in the circle after `@`.
 */
function receiveTestimonies(...words: string[]) {
  let witnesses: Witness[] = []
  const agreed: number[] = []
  const contradicted: number[] = []
  for (const word of words) {
    const parts = /^([!p]?)(\*?)([-+~])(\d+)(?:\/(\d+))?(?:@(\d+))?$/.exec(word) ?? []
    const [, standing, supported, sign = '', number, day = number, circle = 0] = parts
    const side = ({ '+': 'good', '-': 'bad', '~': 'withdrawn' } as Record<string, Side>)[sign]
    const settled = testify(witnesses, {
      reporterId: id(Number(number)),
      signUpDay: Number(day),
      side: side ?? 'withdrawn',
      isProven: standing !== '',
      isVouched: standing === '!',
      isSupported: supported === '*',
      circle: Number(circle),
      isYoung: false,
    })
    witnesses = unpackWitnesses(packWitnesses(settled.witnesses))
    expect(witnesses).toEqual(settled.witnesses)
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
  ['four independent newcomers agree', ['*-1', '*-2', '*-3', '*-4'], [1, 2, 3, 4], []],
  ['and later ones with them', ['*-1', '*-2', '*-3', '*-4', '*-5'], [1, 2, 3, 4, 5], []],
  ['three are too few', ['*-1', '*-2', '*-3'], [], []],
  ['the message must support them', ['-1', '-2', '-3', '-4', '*-5'], [], []],
  [
    'a crowd of one day gains nothing',
    ['*-1/9', '*-2/9', '*-3/9', '*-4/9', '*-5/8', '*-6/8', '*-7/7'],
    [],
    [],
  ],
  [
    'a crowd of one mail domain gains nothing',
    ['*-1@5', '*-2@5', '*-3@5', '*-4@5', '*-5@6', '*-6@6', '*-7@7'],
    [],
    [],
  ],
  [
    'one of a crowd counts',
    ['*-1@5', '*-2@5', '*-3@5', '*-4', '*-5', '*-6'],
    [1, 2, 3, 4, 5, 6],
    [],
  ],
  ['proven accounts of one day are one', ['p-1/9', 'p-2/9', '-3'], [], []],
  ['proven accounts of several days are several', ['p-1', 'p-2', '-3'], [1, 2, 3], []],
  [
    'praise of an unwanted message is contradicted',
    ['+1', '+2', '*-3', '*-4', '*-5', '*-6'],
    [3, 4, 5, 6],
    [1, 2],
  ],
  [
    'praise that the message supports is not',
    ['*+1', '*-3', '*-4', '*-5', '*-6'],
    [3, 4, 5, 6],
    [],
  ],
  [
    'praise by many does not contradict complaints',
    ['-1', '*+2', '*+3', '*+4', '*+5', '*+6'],
    [2, 3, 4, 5, 6],
    [],
  ],
  ['a proven reporter stops a crowd', ['!+1', '*-2', '*-3', '*-4', '*-5', '*-6'], [], []],
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
