import { expect, test } from 'vitest'
import type { DnsTools } from '../../../src/origin/authenticity/ask-dns.ts'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { relayedMessage, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { deadDns, fakeDns, rsaKey, signed } from '../../support/signing.ts'

const app = await closeAfterTests(openTestApp())

const key = rsaKey()
const nothing: DnsTools['listings'] = () => Promise.resolve([])

async function reported(
  mark: string,
  more: Parameters<typeof app.report>[1] = {},
): Promise<{ reportId: string }> {
  const raw = await signed(spamMessage(mark), { domain: 'shop.example', key })
  return { reportId: (await app.report(Buffer.from(raw), more)).id }
}

async function relayed(mark: string): Promise<{ reportId: string }> {
  return { reportId: (await app.report(relayedMessage(mark))).id }
}

async function kept({ reportId }: { reportId: string }) {
  const found = await findAnalysis(app.pool, reportId)
  if (!found) throw new Error('There is no analysis.')
  const [report] = await app.rows('select state from reports where id = $1', [reportId])
  return { state: report?.['state'], details: found.details }
}

test('DNS answers are stored with the analysis', async () => {
  const listing = {
    zone: 'bl.example',
    subject: '198.51.100.23',
    codes: ['127.0.0.2'],
    category: 'spam' as const,
    meaning: 'It sends spam.',
  }
  const { resolve } = fakeDns({
    'TXT s1._domainkey.shop.example': [key.record],
    'TXT shop.example': ['v=spf1 ip4:198.51.100.23 -all'],
    'TXT _dmarc.shop.example': ['v=DMARC1; p=reject'],
  })
  const dns = { resolve, listings: () => Promise.resolve([listing]) }
  const payload = await reported('dns-up')
  expect(await runAnalyzeReport([payload], { ...app, parser, dns })).toEqual(['done'])
  const { details } = await kept(payload)
  expect(details.listings).toEqual([listing])
  expect(details.authentication).toMatchObject({
    spf: { ip: '198.51.100.23', result: 'pass', domain: 'shop.example' },
    dkim: [{ domain: 'shop.example', result: 'pass', aligned: true }],
    dmarc: { result: 'pass', policy: 'reject', alignedBy: ['dkim', 'spf'] },
    arc: { result: 'none' },
  })
})

test('an unreachable DNS changes only what depends on its answers', async () => {
  const [dead, never] = [await reported('dns-down'), await reported('dns-none')]
  const dns = { resolve: deadDns, listings: nothing }
  expect(await runAnalyzeReport([dead], { ...app, parser, dns })).toEqual(['done'])
  expect(await runAnalyzeReport([never], { ...app, parser })).toEqual(['done'])
  const [down, none] = [await kept(dead), await kept(never)]
  expect(down.state).toBe('analyzed')
  expect(none.state).toBe('analyzed')
  expect(down.details.origin).toEqual(none.details.origin)
  expect(down.details.verdict).toEqual(none.details.verdict)
  expect(down.details).toMatchObject({
    listings: [],
    authentication: {
      spf: { result: 'temperror' },
      dkim: [{ result: 'temperror' }],
      dmarc: { result: 'unknown' },
    },
  })
  expect(none.details).toMatchObject({ listings: null, authentication: null })
})

test('a relay that the MX records name is passed, another one is asked about', async () => {
  const [known, unknown] = [await relayed('mx-known'), await relayed('mx-unknown')]
  const exchangers = { domain: '', names: ['relay.provider.example'], addresses: [] }
  const exchangersOf = () => Promise.resolve(exchangers)
  expect(await runAnalyzeReport([known], { ...app, parser, exchangersOf })).toEqual(['done'])
  expect(await runAnalyzeReport([unknown], { ...app, parser })).toEqual(['done'])
  expect((await kept(known)).details.origin).toMatchObject({ ip: '198.51.100.23', confidence: 0.9 })
  expect((await kept(unknown)).details.origin).toBeNull()
  expect((await kept(unknown)).state).toBe('kept')
})

test('a DNS client that fails delays nothing', async () => {
  const payload = await reported('dns-broken')
  const broken = () => Promise.reject(new Error('Out of order.'))
  const dns = { resolve: broken, listings: broken }
  expect(await runAnalyzeReport([payload], { ...app, parser, dns })).toEqual(['done'])
  expect((await kept(payload)).state).toBe('analyzed')
})

test('the DNS is queried for a whole batch at once', async () => {
  const payloads = await Promise.all(
    ['at-once-1', 'at-once-2', 'at-once-3'].map((mark) => reported(mark)),
  )
  let waiting = 0
  let release: () => void = () => undefined
  const allAsked = new Promise<void>((resolve) => {
    release = resolve
  })
  const dns: DnsTools = {
    resolve: deadDns,
    listings: async () => {
      if (++waiting === payloads.length) release()
      await allAsked
      return []
    },
  }
  expect(await runAnalyzeReport(payloads, { ...app, parser, dns })).toEqual([
    'done',
    'done',
    'done',
  ])
})

test('a reporter is asked about a verified author whose mail was wanted before', async () => {
  const { resolve } = fakeDns({ 'TXT s1._domainkey.shop.example': [key.record] })
  const verified = { ...app, parser, dns: { resolve, listings: nothing } }
  const consequenceOf = async (mark: string, reporterId = app.ann, its = verified) => {
    const payload = await reported(mark, { reporterId })
    await runAnalyzeReport([payload], its)
    return (await kept(payload)).details.consequence
  }
  expect(await consequenceOf('stranger')).toMatchObject({ action: 'forward' })
  await reported('friend', { kind: 'not-spam' })
  expect(await consequenceOf('friend-again')).toEqual({
    action: 'confirm',
    why: [{ code: 'author-wanted-before' }, { code: 'confirmation-asked' }],
  })
  expect(await consequenceOf('of-bob', app.bob)).toMatchObject({ action: 'forward' })
  const forged = { ...verified, dns: { resolve: deadDns, listings: nothing } }
  expect(await consequenceOf('forged', app.ann, forged)).toMatchObject({ action: 'forward' })
})
