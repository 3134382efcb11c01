import { createRequire } from 'node:module'
import { afterAll, beforeAll, test } from 'vitest'
import { countWritten as countMessages, type CountedWritten as Counted } from '../../support/counted-messages.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { startWebSite, type Person, type WebSite } from './web-site.ts'
const { chromium } = createRequire(import.meta.url)('playwright-core')
let site: WebSite, admin: Person
beforeAll(async () => { site = await startWebSite(); admin = await site.addPerson('admin@desk.example', { isAdmin: true }) })
afterAll(() => site.close())
test('shots', async () => {
  const now = new Date()
  let seed = 7; const rnd = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const list: Counted[] = []
  for (let i = 0; i < 400; i++) {
    const age = rnd() < 0.5 ? rnd() * 0.9 * 86400e3 : rnd() ** 2 * 12 * 86400e3
    const ham = rnd() < 0.08
    const page = i % 7 === 0 ? 'offer' : `page${i % 5}`
    list.push({
      prefix: 'reports', written: { from: `Great Offers <offers${i % 3}@shop.example>`, subject: `Your parcel ${i} is waiting for you`, text: `Dear customer number ${i}, your parcel waits. Pay the fee at https://pay.shop.example/${page}?utm_source=m or call +44 20 7946 0958. Thank you very much for your trust in us.` },
      reporterId: `0190a5b4-0000-7000-8000-0000000000${String(10 + (i % 41))}`,
      originAsn: 64496,
      at: new Date(now.getTime() - age), amounts: { complaint: ham ? 0 : 1, spam: !ham && rnd() < 0.9 ? 1 : 0, ham: ham ? 1 : 0 },
    })
  }
  await countMessages(site.app.pool, list, now)
  await rollUpAll(site.app.pool, now)
  const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const context = async (width: number, colorScheme: string) => {
    const c = await b.newContext({ viewport: { width, height: 900 }, colorScheme })
    const p = await c.newPage()
    await p.goto(`${site.url}/sign-in`)
    await p.fill('#email', admin.email); await p.fill('#password', admin.password)
    await p.locator('main button[type=submit]').click(); await p.waitForLoadState()
    return p
  }
  const light = await context(1200, 'light'), dark = await context(1200, 'dark'), narrow = await context(390, 'light')
  const errors: string[] = []
  for (const p of [light, dark, narrow]) p.on('console', (m: any) => errors.push(m.text()))
  const shots: [string, any, string][] = [
    ['start', light, ''], ['link', light, '?value=' + encodeURIComponent('hxxps://pay[.]shop[.]example/offer')], ['link-dark', dark, '?value=' + encodeURIComponent('hxxps://pay[.]shop[.]example/offer')], ['link-narrow', narrow, '?value=' + encodeURIComponent('https://pay.shop.example/offer')],
    ['domain', light, '?value=shop.example'], ['address', light, '?value=offers1@shop.example'], ['none', light, '?value=nobody@elsewhere.example'], ['fault', light, '?kind=ip&value=hello'], ['subject', light, '?value=Your+parcel+7+is+waiting+for+you'], ['ip', dark, '?value=192.0.2.7'], ['start-narrow', narrow, ''], ['overview', light, '/../'],
  ]
  for (const [name, p, q] of shots) {
    await p.goto(`${site.url}/admin/counters${q}`)
    await p.screenshot({ path: `/tmp/lk/s-${name}.png`, fullPage: true })
    if (name === 'start') console.log('boxes', await p.evaluate(`JSON.stringify([...document.querySelectorAll('.ask input,.ask select,.ask button')].map(e=>e.getBoundingClientRect()).map(r=>[r.top,r.bottom]))`))
    const wide = await p.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    if (wide > 0) errors.push(`${name} is ${wide} too wide`)
  }
  console.log('ERR', errors)
  await b.close()
}, 120_000)
