import { expect, test } from 'vitest'
import { closeAfterTests } from '../support/after-tests.ts'
import { startShownSite } from '../support/pages/shown-site.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const shown = await closeAfterTests(startShownSite())
const browser = await closeAfterTests(startChromium())

const BYTES_MAX = 60_000
const USABLE_MS_MAX = 1_000
/** A page of one line, and how much longer ours may take on a machine that is slow itself. */
const PLAIN = '/robots.txt'
const PLAIN_FACTOR = 4
const THROTTLING = 6
const VISITS_MAX = 5

type Visit = { bytes: number; usableMs: number }

/** Opens a page for the first time on a slow telephone, and measures what arrives and when. */
async function visit(address: string, signIn?: typeof shown.ann): Promise<Visit> {
  const { page } = await openPage(browser, { viewport: { width: 360, height: 740 } })
  if (signIn) {
    await page.goto(`${shown.site.url}/sign-in`)
    await signInHere(page, signIn)
  }
  const tools = await page.context().newCDPSession(page)
  await tools.send('Network.enable')
  await tools.send('Network.setCacheDisabled', { cacheDisabled: true })
  await tools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING })
  let bytes = 0
  tools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
  await page.goto(`${shown.site.url}${address}`, { waitUntil: 'networkidle' })
  // A slow machine may paint after the last byte.
  await page.waitForFunction("performance.getEntriesByName('first-contentful-paint').length > 0")
  const [loaded, painted] = (await page.evaluate(`[
    performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
    performance.getEntriesByName('first-contentful-paint')[0].startTime,
  ]`)) as [number, number]
  await page.context().close()
  return { bytes, usableMs: Math.max(loaded, painted) }
}

const addresses = {
  stranger: [
    '/',
    '/sign-up',
    '/sign-in',
    '/help',
    '/lookup',
    '/statistics',
    '/consumers/enroll',
    '/consumers/sample',
    `${shown.links.desk}/reports`,
  ],
  reporter: [
    '/report',
    '/reports',
    `/reports/${shown.told}`,
    `/reports/${shown.asking}`,
    '/settings',
  ],
}

test.for(addresses.stranger)('%s is small, and usable at once on a slow telephone', (address) =>
  expectLight(address),
)

test.for(addresses.reporter)('%s of a reporter is small, and usable at once', (address) =>
  expectLight(address, shown.ann),
)

async function expectLight(address: string, signIn?: typeof shown.ann): Promise<void> {
  const visits: Visit[] = []
  // The best of a few visits: other programs on the machine slow the others down.
  let isUsable = false
  while (visits.length < VISITS_MAX && !isUsable) {
    const one = await visit(address, signIn)
    visits.push(one)
    isUsable =
      one.usableMs < USABLE_MS_MAX ||
      one.usableMs < PLAIN_FACTOR * (await visit(PLAIN, signIn)).usableMs
  }
  for (const { bytes } of visits) {
    expect(bytes).toBeGreaterThan(5_000)
    expect(bytes).toBeLessThan(BYTES_MAX)
  }
  const best = Math.min(...visits.map(({ usableMs }) => usableMs))
  console.log(`${address}: ${visits[0]?.bytes} bytes, usable after ${Math.round(best)} ms`)
  expect(isUsable).toBe(true)
}
