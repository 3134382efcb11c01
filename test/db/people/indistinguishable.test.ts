import { expect, test } from 'vitest'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { countReporterDays } from '../../../src/counting/campaign-counts.ts'
import { findLetterMessage, listLetters } from '../../../src/db/letters.ts'
import { unpack } from '../../../src/db/rows.ts'
import { putShadowBan } from '../../../src/db/limits.ts'
import { runAdviseReporter } from '../../../src/letters/advise-reporter.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { testJudge } from '../../support/judge.ts'
import { relayedMessage, sampleNetworks, spamMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'
import { compareAnswers } from '../../support/torture/shadow/compare-answers.ts'
import { signedInBrowser } from '../web/browser.ts'
import { startWebSite, type Person } from '../web/web-site.ts'
import { newsletter, newsletterDns } from '../marketers/newsletters.ts'

const site = await closeAfterTests(startWebSite())
await importNetworks(sampleNetworks, site.app)
await site.app.pool.query('update rate_limits set attempts_max = 1000000')
// The addresses have equal length, because answers with a shorter address would be shorter.
const reporter = async (email: string) => {
  const person = await site.addPerson(email)
  return { ...person, browser: await signedInBrowser(site.url, person) }
}
type Reporter = Awaited<ReturnType<typeof reporter>>
const [banned, usual] = [await reporter('eve@x.example'), await reporter('bob@x.example')]
const ban = { reason: 'a test', imposedAt: new Date(), imposedBy: null }
await putShadowBan(site.app.pool, { reporterId: banned.id, ...ban })
/**
 * Removes the differences between any two reporters: ids, tokens, times, names and signatures of
 * links.
 */
function normalized(text: string, { email, id }: Person): string {
  return text
    .replaceAll(email, 'REPORTER')
    .replaceAll(id, 'ID')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d\d?:\d\d(:\d\d)?( [AP]M)?/g, 'CLOCK')
    .replaceAll(/(nonce-|nonce="|csrf"? value="|Message-ID: <|boundary=")[^"'>; ]+/gi, '$1TOKEN')
    .replaceAll(/[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_-]+)*/g, 'TOKEN')
}

async function post(person: Person, raw: Buffer<ArrayBuffer>, kind = 'spam'): Promise<string> {
  const answer = await fetch(`${site.url}/api/v1/reports?kind=${kind}`, {
    method: 'POST',
    body: raw,
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'message/rfc822' },
  })
  return ((await answer.json()) as { id: string }).id
}

async function work(ids: readonly string[]): Promise<void> {
  const payloads = ids.map((reportId) => ({ reportId }))
  const judge = testJudge(site.app.pool, site.app.clock)
  const tools = { ...site.app, parser, dns: newsletterDns(), rdap: undefined, judge }
  for (const payload of payloads) await runAnalyzeReport([payload], tools)
  await runAdviseReporter(payloads, site.app)
}

/**
 * Returns everything that a reporter can see of a report: the API, the pages, the list, the
 * letters.
 */
async function seenOf(person: Reporter, id: string): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${person.token}` }
  const ask = async (path: string) => (await fetch(`${site.url}${path}`, { headers })).text()
  const page = async (path: string) => (await person.browser.get(path)).text()
  await countReporterDays(site.app.pool, () => new Date(Date.now() + 7_200_000))
  const letters = (await listLetters(site.app.pool, {}, 1_000)).filter((one) => one.reportId === id)
  const copies = letters.map(async (letter) => {
    const packed = await findLetterMessage(site.app.pool, letter.id)
    return packed ? (await unpack(packed)).toString().replaceAll('=\r\n', '') : ''
  })
  const seen = {
    answer: await ask(`/api/v1/reports/${id}`),
    answers: await ask('/api/v1/reports'),
    message: await ask(`/api/v1/reports/${id}/raw`),
    story: await page(`/reports/${id}`),
    told: await page(`/reports/${id}/told/1`),
    question: await page(`/reports/${id}/retract`),
    list: await page('/reports'),
    statistics: await page('/reports/statistics'),
    letters: (await Promise.all(copies)).join('\n'),
  }
  return Object.fromEntries(
    Object.entries(seen).map(([name, text]) => [name, normalized(text, person)]),
  )
}

async function bothSeen(raw: Buffer<ArrayBuffer>, ...kinds: string[]) {
  const ids = { banned: '', usual: '' }
  for (const kind of kinds) {
    ids.banned = await post(banned, raw, kind)
    ids.usual = await post(usual, raw, kind)
    await work([ids.banned, ids.usual])
  }
  return { one: await seenOf(banned, ids.banned), other: await seenOf(usual, ids.usual), ids }
}

test('a message with an origin and a network looks the same to both', async () => {
  const { one, other } = await bothSeen(spamMessage('first'), 'spam')
  expect(one.answer).toContain('198.51.100.23')
  expect(one.story).toContain('198.51.100.23')
  expect(one.told).toContain('198.51.100.23')
  expect(one).toEqual(other)
})

test('a newsletter brings both the same advice by letter', async () => {
  const raw = Buffer.from(await newsletter({ mark: 'autumn' }))
  const { one, other } = await bothSeen(raw, 'spam')
  expect(one.letters).toContain('Subject:')
  expect(one).toEqual(other)
})

test('a message with an open question', async () => {
  const { one, other } = await bothSeen(relayedMessage('asks'), 'spam')
  expect(one).toEqual(other)
})

test('a message for a desk that is notified later', async () => {
  await site.app.pool.query(`update consumers set pace = 'campaign'`)
  const { one, other } = await bothSeen(spamMessage('paced'), 'spam')
  expect(one.answer).toContain('198.51.100.23')
  expect(one).toEqual(other)
})

test('a message whose kind is changed before and after analysis', async () => {
  const { one, other } = await bothSeen(spamMessage('changed'), 'spam', 'not-spam', 'phishing')
  expect(one).toEqual(other)
})

test('a message that is retracted', async () => {
  const { ids } = await bothSeen(spamMessage('retracted'), 'spam')
  for (const [person, id] of [[banned, ids.banned] as const, [usual, ids.usual] as const]) {
    const headers = { authorization: `Bearer ${person.token}` }
    await fetch(`${site.url}/api/v1/reports/${id}`, { method: 'DELETE', headers })
  }
  expect(await seenOf(banned, ids.banned)).toEqual(await seenOf(usual, ids.usual))
})

/** `npm run torture shadow` compares ten times as many answers. */
test('a banned client cannot detect the ban by status, header, body or time', async () => {
  const both = { url: site.url, banned: banned.token, usual: usual.token }
  expect(await compareAnswers(both, 100)).toEqual([])
})
