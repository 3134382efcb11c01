import { expect, test } from 'vitest'
import { accusable } from '../../../src/phishing/accusable.ts'
import type { FoundPage } from '../../../src/phishing/find-pages.ts'
import { lookUpPage, type PageSources } from '../../../src/phishing/look-up-page.ts'

const asked: string[] = []
const networks: Record<string, { asn: number; name: string; contacts: string[] }> = {
  '93.184.215.14': { asn: 64500, name: 'HOSTER', contacts: ['abuse@hoster.example'] },
  '93.184.215.15': { asn: 64500, name: 'HOSTER', contacts: ['abuse@hoster.example'] },
  '104.16.1.1': { asn: 13335, name: 'CLOUDFLARENET', contacts: ['abuse@cloudflare.com'] },
}
const names: Record<string, string[]> = {
  'page.example': ['93.184.215.14', '93.184.215.15', '10.0.0.1'],
  'behind.example': ['104.16.1.1'],
  'jane.ddns.net': ['93.184.215.14'],
  '*.any.example': ['93.184.215.14'],
}
const sources: PageSources = {
  resolve: (name, type) => {
    asked.push(name)
    const known = names[name] ?? names[name.replace(/^[\da-f]{12}\./, '*.')]
    const records = type === 'A' ? known : undefined
    return Promise.resolve(records ? { is: 'found', records } : { is: 'none' })
  },
  networkOf: (ip) => Promise.resolve(networks[ip]),
  registrarOf: (domain) => {
    asked.push(`registrar of ${domain}`)
    return Promise.resolve({ registrar: 'Registrar Inc.', contacts: ['abuse@registrar.example'] })
  },
  isShared: () => false,
}

function pageAt(url: string, through: string[] = []): FoundPage {
  const accused = accusable(new URL(url), [])
  if ('spared' in accused) throw new Error(`${url}: ${accused.spared}`)
  return { url, links: [url], key: url, accused, through, shown: [] }
}

async function lookUp(url: string, through?: string[]) {
  asked.length = 0
  const stoppers = await lookUpPage(pageAt(url, through), sources)
  return stoppers.map(({ role, addresses, form }) => [role, ...addresses, ...(form ? [form] : [])])
}

test('the network of the host and the registrar can stop a page', async () => {
  expect(await lookUp('https://page.example/login')).toEqual([
    ['host', 'abuse@hoster.example'],
    ['registrar', 'abuse@registrar.example'],
  ])
})

test('a CDN is told by its form, and hides the host', async () => {
  expect(await lookUp('https://behind.example/login')).toEqual([
    ['cdn', 'https://abuse.cloudflare.com/'],
    ['registrar', 'abuse@registrar.example'],
  ])
})

test.for([
  ['https://jane.pages.dev/login', 'https://abuse.cloudflare.com/'],
  ['https://bit.ly/abc', 'https://bitly.is/reporting-abuse'],
  ['https://jane.netlify.app/', 'fraud@netlify.com'],
])('for %s, only the platform is told, and nobody is asked', async ([url = '', contact = '']) => {
  const [found, ...more] = await lookUp(url)
  expect(found).toContain(contact)
  expect(more).toEqual([])
  expect(asked).toEqual([])
})

test('a name for a changing address is stopped by its provider or the host', async () => {
  expect(await lookUp('https://jane.ddns.net/x')).toEqual([
    ['platform', 'abuse@no-ip.com'],
    ['host', 'abuse@hoster.example'],
  ])
})

test('the registrar is not told about a page on the site of somebody else', async () => {
  expect(await lookUp('https://page.example/wp-content/plugins/x/login')).toEqual([
    ['host', 'abuse@hoster.example'],
  ])
})

test('a platform that redirects to the page is told, too', async () => {
  const stoppers = await lookUp('https://page.example/a', ['u1.ct.sendgrid.net', 'other.example'])
  expect(stoppers).toContainEqual(['redirector', 'abuse@sendgrid.com'])
})

test('nobody is asked about a label that may be a token of the recipient', async () => {
  // The network of the domain is not that of a name which somebody else added to it.
  expect(await lookUp('https://q7w8e9r0t1y2.page.example/login')).toEqual([
    ['registrar', 'abuse@registrar.example'],
  ])
  const label = expect.stringMatching(/^[\da-f]{12}\.page\.example$/)
  expect(asked.toSorted()).toEqual([label, label, 'registrar of page.example'])
  expect(await lookUp('https://q7w8e9r0t1y2.any.example/login')).toEqual([
    ['host', 'abuse@hoster.example'],
    ['registrar', 'abuse@registrar.example'],
  ])
})

test('a host that is an address has no registrar', async () => {
  expect(await lookUp('http://93.184.215.14/login')).toEqual([['host', 'abuse@hoster.example']])
  expect(asked).toEqual([])
})
