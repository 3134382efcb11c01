import { expect, test } from 'vitest'
import { readCatalogs } from '../../../scripts/texts/catalogs.ts'
import {
  glossaryFaults,
  lastColumn,
  patternOf,
  readGlossary,
  withoutFolders,
  withoutNames,
} from '../../../scripts/texts/glossary.ts'

test('the words to avoid are read from the glossaries', () => {
  expect(lastColumn(readGlossary('ru'), 'Not').length).toBeGreaterThan(50)
  expect(lastColumn(readGlossary('fr'), 'Not').length).toBeGreaterThan(70)
  expect(lastColumn(readGlossary('ru'), 'Not')).toContain('служб* безопасности')
  expect(lastColumn('| a | Not |\n|---|---|\n| `x` | `y`, `z` |\n\n| `v` | Note |', 'Not')).toEqual(
    ['y', 'z'],
  )
})

test('each language has one word for each thing', () => {
  const catalogs = readCatalogs()
  for (const language of ['en', 'fr', 'ru'] as const) {
    expect(glossaryFaults(catalogs, language)).toEqual([])
  }
  const changed = { ...catalogs.en, 'nav.report': 'Retract it' }
  expect(glossaryFaults({ ...catalogs, en: changed }, 'en')).toEqual([
    'nav.report has «retract*»: Retract it',
  ])
})

test('names of parameters and the values that select a text are not words', () => {
  expect(withoutNames('{n, number} hosts of {host}')).toBe('{} hosts of {}')
  const selected = 'Of {x, select, spam {a virus} other {{host}s}}'
  expect(withoutNames(selected)).toBe('Of a virus | {}s')
})

test('a word to avoid is found in any form and case, but not inside another word', () => {
  expect('Служба безопасности сети').toMatch(patternOf('служб* безопасности'))
  expect('через интернет').not.toMatch(patternOf('Интернет*'))
  expect('через Интернет').toMatch(patternOf('Интернет*'))
  expect('приоткрыть').not.toMatch(patternOf('открыть'))
})

test('texts may name folders as mail programs do', () => {
  const folders = lastColumn(readGlossary('fr'), 'In programs')
  const [avoided = /^/] = lastColumn(readGlossary('fr'), 'Not')
    .filter((word) => word === 'boîte* de réception')
    .map(patternOf)
  expect(withoutFolders('Ouvrez la Boîte de réception.', folders)).not.toMatch(avoided)
  expect(withoutFolders('Ouvrez la boîte de réception.', folders)).toMatch(avoided)
  const said = {
    en: {},
    fr: { a: 'Déplacez-le vers Courrier indésirable.', b: 'Du courrier' },
    ru: {},
  }
  expect(glossaryFaults(said, 'fr')).toEqual(['b has «courrier»: Du courrier'])
})

test('Russian texts do not show whether the reader is a man or a woman', () => {
  const said = { en: {}, fr: {}, ru: { a: 'Я отписался', b: 'Отписка не помогла' } }
  expect(glossaryFaults(said, 'ru')).toEqual([
    'a has a word that shows the sex of the reader: Я отписался',
  ])
})
