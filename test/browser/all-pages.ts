import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { pages, type Viewer } from '../support/pages/page-list.ts'
import type { ShownSite } from '../support/pages/shown-site.ts'
import { openPage, signInHere } from './chromium.ts'

/** A visit to every page that a viewer can see. */
export type Visit = { viewer: Viewer; options: BrowserContextOptions }

/** Opens each page of a viewer, and collects console messages and errors. */
export async function lookAtAll<Result>(
  browser: Browser,
  shown: ShownSite,
  { viewer, options }: Visit,
  look: (page: Page) => Promise<readonly Result[]>,
): Promise<{ found: ({ address: string } & Result)[]; complaints: string[] }> {
  const { page, complaints } = await openPage(browser, options)
  await signIn(page, shown, viewer)
  const found: ({ address: string } & Result)[] = []
  for (const { at } of pages.filter((one) => one.viewer === viewer)) {
    for (const address of at(shown)) {
      await page.goto(`${shown.site.url}${address}`)
      for (const said of await look(page)) found.push({ address, ...said })
    }
  }
  await page.context().close()
  // A refused form has an error status, which the console reports as an error.
  return { found, complaints: complaints.filter((one) => !one.includes('status of 4')) }
}

async function signIn(page: Page, { site, ann, admin }: ShownSite, viewer: Viewer): Promise<void> {
  if (viewer === 'stranger') return
  const person = viewer === 'reporter' ? ann : admin
  await page.goto(`${site.url}/sign-in`)
  await signInHere(page, person)
}
