import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { createPool, type Pool } from '../src/db/pool.ts'
import { rowOf } from '../src/db/rows.ts'
import { openPage, startChromium } from '../test/browser/chromium.ts'
import { openSite } from './demo/instance.ts'

// Makes the pictures of the README: starts a temporary instance, fills it with the sample data of a
// trial, and photographs three pages.

const folder = path.join(import.meta.dirname, '../docs/pictures')
const size = { width: 1100, height: 800 }
const PATIENCE_MS = 120_000
const CALM_MS = 40_000
const FILL_MS = 600_000
const SAMPLE = 'phish-at-microsoft.eml'

const site = await openSite()
const browser = await startChromium()
try {
  const { url } = await site.start()
  const pool = createPool(await site.databaseUrl(), {
    ...{ connectionsMax: 1, name: 'pictures', onLost: () => undefined },
  })
  try {
    await takePictures(url, pool)
  } finally {
    await pool.end()
  }
} finally {
  await browser.close()
  await site.clear()
}

async function takePictures(url: string, pool: Pool): Promise<void> {
  await mkdir(folder, { recursive: true })
  const accounts = await site.accounts()
  if (!accounts.reporter) throw new Error('The instance is not a trial.')
  const admin = await signIn(url, accounts.admin)
  await admin.goto(`${url}/admin/trial`)
  await admin.click('button[value=fill]')
  await admin.waitForSelector('button[value=remove]', { timeout: FILL_MS })
  await untilAnalyzed(pool)
  const person = await signIn(url, accounts.reporter)
  await person.goto(`${url}/report`)
  await person.setInputFiles('#messages', path.join(import.meta.dirname, 'samples', SAMPLE))
  await person.click('#report button[type=submit]')
  await untilAnalyzed(pool)
  const story = await person.getAttribute('.results a[href^="/reports/"]', 'href')
  // Conditions of health are read again every few seconds.
  await wait(CALM_MS)
  await photograph(person, `${url}${story}`, 'story')
  await photograph(admin, `${url}/admin`, 'dashboard')
  await photograph(person, `${url}/consumers/sample`, 'feedback')
}

async function signIn(url: string, { email, password }: { email: string; password: string }) {
  const { page } = await openPage(browser, { viewport: size, colorScheme: 'light' })
  await page.goto(`${url}/sign-in?next=/report`)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button[type=submit]')
  return page
}

/** Waits until each report is analyzed and its feedback report composed. */
async function untilAnalyzed(pool: Pool): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await wait(500)) {
    const counted = await rowOf(pool)<{ isOpen: boolean }>`
      select not exists (select from reports)
        or exists (select from reports where state = 'received')
        or exists (select from reports where state = 'analyzed' and not exists (
          select from feedback_reports where report_id = reports.id and state <> 'queued'))
        as "isOpen"`
    if (counted?.isOpen === false) return
  }
  throw new Error('The sample data was not analyzed in time.')
}

async function photograph(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address, { waitUntil: 'load' })
  await page.waitForTimeout(1_000)
  await page.screenshot({ path: path.join(folder, `${name}.png`) })
  process.stdout.write(`docs/pictures/${name}.png\n`)
}
