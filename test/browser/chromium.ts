import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** A real browser, started once for a test file. */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** For an element or a page, on a busy machine; no test uses it to measure time. */
const PATIENCE_MS = 120_000

/**
 * Opens a page of a new visitor and collects its console messages: with our policy, there must be
 * none.
 */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // Ignores requests that ended because the visitor left the page.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${reason}`)
  })
  return { page, complaints }
}

/** Fills in the form for signing in that a page shows, and waits for the page behind it. */
export async function signInHere(
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.fill('#email', email)
  await page.fill('#password', password)
  await clickThrough(page, 'main button[type=submit]')
}

/** Clicks on what leads to another page, and waits for it: the next request would stop this one. */
export async function clickThrough(page: Page, selector: string): Promise<void> {
  const behind = page.waitForEvent('load')
  await page.locator(selector).first().click()
  await behind
}
