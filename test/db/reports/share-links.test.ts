import { beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../../src/db/pool.ts'
import { putShadowBan, removeShadowBan } from '../../../src/db/shadow-bans.ts'
import { runForwardReport } from '../../../src/feedback/forward-report.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { parser } from '../../support/parser.ts'

const app = { ...(await closeAfterTests(openTestApp())), parser }

const words =
  'Our autumn catalog has watches, shoes and coats for everybody who likes to walk in rain.'

/** One message of a mailing: `page` is the same for all, `token` is not. */
function mailing(to: string, page: string, token: string) {
  return Buffer.from(
    [
      'Return-Path: <offers@shop.example>',
      'Received: from mail.shop.example (mail.shop.example [198.51.100.23])',
      ' by mx.provider.example (Postfix) with ESMTPS id 4ABC',
      ` for <${to}>; Mon, 16 Nov 2026 10:00:00 +0000`,
      'From: "Great Offers" <offers@shop.example>',
      `To: ${to}`,
      `Subject: Autumn catalog ${page.slice(0, 4)}`,
      'Date: Mon, 16 Nov 2026 09:59:57 +0000',
      `Message-ID: <${token}@shop.example>`,
      '',
      `${words} Please look at page ${page.slice(0, 4)} in the new list of the largest offers.`,
      `https://shop.example/${page}/${token}`,
      '',
    ].join('\r\n'),
  )
}

let made = 0

async function accounts(count: number): Promise<string[]> {
  const added: string[] = []
  while (added.length < count) {
    const email = `reporter${++made}@place${made}.example`
    const given = { email, password: undefined, role: null, wantsToken: false }
    added.push((await addAccount(given, app)).id)
  }
  return added
}

/** Reports a message; returns the text that the desk gets. */
async function desk(reporterId: string, raw: Buffer, more: { isShadowed?: boolean } = {}) {
  const { id } = await app.report(raw, { reporterId, ...more })
  await runAnalyzeReport([{ reportId: id }], app)
  const mails: string[] = []
  const mailer = {
    send: ({ raw }: { raw: Buffer }) => {
      mails.push(raw.toString().replaceAll('=\r\n', ''))
      return Promise.resolve({ outcome: 'accepted' as const, reply: '250 taken' })
    },
    close: () => Promise.resolve(),
  }
  await runForwardReport([{ reportId: id, number: 1 }], { ...app, mailer })
  return mails.join('\n')
}

const stored = async () =>
  (await app.rows('select count(*)::integer as n from campaign_link_parts'))[0]?.['n']

beforeEach(() => app.pool.query('truncate campaign_link_parts'))

test('a desk sees the part of a link that three independent reporters received', async () => {
  const [one = '', two = '', three = ''] = await accounts(3)
  const page = 'aq7Tz81Xk'
  const send = (id: string, at: number) =>
    mailing(`u${at}@p${at}.example`, page, `${id.slice(-6)}x9`)
  expect(await desk(one, send(one, 1))).not.toContain(page)
  expect(await desk(two, send(two, 2))).not.toContain(page)
  const third = await desk(three, send(three, 3))
  expect(third).toMatch(new RegExp(`https://shop\\.example/${page}/redacted-[a-z2-7]{16}`))
  expect(third).not.toContain(`${three.slice(-6)}x9`)
  // Nothing is new in a fourth report but its token; it is stored with it.
  expect(await stored()).toBe(3)
})

test('one reporter, and one recipient of several accounts, share nothing', async () => {
  const page = 'bq7Tz81Xk'
  const [one = '', two = '', three = ''] = await accounts(3)
  for (const at of [1, 2, 3]) await desk(one, mailing(`u${at}@p${at}.example`, page, `9x${at}kQ27`))
  expect(await stored()).toBe(1)
  for (const id of [two, three]) {
    expect(await desk(id, mailing('u3@p3.example', page, `9x${id.slice(-4)}kQ27`))).not.toContain(
      page,
    )
  }
})

test('held reports share nothing, nor do those of a reporter who is banned later', async () => {
  const page = 'cq7Tz81Xk'
  const [one = '', two = '', three = '', four = ''] = await accounts(4)
  await desk(one, mailing('u1@p1.example', page, '9x1kQ27'), { isShadowed: true })
  await desk(two, mailing('u2@p2.example', page, '9x2kQ27'))
  await desk(three, mailing('u3@p3.example', page, '9x3kQ27'))
  expect(await stored()).toBe(2)
  const ban = { reporterId: two, reason: 'x', imposedAt: new Date(), imposedBy: null }
  await inTransaction(app.pool, (tx) => putShadowBan(tx, ban))
  expect(await desk(four, mailing('u4@p4.example', page, '9x4kQ27'))).not.toContain(page)
})

test('a ban that is lifted leaves what its reporter shared as if it had never been', async () => {
  const page = 'eq7Tz81Xk'
  const [one = '', two = '', three = ''] = await accounts(3)
  await desk(one, mailing('u1@p1.example', page, '9x1kQ27'))
  await desk(two, mailing('u2@p2.example', page, '9x2kQ27'))
  const ban = { reporterId: one, reason: 'x', imposedAt: new Date(), imposedBy: null }
  await inTransaction(app.pool, (tx) => putShadowBan(tx, ban))
  await inTransaction(app.pool, (tx) => removeShadowBan(tx, one))
  expect(await desk(three, mailing('u3@p3.example', page, '9x3kQ27'))).toContain(page)
})

test('at most 32 reporters of a campaign are kept, the latest ones', async () => {
  const page = 'dq7Tz81Xk'
  const ids = await accounts(34)
  const reports = await Promise.all(
    ids.map((reporterId, at) =>
      app.report(mailing(`u${at}@p${at}.example`, page, `9x${at}kQ27Z`), { reporterId }),
    ),
  )
  for (const { id } of reports) await runAnalyzeReport([{ reportId: id }], app)
  expect(await stored()).toBe(32)
})
