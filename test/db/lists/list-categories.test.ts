import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { takeBackEvidence } from '../../../src/counting/evidence.ts'
import { findListings } from '../../../src/db/listings.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { requestDelisting } from '../../../src/lists/delist.ts'
import { runPublishLists } from '../../../src/lists/publish-lists.ts'
import type { VerdictClass } from '../../../src/verdict/verdict.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'
import { append, foldAll, reportedBy, start, vouchedReporters } from '../../support/evidence.ts'
import { ringOf } from '../../support/key-ring.ts'

const folder = await makeTestFolder()
const { pool, url } = await closeAfterTests(freshDatabase(start))
const config = readConfig({ LISTS_DIR: folder }, { cores: 1, cwd: '/nowhere' })
const app = {
  ...{ pool, clock: () => start, log: pino({ level: 'silent' }) },
  config: { ...config, databaseUrl: url, secret: ringOf('a secret of the tests') },
}
const name = 'www.bank-login.example'
const site = [
  { kind: 'link-host', name },
  { kind: 'link-domain', name: 'bank-login.example' },
] as const

beforeEach(async () => {
  await pool.query('truncate reputations, listings, delisting_requests, reported_evidence, karmas')
})

/** Counts a report of the site by each reporter, judged as a class. */
async function report(reporterIds: readonly string[], its: VerdictClass) {
  const kind = its === 'phishing' ? 'phishing' : 'spam'
  const verdict = { class: its, confidence: 0.99 }
  const about = { subjects: site, reportedAs: kind, verdict } as const
  const reports = await reportedBy(pool, reporterIds, about)
  await append(pool, reports)
  await foldAll(pool)
  return reports.map(({ reportId }) => reportId)
}

async function listedAs() {
  await runPublishLists(app)
  const zone = async (file: string) => (await readFile(path.join(folder, file), 'utf8')).split('\n')
  const [listing] = await findListings(pool, 'hosts', [name])
  const line = [...(await zone('hosts.dnset'))].find((one) => one.startsWith(name))
  const domain = [...(await zone('domains.dnset'))].find((one) => one.includes('bank-login'))
  const code = (of = '') => /127\.\d+\.\d+\.\d+/.exec(of)?.[0] ?? '127.0.0.2'
  return { category: listing?.category, host: code(line), domain: code(domain) }
}

test.for([
  ['spam', '127.0.0.2'],
  ['phishing', '127.0.0.4'],
  ['malware', '127.0.0.5'],
] as const)('ten reports judged as %s list the host and its domain with %s', async (row) => {
  const [its, code] = row
  await report(await vouchedReporters(pool, 10), its)
  expect(await listedAs()).toEqual({ category: its, host: code, domain: code })
})

test('one reporter of phishing gives no category, however often', async () => {
  await report(await vouchedReporters(pool, 12), 'spam')
  const [one = ''] = await vouchedReporters(pool, 1)
  for (let times = 0; times < 30; times++) await report([one], 'phishing')
  expect((await listedAs()).category).toBe('spam')
})

test('retracted and corrected reports take their category back', async () => {
  await report(await vouchedReporters(pool, 12), 'spam')
  const ids = await report(await vouchedReporters(pool, 6), 'phishing')
  expect((await listedAs()).category).toBe('phishing')
  await inTransaction(pool, (tx) => takeBackEvidence(tx, ids.slice(1), 'new-analysis', start))
  await report(await vouchedReporters(pool, 1), 'spam')
  await foldAll(pool)
  expect((await listedAs()).category).toBe('spam')
})

test('reports of phishing since the last edition also need a person for a delisting', async () => {
  await report(await vouchedReporters(pool, 10), 'spam')
  await runPublishLists(app)
  const [listing] = await findListings(pool, 'hosts', [name])
  if (!listing) throw new Error('The host is not listed.')
  expect(listing.category).toBe('spam')
  await report(await vouchedReporters(pool, 6), 'phishing')
  const form = { listing, asker: 'A', contact: 'a@host.example', done: 'It is repaired.' }
  await requestDelisting(app, { ...form, askerHash: Buffer.alloc(32) })
  const { rows } = await pool.query('select state from delisting_requests')
  expect(rows).toEqual([{ state: 'open' }])
  expect(await findListings(pool, 'hosts', [name])).toMatchObject([{ delistedAt: null }])
})
