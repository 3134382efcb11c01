import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { importNetworks } from '../../../src/processes/import-networks.ts'
import { countReporterDays } from '../../../src/counting/campaign-counts.ts'
import { findLetterMessage, listLetters } from '../../../src/db/letters.ts'
import { unpack } from '../../../src/db/rows.ts'
import { putShadowBan } from '../../../src/db/shadow-bans.ts'
import { runAdviseReporter } from '../../../src/letters/advise-reporter.ts'
import { runForwardReport, runShowForwarded } from '../../../src/feedback/forward-report.ts'
import { runPaceFeedback } from '../../../src/feedback/pace-feedback.ts'
import { releaseHeld } from '../../../src/feedback/release-held.ts'
import { openForwarding } from '../../../src/feedback/select-sendable.ts'
import type { Mailer } from '../../../src/net/mailer.ts'
import { addWebhook, webhookEvents } from '../../../src/people/webhooks.ts'
import { runRedeemReport } from '../../../src/reports/redeem-report.ts'
import { UNDO_MS } from '../../../src/reports/restore-reports.ts'
import { releaseHeldReports } from '../../../src/reports/shadow-bans.ts'
import { endLateUndos } from '../../../src/reports/undo-retraction.ts'
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

const sentMails: string[] = []
const mailer: Mailer = {
  send: ({ envelope }) => {
    sentMails.push(envelope.from)
    return Promise.resolve({ outcome: 'accepted', reply: '250 taken' })
  },
  close: () => Promise.resolve(),
}

/** Runs the jobs of the feedback reports about some reports, as a worker does. */
async function forward(ids: readonly string[], { hasMailer = true } = {}) {
  const tools = { ...site.app, parser, mailer: hasMailer ? mailer : undefined }
  for (const name of ['forward-report', 'show-forwarded'] as const) {
    const { rows } = await site.app.pool.query<{ id: string; data: Key }>(
      `delete from pgboss.job where name = $1 and data ->> 'reportId' = any($2) returning data`,
      [name, ids],
    )
    const payloads = rows.map(({ data: { reportId, number } }) => ({ reportId, number }))
    const run = name === 'forward-report' ? runForwardReport : runShowForwarded
    const outcomes = await run(payloads, tools, openForwarding(site.app))
    expect(new Set(outcomes.map((one) => JSON.stringify(one))).size).toBeLessThan(2)
  }
}

type Key = { reportId: string; number: number }

/** Returns the events that the webhooks of both have got, in order. */
async function toldWebhooks(ids: { banned: string; usual: string }) {
  const eventsOf = async (id: string) => {
    const { rows } = await site.app.pool.query<{ event: string }>(
      'select event from webhook_deliveries where report_id = $1 order by id',
      [id],
    )
    return rows.map(({ event }) => event)
  }
  return { one: await eventsOf(ids.banned), other: await eventsOf(ids.usual) }
}

/** Checks that the banned and the ordinary reporter see the same now; returns what they see. */
async function sameNow({ banned: one, usual: other }: { banned: string; usual: string }) {
  const [own, usualOnes] = [await seenOf(banned, one), await seenOf(usual, other)]
  expect(own).toEqual(usualOnes)
  return own
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
    correction: await page(`/reports/${id}/told/2`),
    copy: await page(`/reports/${id}/told/1/message.eml`),
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

test('both see that a report is forwarded, and no mail leaves for the banned one', async () => {
  await site.app.pool.query(`update consumers set pace = 'at-once'`)
  for (const { id } of [banned, usual]) {
    await addWebhook(site.app, id, { url: 'https://hooks.example.org/', events: webhookEvents })
  }
  const { ids } = await bothSeen(spamMessage('forwarded'), 'spam')
  sentMails.length = 0
  await forward([ids.banned])
  expect(sentMails).toEqual([])
  await forward([ids.usual])
  expect(sentMails).toHaveLength(1)
  const seen = await sameNow(ids)
  expect(seen['answer']).toContain('"status":"forwarded"')
  expect(seen['answer']).toContain('"event":"sent"')
  const told = await toldWebhooks(ids)
  expect(told.one).toEqual(told.other)
  expect(told.one).toContain('report.told')
  const { rows } = await site.app.pool.query(
    'select state, message_id from feedback_reports where report_id = $1',
    [ids.banned],
  )
  expect(rows).toEqual([{ state: 'shadowed', message_id: null }])
})

test('both see that a forwarded report is retracted, with its correction', async () => {
  const { ids } = await bothSeen(spamMessage('corrected'), 'spam')
  await forward([ids.banned, ids.usual])
  for (const [person, id] of [[banned, ids.banned] as const, [usual, ids.usual] as const]) {
    const headers = { authorization: `Bearer ${person.token}` }
    await fetch(`${site.url}/api/v1/reports/${id}`, { method: 'DELETE', headers })
  }
  await sameNow(ids)
  await runRedeemReport([{ reportId: ids.banned }, { reportId: ids.usual }], site.app)
  await sameNow(ids)
  // Until the reporters can no longer undo it, the desk is not notified.
  await endLateUndos({ ...site.app, clock: () => new Date(Date.now() + UNDO_MS) })
  await sameNow(ids)
  sentMails.length = 0
  await forward([ids.banned, ids.usual])
  expect(sentMails).toHaveLength(1)
  expect((await sameNow(ids))['story']).toContain('/told/2')
})

test('both see that mail is held without a mail server, and when it is released', async () => {
  const { ids } = await bothSeen(spamMessage('held'), 'spam')
  await forward([ids.banned, ids.usual], { hasMailer: false })
  expect((await sameNow(ids))['answer']).toContain('"event":"held"')
  const config = { ...site.app.config, smtpUrl: 'smtp://127.0.0.1:9' }
  await runAction(releaseHeld, {}, { ...site.app, config }, null)
  await sameNow(ids)
  await forward([ids.banned, ids.usual])
  expect((await sameNow(ids))['answer']).toContain('"status":"forwarded"')
})

test('both see when the time of a desk comes that is notified each hour', async () => {
  await site.app.pool.query(`update consumers set pace = 'campaign'`)
  const { ids } = await bothSeen(spamMessage('hourly'), 'spam')
  await runPaceFeedback(site.app)
  await forward([ids.banned, ids.usual])
  expect((await sameNow(ids))['answer']).toContain('"status":"analyzed"')
  await site.app.pool.query('update feedback_reports set due_at = $2 where report_id = any($1)', [
    [ids.banned, ids.usual],
    new Date(Date.now() - 60_000),
  ])
  await runPaceFeedback(site.app)
  await sameNow(ids)
  await forward([ids.banned, ids.usual])
  expect((await sameNow(ids))['answer']).toContain('"status":"forwarded"')
  await site.app.pool.query(`update consumers set pace = 'at-once'`)
})

test('both see that a desk stopped before it was notified', async () => {
  const { ids } = await bothSeen(spamMessage('stopped'), 'spam')
  await site.app.pool.query(`update consumers set state = 'stopped'`)
  await forward([ids.banned, ids.usual])
  await site.app.pool.query(`update consumers set state = 'found'`)
  expect((await sameNow(ids))['answer']).toContain('"event":"withdrawn"')
})

test('a report that is released after it was shown as forwarded is sent once', async () => {
  const { ids } = await bothSeen(spamMessage('released'), 'spam')
  await forward([ids.banned, ids.usual])
  const before = await sameNow(ids)
  const action = { reporter: banned.id, report: ids.banned }
  expect(await runAction(releaseHeldReports, action, site.app, null)).toMatchObject({ count: 1 })
  await work([ids.banned])
  sentMails.length = 0
  await forward([ids.banned])
  await forward([ids.banned])
  expect(sentMails).toHaveLength(1)
  expect(await seenOf(banned, ids.banned)).toEqual(before)
  const told = await toldWebhooks(ids)
  expect(told.one).toEqual(told.other)
})

/** `npm run torture shadow` compares ten times as many answers. */
test('a banned client cannot detect the ban by status, header, body or time', async () => {
  const both = { url: site.url, banned: banned.token, usual: usual.token }
  expect(await compareAnswers(both, 100)).toEqual([])
})
