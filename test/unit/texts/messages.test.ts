import { expect, test } from 'vitest'
import {
  type Code,
  createMessages,
  fixed,
  message,
  number,
  percent,
  textsIn,
} from '../../../src/texts/messages.ts'

test('a text is in the requested language, with its parameters', () => {
  const usual = { low: '<b>', high: '9' }
  expect(textsIn('en')('dashboard.usually', usual)).toBe('usually <b> to 9')
  expect(message('fr', 'dashboard.usually', usual)).toEqual({
    text: 'd’habitude <b> à 9',
    lang: undefined,
  })
})

test('an unknown code is an error, or undefined when it came from outside', () => {
  expect(() => textsIn('fr')('chart.lowest' as Code)).toThrow('chart.lowest')
  expect(message('fr', 'chart.lowest')).toBeUndefined()
})

test('a missing parameter is an error', () => {
  expect(() => textsIn('en')('dashboard.usually', { low: '1' })).toThrow('high')
})

const sample = createMessages({
  en: {
    only: 'Only {n, number} in English',
    list: ['One', 'Two {name}'],
    reports: '{n, plural, one {# report} other {# reports}}',
  },
  fr: {
    reports: '{n, plural, one {# signalement} many {# de signalements} other {# signalements}}',
    from: 'Un message {name_begins, select, vowel {d’} other {de }}{name}',
  },
  ru: {
    reports: '{n, plural, one {# жалоба} few {# жалобы} many {# жалоб} other {# жалобы}}',
    day: '{day, date, long}',
  },
})

test('a message without a translation is in English, and says so', () => {
  expect(sample.message('ru', 'only', { n: 1234 })).toEqual({
    text: 'Only 1,234 in English',
    lang: 'en',
  })
  expect(sample.message('en', 'only', { n: 1 })?.lang).toBeUndefined()
})

test('a list of messages takes the parameters of all', () => {
  expect(sample.textsIn('fr')('list' as Code, { name: 'x' })).toEqual(['One', 'Two x'])
  expect(sample.message('en', 'list', { name: 'x' })).toBeUndefined()
})

test.for([
  ['Orange', 'Un message d’Orange'],
  ['Élan', 'Un message d’Élan'],
  ['Yahoo', 'Un message de Yahoo'],
  ['H&M', 'Un message de H&M'],
  ['{x}', 'Un message de {x}'],
] as const)('French elides before %s as before a vowel', ([name, text]) => {
  expect(sample.message('fr', 'from', { name })?.text).toBe(text)
})

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
] as const)('%s of a thing is said as each language does', ([n, ...expected]) => {
  const said = (['en', 'fr', 'ru'] as const).map((one) => sample.message(one, 'reports', { n }))
  expect(said.map((one) => one?.text)).toEqual(expected)
})

test('a day is in UTC', () => {
  const day = new Date('2026-11-22T23:59:00Z')
  expect(sample.message('ru', 'day', { day })?.text).toBe('22 ноября 2026 г.')
})

test('numbers have a minus sign, in texts too', () => {
  expect([number('en', -1_234.5), fixed('fr', -0.5, 2), percent('ru', -0.1, 0)]).toEqual([
    ...['−1,234.5', '−0,50', '−10\u00a0%'],
  ])
  expect(textsIn('en')('limits.most', { n: -3 })).toBe('at most −3')
})
