import { expect, test } from 'vitest'
import { listAudit } from '../../../src/db/audit-log.ts'
import { type NewLayer, replaceNetworks } from '../../../src/db/networks.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { findNetworks } from '../../../src/judging/find-campaigns.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const admin = await site.addPerson('admin@desk.example', { role: 'administrator' })
const desk = await signedInBrowser(site.url, admin)
const bare = { asn: null, name: null, country: null, contacts: [] }
const layers: NewLayer[] = [
  { ...bare, cidr: '198.51.0.0/16', asn: 64_501, contacts: ['abuse@whole.example'] },
  { ...bare, cidr: '198.51.100.0/24', asn: 64_500, name: '<b>Part</b>', country: 'FR' },
]
await inTransaction(site.app.pool, (tx) =>
  replaceNetworks(tx, 'asn.csv', [layers], new Date('2026-11-20T12:00:00Z')),
)

const page = async (query: string) => (await desk.get(`/admin/networks${query}`)).text()

async function networkOf(ip: string) {
  return (await findNetworks(site.app.pool, [ip], new Date())).get(ip)
}

/** Returns the text of a page's cells, without tags. */
function cellsOf(html: string): string[] {
  return [...html.matchAll(/<(td|dd)[^>]*>(.*?)<\/\1>/gs)].map(([, , cell = '']) =>
    cell
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}

test('all layers of an address are shown, with the one used for each field', async () => {
  const cells = cellsOf(await page('?ip=198.51.100.7'))
  expect(cells).toContain('AS64500 used')
  expect(cells).toContain('&lt;b&gt;Part&lt;/b&gt; used')
  expect(cells).toContain('abuse@whole.example of another AS')
  expect(cells).toContain('AS64500 from 198.51.100.0/24, asn.csv')
})

test('an unknown address and an invalid text are reported', async () => {
  expect(await page('?ip=203.0.113.1')).toContain('No source has a network')
  const answer = await desk.get('/admin/networks?ip=nowhere')
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain('This is not an IP address.')
})

test('an override is saved, shown again for editing, and removed', async () => {
  const word = { cidr: '198.51.100.0/24', abuse: 'a@hand.example, b@hand.example', name: 'Hand' }
  const kept = await desk.post('/admin/networks', { ...word, do: 'set', ip: '198.51.100.7' })
  expect(kept.status).toBe(303)
  expect(kept.headers.get('location')).toBe('/admin/networks?ip=198.51.100.7&done=set')
  expect(await networkOf('198.51.100.7')).toMatchObject({
    name: 'Hand',
    asn: 64_500,
    contacts: ['a@hand.example', 'b@hand.example'],
  })
  const shown = await page('?ip=198.51.100.7')
  expect(shown).toContain('name="abuse" value="a@hand.example, b@hand.example"')
  expect(await page('?cidr=198.51.100.0/24')).toContain('name="name" value="Hand"')
  const gone = await desk.post('/admin/networks', { cidr: word.cidr, do: 'unset' })
  expect(gone.headers.get('location')).toBe('/admin/networks?done=unset')
  expect(await networkOf('198.51.100.7')).toMatchObject({ name: '<b>Part</b>', abuse: null })
  const again = await desk.post('/admin/networks', { cidr: word.cidr, do: 'unset' })
  expect(again.headers.get('location')).toBe('/admin/networks?done=nothing')
  const log = await listAudit(site.app.pool, { before: undefined, limit: 2 })
  expect(log.map(({ action, reporterId }) => [action, reporterId])).toEqual([
    ['unset network', admin.id],
    ['set network', admin.id],
  ])
})

test('"none" says that no feedback reports are sent', async () => {
  await desk.post('/admin/networks', { cidr: '198.51.0.0/16', abuse: 'none', do: 'set' })
  expect(await networkOf('198.51.1.1')).toMatchObject({ abuse: null, isMuted: true })
  expect(await page('?ip=198.51.1.1')).toContain('none (no feedback reports are sent)')
  await desk.post('/admin/networks', { cidr: '198.51.0.0/16', do: 'unset' })
})

test.for([
  ['no block', { cidr: 'x"y', abuse: 'a@b.example' }, 'not an IP address or a CIDR'],
  ['no address', { cidr: '192.0.2.0/24', abuse: 'nobody' }, 'abuse contact must be'],
  ['nothing said', { cidr: '192.0.2.0/24' }, 'at least one property'],
] as const)('a form with %s is shown again with its error', async ([, form, fault]) => {
  const answer = await desk.post('/admin/networks', { ...form, do: 'set' })
  expect(answer.status).toBe(422)
  const text = await answer.text()
  expect(text).toContain(fault)
  expect(text).toContain(`name="cidr" value="${form.cidr.replace('"', '&quot;')}"`)
  expect(await networkOf('192.0.2.1')).toBeUndefined()
})

test('only administrators can set it, and only from our own pages', async () => {
  const word = { cidr: '192.0.2.0/24', abuse: 'a@evil.example', do: 'set' }
  const ann = await signedInBrowser(site.url, await site.addPerson('ann@reporters.example'))
  expect((await ann.post('/admin/networks', word)).status).toBe(403)
  expect((await new Browser(site.url).post('/admin/networks', word)).status).toBe(303)
  const foreign = await desk.post('/admin/networks', word, { 'sec-fetch-site': 'cross-site' })
  expect(foreign.status).toBe(403)
  expect(await networkOf('192.0.2.1')).toBeUndefined()
})

test('overrides are listed on pages without a gap', async () => {
  const blocks = Array.from({ length: 120 }, (_, n) => `10.0.${n}.0/24`)
  for (const cidr of blocks) await desk.post('/admin/networks', { cidr, name: 'x', do: 'set' })
  const seen: string[] = []
  let query = ''
  for (let pages = 0; pages < 4; pages++) {
    const html = await page(query)
    for (const [, cidr = ''] of html.matchAll(/\?cidr=([^"]+)"/g)) {
      seen.push(decodeURIComponent(cidr))
    }
    const next = /href="\/admin\/networks(\?after=[^"]+)"/.exec(html)?.[1]
    if (next === undefined) break
    query = next
  }
  expect(seen).toEqual(blocks)
})
