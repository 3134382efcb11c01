import { expect, test } from 'vitest'
import { findAnalysis } from '../../../src/db/analyses.ts'
import { findLetterMessage } from '../../../src/db/letters.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { listProbes } from '../../../src/db/mail-probes.ts'
import { listEvents } from '../../../src/db/report-events.ts'
import { listRelays } from '../../../src/db/reporter-relays.ts'
import { findReport } from '../../../src/db/reports.ts'
import { askForAccount } from '../../../src/letters/account-letters.ts'
import { sendDueProbe, sendProbe } from '../../../src/letters/probe-letter.ts'
import { openLetter } from '../../../src/letters/send-letter.ts'
import { composeLetterReturnPath } from '../../../src/mail/verp.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { runKeepHouse } from '../../../src/reports/keep-house.ts'
import type { Resolve } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { relayedMessage } from '../../support/messages.ts'
import { parser } from '../../support/parser.ts'

const ours = '203.0.113.99'
/** The zone of a site that sends from one address. */
const resolve: Resolve = async (name, type) =>
  type === 'TXT' && name === 'bounces.test.example'
    ? { is: 'found', records: [`v=spf1 ip4:${ours} -all`] }
    : { is: 'none' }
const dns = { resolve, listings: async () => [] }

/** A site with two reporters: letters can be taken from it, and reported as they arrived. */
async function site(env: Record<string, string> = { SMTP_URL: 'smtp://relay.test.example' }) {
  const app = await closeAfterThisTest(openTestApp({ ...env, ORIGIN_CONFIDENCE_MIN: '0.7' }))
  let now = new Date()
  const its = { ...app, clock: () => now, parser, dns }
  const ann = { id: app.ann, email: 'ann@reporters.example' }
  /** Sends a test letter to ann; returns it as our mail server got it. */
  const letter = async () => {
    now = new Date(now.getTime() + 1_000)
    expect(await sendProbe(its, ann)).toBe('sent')
    const [row] = await app.rows(`select id from letters where kind = 'probe' order by id desc`)
    const id = String(row?.['id'])
    const copy = await findLetterMessage(app.pool, id)
    if (!copy) throw new Error('There is no letter.')
    return { raw: await openLetter(id, copy, its.config.secret), id }
  }
  const analyze = async (raw: Buffer, reporterId = app.ann) => {
    const { id } = await app.report(raw, { reporterId })
    await runAnalyzeReport([{ reportId: id }], its)
    // A letter changes what is known of its own way, so it is analyzed again.
    await runAnalyzeReport([{ reportId: id }], its)
    return id
  }
  return {
    ...{ app: its, ann, letter, analyze },
    later: (days: number) => void (now = new Date(now.getTime() + days * 86_400_000)),
    codes: async (id: string) =>
      (await listEvents(app.pool, id)).flatMap(({ phrases }) => phrases.map(({ code }) => code)),
    relays: async () => (await listRelays(app.pool, app.ann)).map(({ cidr, how }) => [cidr, how]),
  }
}

/** The lines of an installation whose border is of another domain, above those of our relay. */
const way = (date = 'Mon, 16 Nov 2026 10:00:02 +0000') =>
  [
    `Received: from mx.hoster.example (mx.hoster.example [192.0.2.10]) by mail.home.example (Postfix) with ESMTPS id 4A3 for <ann@reporters.example>; ${date}`,
    `Received: from relay.test.example (relay.test.example [${ours}]) by mx.hoster.example (Postfix) with ESMTPS id 4A2 for <ann@reporters.example>; ${date}`,
    `Received: from signalpost (unknown [10.0.0.1]) by relay.test.example (Postfix) with ESMTP id 4A1; ${date}`,
    '',
  ].join('\r\n')

const arrived = (raw: Buffer, date?: string) => Buffer.concat([Buffer.from(way(date)), raw])

const spam = (mark: string) =>
  Buffer.from(
    relayedMessage(mark)
      .toString()
      .replaceAll('relay.provider.example', 'mx.hoster.example')
      .replaceAll('mx.home.example', 'mail.home.example'),
  )

test('a reported test letter shows the reporter’s side, and opens earlier questions', async () => {
  const { app, letter, analyze, codes, relays } = await site()
  const asked = await analyze(spam('before'))
  expect((await findAnalysis(app.pool, asked))?.details.consequence.action).toBe('ask')
  const { raw, id: letterId } = await letter()
  const id = await analyze(arrived(raw))
  expect(await codes(id)).toEqual(expect.arrayContaining(['probe-taken', 'no-effect']))
  expect((await findReport(app.pool, id))?.state).toBe('kept')
  expect(await relays()).toEqual([['192.0.2.10/32', 'set']])
  expect(await listProbes(app.pool, app.ann)).toMatchObject([
    { letterId, reportId: id, border: 'mx.hoster.example', relays: 1 },
  ])
  expect((await findReport(app.pool, asked))?.state).toBe('received')
  await runAnalyzeReport([{ reportId: asked }], app)
  expect(await findAnalysis(app.pool, asked)).toMatchObject({
    originIp: '198.51.100.23',
    originConfidence: 0.9,
  })
  expect(await app.rows('select * from feedback_reports where report_id = $1', [id])).toEqual([])
  expect(await app.rows('select * from reported_evidence where id = $1', [id])).toEqual([])
  expect(await app.rows('select * from counted_reports where id = $1', [id])).toEqual([])
})

test('at the border itself, its name makes the hand-over certain', async () => {
  const { app, letter, analyze } = await site()
  const lower =
    'Received: from a (a [203.0.113.50]) by mail.shop.example id 2 for <you@home.example>; ' +
    'Mon, 16 Nov 2026 09:59:58 +0000'
  const handed = (mark: string) => {
    const atBorder = spam(mark).toString().split('\r\n').slice(3).join('\r\n')
    return Buffer.from(atBorder.replace('From: ', `${lower}\r\nFrom: `))
  }
  const before = await analyze(handed('before'))
  expect((await findAnalysis(app.pool, before))?.details.consequence.action).toBe('ask')
  const { raw } = await letter()
  const direct = arrived(raw).toString('latin1').split('\r\n').slice(1).join('\r\n')
  const found = { originIp: '198.51.100.23', originConfidence: 0.9 }
  const spamId = (await app.report(handed('beside'))).id
  const { id } = await app.report(Buffer.from(direct, 'latin1'))
  for (let run = 0; run < 2; run++) {
    await runAnalyzeReport([{ reportId: id }, { reportId: spamId }], app)
  }
  expect(await listProbes(app.pool, app.ann)).toMatchObject([{ relays: 0 }])
  expect(await findAnalysis(app.pool, spamId)).toMatchObject(found)
  await runAnalyzeReport([{ reportId: before }], app)
  expect(await findAnalysis(app.pool, before)).toMatchObject(found)
})

test('a test letter that another account reports shows no way, and accuses nobody', async () => {
  const { app, letter, analyze, codes, relays } = await site()
  const { raw } = await letter()
  const direct = arrived(raw).toString('latin1').split('\r\n').slice(1).join('\r\n')
  const rewritten = direct.replace(/^Reply-To: .*$/m, 'Reply-To: list@lists.example')
  for (const text of [direct, rewritten]) {
    const id = await analyze(Buffer.from(text, 'latin1'), app.bob)
    expect(await codes(id)).toEqual(expect.arrayContaining(['own-letter', 'no-effect']))
    expect(await listFeedback(app.pool, [id])).toEqual([])
  }
  expect(await relays()).toEqual([])
  expect(await listRelays(app.pool, app.bob)).toEqual([])
  // Whoever copies its header into other mail sends from elsewhere.
  const copied = direct.replaceAll(ours, '198.51.100.23')
  const id = await analyze(Buffer.from(copied, 'latin1'), app.bob)
  expect(await codes(id)).not.toContain('no-effect')
})

test('a letter to a mailbox user counts for the account for which it was sent', async () => {
  const { app, analyze, codes } = await site()
  const user = { id: app.bob, email: 'box@customer.example', isMailboxUser: true }
  const { letterId } = await sendDueProbe(app, user)
  const copy = await findLetterMessage(app.pool, letterId ?? '')
  if (!copy) throw new Error('There is no letter.')
  const raw = arrived(await openLetter(letterId ?? '', copy, app.config.secret))
  expect(await codes(await analyze(raw))).not.toContain('probe-taken')
  expect(await codes(await analyze(raw, app.bob))).toContain('probe-taken')
  expect(await listProbes(app.pool, app.bob)).toMatchObject([{ border: 'mx.hoster.example' }])
})

test('a letter that confirms an address serves as well, by its return path', async () => {
  const { app, analyze, codes, relays } = await site()
  const address = 'ann@reporters.example'
  await askForAccount(
    { address, language: 'en', consent: 'v1' },
    { ...app, publicUrl: 'https://x' },
  )
  const [row] = await app.rows('select id from letters where kind = $1', ['account'])
  const id = String(row?.['id'])
  const copy = await findLetterMessage(app.pool, id)
  const raw = copy && (await openLetter(id, copy, app.config.secret))
  if (!raw) throw new Error('There is no letter.')
  expect(await codes(await analyze(arrived(raw)))).not.toContain('probe-taken')
  expect(await relays()).toEqual([])
  const { returnPathDomain: domain, secret } = app.config
  const path = composeLetterReturnPath(id, { domain, secret })
  const returned = Buffer.concat([Buffer.from(`Return-Path: <${path}>\r\n`), arrived(raw)])
  expect(await codes(await analyze(returned))).toContain('probe-taken')
  expect(await relays()).toEqual([['192.0.2.10/32', 'set']])
})

test('a way that passes the same machine twice is taken', async () => {
  const { letter, analyze, codes, relays } = await site()
  const { raw } = await letter()
  const [first = '', ...others] = arrived(raw).toString('latin1').split('\r\n')
  const twice = [first, first.replace('4A3', '4A4'), ...others].join('\r\n')
  expect(await codes(await analyze(Buffer.from(twice, 'latin1')))).toContain('probe-taken')
  expect(await relays()).toEqual([['192.0.2.10/32', 'set']])
})

test('so is one whose address for answers is not signed by us', async () => {
  const { letter, analyze, codes, relays } = await site()
  const { raw } = await letter()
  const forged = raw
    .toString('latin1')
    .replace(/(?<=Reply-To: la-\S{30})./, (one) => (one === 'a' ? 'b' : 'a'))
  const id = await analyze(arrived(Buffer.from(forged, 'latin1')))
  expect(await codes(id)).not.toContain('no-effect')
  expect(await relays()).toEqual([])
})

test('a test letter counts once, and for two weeks', async () => {
  const { app, letter, analyze, codes, relays, later } = await site()
  const { raw } = await letter()
  await analyze(arrived(raw))
  await app.pool.query('delete from reporter_relays')
  const again = await analyze(arrived(raw, 'Mon, 16 Nov 2026 11:00:00 +0000'))
  expect(await codes(again)).toContain('probe-again')
  expect(await relays()).toEqual([])
  const { raw: second } = await letter()
  later(15)
  const late = await analyze(arrived(second))
  expect(await codes(late)).toEqual(expect.arrayContaining(['probe-late', 'no-effect']))
  expect(await relays()).toEqual([])
})

test('a test letter without its way asks for another form', async () => {
  const { letter, analyze, codes } = await site()
  const { raw } = await letter()
  expect(await codes(await analyze(raw))).toContain('probe-without-way')
})

test('three test letters a day are sent, and none without a mail server', async () => {
  const { app, ann, later } = await site()
  for (let count = 0; count < 3; count++) expect(await sendProbe(app, ann)).toBe('sent')
  expect(await sendProbe(app, ann)).toBe('too-many')
  later(1.1)
  expect(await sendProbe(app, ann)).toBe('sent')
  const trial = await site({})
  expect(await sendProbe(trial.app, trial.ann)).toBe('no-mail')
})

test('a program is sent a test letter only when one is due', async () => {
  const { app, ann, analyze, later } = await site()
  const first = await sendDueProbe(app, ann)
  expect(first.is).toBe('sent')
  const both = await Promise.all([sendDueProbe(app, ann), sendDueProbe(app, ann)])
  for (const one of both) expect(one).toEqual({ is: 'under-way', letterId: first.letterId })
  const id = first.letterId ?? ''
  const copy = await findLetterMessage(app.pool, id)
  const raw = copy && (await openLetter(id, copy, app.config.secret))
  await analyze(arrived(raw ?? Buffer.alloc(0)))
  expect(await sendDueProbe(app, ann)).toEqual({ is: 'known', letterId: null })
  later(8)
  await runKeepHouse(app)
  expect(await sendDueProbe(app, ann)).toEqual({ is: 'known', letterId: null })
  const monthAgo = new Date(app.clock().getTime() - 31 * 86_400_000)
  await app.pool.query('update mail_probes set came_at = $1', [monthAgo])
  const second = await sendDueProbe(app, ann)
  expect(second.is).toBe('sent')
  expect(await sendDueProbe(app, ann)).toEqual({ is: 'under-way', letterId: second.letterId })
  const trial = await site({})
  expect(await sendDueProbe(trial.app, trial.ann)).toEqual({ is: 'no-mail', letterId: null })
})
