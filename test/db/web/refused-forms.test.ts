import { expect, test } from 'vitest'
import { roleTable } from '../../../src/web/admin/role-table.ts'
import { adminRoutes } from '../../../src/web/admin/router.ts'
import type { Site } from '../../../src/web/site.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { englishIn } from '../../support/pages/english-in.ts'
import { pages } from '../../support/pages/page-list.ts'
import { startShownSite } from '../../support/pages/shown-site.ts'
import { signedInBrowser } from './browser.ts'

const shown = await closeAfterTests(startShownSite())
const { site, admin } = shown
// Russian texts come from the same codes; that none is missing is checked elsewhere.
const browser = await signedInBrowser(site.url, admin, 'fr')

/** Every form of the pages of operators, by its path and the value of `do`. */
const table = roleTable(adminRoutes({ ...site.app, publicUrl: site.url } as Site))
const forms = table.flatMap((row) =>
  row.method === 'post'
    ? Object.entries(row.permissions ?? {}).map(([name, { action }]) => ({
        ...{ path: row.path, name },
        fields: Object.keys(action?.input.shape ?? {}),
      }))
    : [],
)

/** A value that hardly any field permits. */
const WRONG = '‹wrong value›'

function addressOf(path: string): string {
  const [own] = pages.find(({ route }) => route === path)?.at(shown) ?? []
  return own?.replace(/\?.*/, '') ?? path.replaceAll(/:\w+/g, shown.told)
}

async function answerTo(path: string, fields: Record<string, string>) {
  const answer = await browser.post(path, { now: admin.password, ...fields })
  const next = answer.headers.get('location')
  if (answer.status !== 303 || next === null) return { answer, html: await answer.text() }
  return { answer, html: await (await browser.get(next)).text() }
}

test('no answer to a form of operators is English in French', async () => {
  expect(forms.length).toBeGreaterThan(60)
  const found: unknown[] = []
  const statuses = new Set<number>()
  for (const { path, name, fields } of forms) {
    const wrong = Object.fromEntries(fields.map((field) => [field, WRONG]))
    for (const given of [{}, wrong]) {
      const { answer, html } = await answerTo(addressOf(path), { ...given, do: name })
      statuses.add(answer.status)
      const english = englishIn(html)
      if (english.length > 0) found.push([path, name, answer.status, english])
    }
  }
  expect(found).toEqual([])
  expect([...statuses]).toEqual(expect.arrayContaining([303, 422]))
})
