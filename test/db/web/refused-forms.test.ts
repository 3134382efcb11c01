import { expect, test } from 'vitest'
import { readCatalogs } from '../../../scripts/texts/catalogs.ts'
import { readInput } from '../../../src/actions.ts'
import { hasText } from '../../../src/texts/messages.ts'
import { refusalIn } from '../../../src/texts/phrases.ts'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { englishIn } from '../../support/pages/english-in.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const person = await site.addPerson('ann@example.org', { role: 'administrator' })
const browser = await signedInBrowser(site.url, person, 'fr')
const { en, fr } = readCatalogs()

/** The actions of the forms of operators. */
const table = roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site))
const actions = table.flatMap(({ permissions = {} }) =>
  Object.values(permissions).flatMap(({ action }) => action ?? []),
)

/** A value that hardly any field permits. */
const WRONG = '‹wrong value›'

test('every message of an action of the pages is in French', () => {
  const codes = [...new Set(actions.map(({ name }) => name))].flatMap((name) => {
    const start = `done.${name.replaceAll(' ', '-')}.`
    const own = Object.keys(en).filter((code) => code.startsWith(start))
    expect([name, own.length]).not.toEqual([name, 0])
    return own
  })
  expect(codes.length).toBeGreaterThan(100)
  expect(codes.filter((code) => !hasText(fr, code))).toEqual([])
})

test('what an action of the pages says about wrong or missing input is in French', () => {
  const said = actions.flatMap(({ name, input }) =>
    [{}, Object.fromEntries(Object.keys(input.shape).map((field) => [field, WRONG]))].flatMap(
      (given) => {
        const read = readInput(input, given)
        const problems = 'problems' in read ? read.problems : []
        return problems.map(({ field, message }) => ({ name, field, message }))
      },
    ),
  )
  expect(said.length).toBeGreaterThan(100)
  expect(said.filter(({ message }) => refusalIn('fr', message).lang !== undefined)).toEqual([])
})

test.for([
  ['/admin/suppressions', { do: 'set', address: 'x' }, 'Indiquez une adresse e-mail valide.'],
  [
    '/admin/reports/saved',
    { do: 'save', q: 'state:lost', name: 'x' },
    'n’est pas une valeur de state',
  ],
  ['/admin/queues', { do: 'pause', queue: 'none', reason: 'x' }, 'd’attente n’existe pas'],
  ['/admin/rule-lists', { do: 'delete', list: '?' }, 'Un nom peut avoir 40 caractères au plus'],
] as const)('a refused form of %s answers in French', async ([path, fields, sentence]) => {
  const answer = await browser.post(path, fields)
  const html = await answer.text()
  expect(html).toContain(sentence)
  expect([answer.status, englishIn(html)]).toEqual([422, []])
})
