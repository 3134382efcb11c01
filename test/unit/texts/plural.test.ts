import { expect, test } from 'vitest'
import { plural } from '../../../src/texts/wording.ts'

const reports = {
  en: (n: number) => plural('en', n, { one: '# report', other: '# reports' }),
  fr: (n: number) =>
    plural('fr', n, {
      one: '# signalement',
      many: '# de signalements',
      other: '# signalements',
    }),
  ru: (n: number) =>
    plural('ru', n, { one: '# жалоба', few: '# жалобы', many: '# жалоб', other: '# жалобы' }),
}

test.for([
  [0, '0 reports', '0 signalement', '0 жалоб'],
  [1, '1 report', '1 signalement', '1 жалоба'],
  [2, '2 reports', '2 signalements', '2 жалобы'],
  [5, '5 reports', '5 signalements', '5 жалоб'],
  [11, '11 reports', '11 signalements', '11 жалоб'],
  [12, '12 reports', '12 signalements', '12 жалоб'],
  [21, '21 reports', '21 signalements', '21 жалоба'],
  [22, '22 reports', '22 signalements', '22 жалобы'],
  [111, '111 reports', '111 signalements', '111 жалоб'],
  [1.5, '1.5 reports', '1,5 signalement', '1,5 жалобы'],
  [1000, '1,000 reports', '1\u202f000 signalements', '1\u00a0000 жалоб'],
  [
    1_000_000,
    '1,000,000 reports',
    '1\u202f000\u202f000 de signalements',
    '1\u00a0000\u00a0000 жалоб',
  ],
] as const)('%s of a thing is said as each language does', ([n, en, fr, ru]) => {
  expect([reports.en(n), reports.fr(n), reports.ru(n)]).toEqual([en, fr, ru])
})

test('a number is written wherever a form asks for it', () => {
  expect(plural('en', 3, { one: '#', other: '# of #' })).toBe('3 of 3')
})
