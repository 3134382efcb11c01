import { expect, test } from 'vitest'
import { signedInBrowser } from './browser.ts'
import { keepAnalysis } from './kept-analysis.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

test('a report shows who authenticated its message, if the DNS was queried', async () => {
  const site = await startWebSite()
  const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
  const desk = await signedInBrowser(site.url, admin)
  const [asked, unasked] = [sampleMessage('checked'), sampleMessage('unchecked')]
  const [id, other] = [await site.report(admin, asked), await site.report(admin, unasked)]
  await keepAnalysis(site.app.pool, id, asked, {
    answers: { 'TXT _dmarc.shop.example': { is: 'found', records: ['v=DMARC1; p=reject'] } },
    spf: { ip: '192.0.2.7', result: 'pass', domain: '<b>shop.example' },
    listings: [],
  })
  await keepAnalysis(site.app.pool, other, unasked)
  const page = await (await desk.get(`/admin/reports/${id}`)).text()
  expect(page).toContain('The domain authorizes this host to send its mail.')
  expect(page).toContain('&lt;b&gt;shop.example')
  expect(page).toContain('SPF and DKIM do not confirm the author’s domain.')
  const without = await (await desk.get(`/admin/reports/${other}`)).text()
  expect(without).not.toContain('<h2>Authentication</h2>')
  await site.close()
})
