import { expect, test } from 'vitest'
import { askAbout, type DnsTools } from '../../../../src/origin/authenticity/ask-dns.ts'
import { questionsOf } from '../../../../src/origin/authenticity/spf.ts'
import { spamMessage } from '../../../support/messages.ts'
import { deadDns, fakeDns, rsaKey, signed } from '../../../support/signing.ts'

const options = { trustedRelays: [], ignoreStamps: false }
const never = new AbortController().signal
const raw = await signed(spamMessage('asked'), { domain: 'shop.example', key: rsaKey() })
const listing = {
  zone: 'bl.example',
  subject: '198.51.100.23',
  codes: ['127.0.0.2'],
  category: 'spam' as const,
  meaning: 'It sends spam.',
}

function tools(more: Partial<DnsTools>): DnsTools {
  return { resolve: deadDns, listings: () => Promise.resolve([]), ...more }
}

test('the queries of a message are for its origin, its author and its signatures', () => {
  expect(questionsOf(raw, options)).toEqual({
    texts: ['s1._domainkey.shop.example', '_dmarc.shop.example'],
    spf: { ip: '198.51.100.23', helo: 'mail.shop.example', mailFrom: 'offers@shop.example' },
    addresses: ['198.51.100.23'],
    domains: ['shop.example'],
  })
})

test('a trusted relay is not the origin', () => {
  const { addresses, spf } = questionsOf(raw, { ...options, trustedRelays: ['198.51.100.0/24'] })
  expect({ addresses, spf }).toEqual({ addresses: [], spf: undefined })
})

test('answers and listings are found under their query', async () => {
  const { resolve } = fakeDns({
    'TXT _dmarc.shop.example': ['v=DMARC1; p=none'],
    'TXT shop.example': ['v=spf1 +all'],
  })
  const listings: DnsTools['listings'] = ({ addresses }) =>
    Promise.resolve(addresses.includes(listing.subject) ? [listing] : [])
  expect(await askAbout(raw, options, { resolve, listings }, never)).toEqual({
    answers: {
      'TXT s1._domainkey.shop.example': { is: 'none' },
      'TXT _dmarc.shop.example': { is: 'found', records: ['v=DMARC1; p=none'] },
    },
    spf: { ip: '198.51.100.23', result: 'pass', domain: 'shop.example' },
    listings: [listing],
  })
})

test('answers that are late are unknown; the others are kept', async () => {
  const late = new AbortController()
  const { resolve } = fakeDns({ 'TXT _dmarc.shop.example': ['v=DMARC1; p=none'] })
  const found = askAbout(
    raw,
    options,
    {
      resolve: (name, type) =>
        name.startsWith('_dmarc.') ? resolve(name, type) : new Promise(() => undefined),
      listings: () => new Promise(() => undefined),
    },
    late.signal,
  )
  setImmediate(() => late.abort())
  expect(await found).toEqual({
    answers: {
      'TXT s1._domainkey.shop.example': {
        is: 'unknown',
        why: 'The DNS look-up took too long.',
      },
      'TXT _dmarc.shop.example': { is: 'found', records: ['v=DMARC1; p=none'] },
    },
    spf: { ip: '198.51.100.23', result: 'temperror', domain: 'shop.example' },
    listings: [],
  })
})

test('without time left no query is sent', async () => {
  const { resolve, asked } = fakeDns({})
  const found = await askAbout(raw, options, tools({ resolve }), AbortSignal.abort())
  expect(found.spf?.result).toBe('temperror')
  expect(asked).toEqual([])
})

test('a failing resolver counts as no answer', async () => {
  const broken = () => Promise.reject(new Error('Out of order.'))
  const found = await askAbout(raw, options, { resolve: broken, listings: broken }, never)
  expect(Object.values(found.answers).map(({ is }) => is)).toEqual(['unknown', 'unknown'])
  expect(found).toMatchObject({ spf: { result: 'temperror' }, listings: [] })
})

test('the records of a hostile zone are cut before they are passed on', async () => {
  const { resolve } = fakeDns({
    'TXT _dmarc.shop.example': Array<string>(1_000).fill('x'.repeat(60_000)),
  })
  const { answers } = await askAbout(raw, options, tools({ resolve }), never)
  expect(JSON.stringify(answers).length).toBeLessThan(50_000)
})
