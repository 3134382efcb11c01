import { expect, test } from 'vitest'
import { faultsIn, readTexts, requireTranslations } from '../../../scripts/texts/faults.ts'
import { type Catalog, createMessages } from '../../../src/texts/messages.ts'

const { site, addOn } = readTexts()
const before = new Set(faultsIn({ site, addOn }))

/** The faults that other French texts add. */
function addedBy(fr: Catalog): string[] {
  return faultsIn({ site: { ...site, fr }, addOn }).filter((fault) => !before.has(fault))
}

function without(catalog: Catalog, ...codes: string[]): Catalog {
  return Object.fromEntries(Object.entries(catalog).filter(([code]) => !codes.includes(code)))
}

const code = 'lists.lookup.reasons.spam'

test.for([
  ['missing', without(site.fr, code)],
  ['empty', { ...site.fr, [code]: '' }],
] as const)('a French text that is %s is in English, and a release refuses it', ([, fr]) => {
  const { textsIn, message } = createMessages({ ...site, fr })
  expect(textsIn('fr')(code, { n: 1 })).toBe('At least 1 person reported it for spam.')
  expect(message('fr', code, { n: 1_000 })).toEqual({
    text: 'At least 1,000 people reported it for spam.',
    lang: 'en',
  })
  expect(addedBy(fr)).toEqual([`fr: ${code} is missing`])
  expect(() => requireTranslations({ site: { ...site, fr }, addOn })).toThrow(
    `fr: ${code} is missing`,
  )
})

test('faults of style are listed', () => {
  const changed: Catalog = {
    ...site.fr,
    [code]: '{n, plural, one {un spam} other {# spams}}',
    'home.title': site.en['home.title'] ?? '',
    'chart.highest': '{value} “{when}”',
    'told.title': 'Un virus',
    'no.such': 'Rien',
  }
  const moved = { ...without(changed, 'told.back'), 'told.back': site.fr['told.back'] ?? '' }
  const added = addedBy(moved)
  for (const fault of [
    `fr: ${code} has a plural with one, other instead of many, one, other`,
    'fr: home.title is the same as in English',
    'fr: chart.highest has English quotes: 0 “0”',
    'fr: told.title has «virus»: Un virus',
    'fr: no.such is not a text of English',
  ]) {
    expect(added).toContain(fault)
  }
  expect(added.some((fault) => fault.endsWith('is not where it is in English'))).toBe(true)
})

test('texts of symbols and the add-on may be missing too', () => {
  const ru = without(site.ru, 'LINK_SHORTENED')
  const texts = {
    site: { ...site, ru },
    addOn: { ...addOn, fr: without(addOn.fr, 'settings') },
  }
  expect(faultsIn(texts).filter((fault) => !before.has(fault))).toEqual([
    'fr: add-on: settings is missing',
    'ru: LINK_SHORTENED is missing',
  ])
})
