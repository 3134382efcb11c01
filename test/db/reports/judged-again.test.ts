import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { listCampaignHeads } from '../../../src/db/campaigns.ts'
import { listFeedback } from '../../../src/db/feedback-reports.ts'
import { inTransaction } from '../../../src/db/pool.ts'
import { listEvents } from '../../../src/db/report-events.ts'
import { insertReporter } from '../../../src/db/reporters.ts'
import { insertKarma } from '../../../src/db/reputations.ts'
import { markResolved } from '../../../src/feedback/take-answer.ts'
import { runAnalyzeReport } from '../../../src/reports/analyze-report.ts'
import { confirmReport } from '../../../src/reports/change-report.ts'
import { decideCampaign, undecideCampaign } from '../../../src/reports/campaign-decisions.ts'
import { runJudgeCampaigns } from '../../../src/reports/decide-again.ts'
import { reopenMembers } from '../../../src/reports/reopen-reports.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { rollUpAll } from '../../support/counter-rows.ts'
import { foldAll } from '../../support/evidence.ts'
import { offer } from '../web/offer-message.ts'
import { parser } from '../../support/parser.ts'

/** Composes a copy of a message that presents itself as a reply. */
const replyMessage = (mark: string) =>
  Buffer.from(
    offer(mark)
      .toString()
      .replace('From:', 'In-Reply-To: <you@provider.example>\r\nFrom:')
      .replace(`${mark}.watches`, 'www.watches'),
  )

const DAY_MS = 86_400_000
let made = 0

async function site(env: Record<string, string> = {}) {
  const app = await closeAfterThisTest(openTestApp({ ORIGIN_CONFIDENCE_MIN: '0.7', ...env }))
  const { pool } = app
  const analyze = async (ids: readonly string[]) => {
    if (ids.length === 0) return
    await runAnalyzeReport(
      ids.map((reportId) => ({ reportId })),
      { ...app, parser },
    )
    await rollUpAll(pool, new Date())
    await foldAll(pool, new Date())
  }
  const stateOf = async (id: string) => {
    const [row] = await app.rows('select state from reports where id = $1', [id])
    return row?.['state']
  }
  const campaigns = async () => {
    const rows = await app.rows('select campaign_id as id from campaign_events')
    return rows.map(({ id }) => String(id))
  }
  return {
    ...{ app, analyze, stateOf, campaigns },
    /** Makes an account of that many days, alone at its mail domain unless one is given. */
    async person({ days = ++made, domain = `of-${++made}.example`, isVouched = false } = {}) {
      const createdAt = new Date(Date.now() - days * DAY_MS)
      const id = uuidv7(createdAt)
      const account = { email: `${id}@${domain}`, passwordHash: null, role: null }
      await insertReporter(pool, { id, ...account, createdAt })
      if (isVouched) await insertKarma(pool, { reporterId: id, isVouched, now: createdAt })
      return id
    },
    async report(reporterId: string, raw = replyMessage('one')) {
      const { id } = await app.report(raw, { reporterId })
      await analyze([id])
      return id
    },
    /** Does what is done a minute later; returns the reports that were judged again. */
    async later(atOnce = 200) {
      const noted = new Date(Date.now() - 61_000)
      await pool.query('update campaign_events set noted_at = $1', [noted])
      await runJudgeCampaigns(app, { pauseMs: 0, atOnce })
      const rows = await app.rows(`select id from reports where state = 'received' order by id`)
      const ids = rows.map(({ id }) => String(id))
      await analyze(ids)
      return ids
    },
    told: async (id: string) =>
      (await listFeedback(pool, [id])).map(({ kind, state }) => `${kind} ${state}`),
    reopened: async (id: string) =>
      (await listEvents(pool, id)).filter(({ event }) => event === 'reopened'),
    async campaignOf(id: string) {
      const [row] = await app.rows('select campaign_id as id from counted_reports where id = $1', [
        id,
      ])
      return String(row?.['id'])
    },
  }
}

test('what one person reports is forwarded when two others report it, too', async () => {
  const { person, report, later, stateOf, told, reopened, campaigns } = await site()
  const first = await report(await person())
  expect(await stateOf(first)).toBe('kept')
  expect(await later()).toEqual([])
  const second = await report(await person())
  expect(await later()).toEqual([first, second])
  expect([await stateOf(first), await told(first)]).toEqual(['kept', []])
  const third = await report(await person())
  expect(await told(third)).toEqual(['complaint queued'])
  expect(await later()).toEqual([first, second])
  for (const id of [first, second]) expect(await told(id)).toEqual(['complaint queued'])
  // Its reporter sees that, but not why: the reporter may be who sent the message.
  const story = (await reopened(first)).map(({ phrases }) => phrases)
  expect(story).toEqual([[{ code: 'more-known' }], [{ code: 'more-known' }]])
  // Each number of reporters is an event once, and those after the third are none.
  const fourth = await report(await person())
  expect(await told(fourth)).toEqual(['complaint queued'])
  expect(await campaigns()).toEqual([])
  expect(await later()).toEqual([])
  for (const id of [first, second, third, fourth]) expect(await told(id)).toHaveLength(1)
})

test.for([
  ['one account with many copies', [{ days: 9 }], 3],
  ['accounts at one mail domain', [9, 8, 7].map((days) => ({ days, domain: 'own.example' })), 1],
  ['accounts of one day', [{ days: 9 }, { days: 9 }, { days: 9 }], 1],
  ['accounts of today', [{ days: 9 }, { days: 0 }, { days: 0 }], 1],
] as const)('%s do not agree, and have nothing judged again', async ([, accounts, copies]) => {
  const { person, report, campaigns, told } = await site()
  for (const account of accounts) {
    const id = await person(account)
    for (let copy = 0; copy < copies; copy++) {
      expect(await told(await report(id, replyMessage(`copy${copy}`)))).toEqual([])
    }
  }
  expect(await campaigns()).toEqual([])
  await report(await person({ days: 5 }))
  expect(await campaigns()).toHaveLength(1)
})

test('a report that is judged again does not agree with itself', async () => {
  const { app, person, report, analyze, campaigns, stateOf } = await site()
  const first = await report(await person())
  const scoreOf = async () => {
    const [row] = await app.rows(
      `select judgment -> 'complaint' ->> 'score' as score from analyses where id = $1`,
      [first],
    )
    return row?.['score']
  }
  const before = await scoreOf()
  for (let times = 0; times < 3; times++) {
    await app.pool.query(`update reports set state = 'received' where id = $1`, [first])
    await app.pool.query('delete from analyses where id = $1', [first])
    await analyze([first])
  }
  expect([await stateOf(first), await scoreOf()]).toEqual(['kept', before])
  expect(await campaigns()).toEqual([])
})

test('a complaint counts until it is withdrawn, and again only if more come', async () => {
  const { app, person, report, campaigns, later } = await site()
  const first = await report(await person())
  await report(await person({ isVouched: true, days: 0 }))
  const [campaign = ''] = await campaigns()
  expect(await listCampaignHeads(app.pool, [campaign])).toMatchObject([{ firstReportId: first }])
  await later()
  await app.pool.query(`update campaign_witnesses set complainants = 3`)
  await report(await person())
  expect(await campaigns()).toEqual([])
})

test('a worker that dies neither loses nor repeats an event', async () => {
  const { app, person, report, campaigns, later, stateOf, reopened } = await site()
  const first = await report(await person())
  await report(await person())
  const [campaign = ''] = await campaigns()
  const killed = inTransaction(app.pool, async (tx) => {
    await reopenMembers(tx, campaign, app)
    throw new Error('killed')
  })
  await expect(killed).rejects.toThrow('killed')
  expect([await stateOf(first), await campaigns()]).toEqual(['kept', [campaign]])
  const step = () => inTransaction(app.pool, (tx) => reopenMembers(tx, campaign, app))
  await Promise.all([step(), step()])
  await later()
  expect(await reopened(first)).toHaveLength(1)
  const jobs = await app.rows(
    `select 1 from pgboss.job where name = 'analyze-report' and data ->> 'reportId' = $1`,
    [first],
  )
  expect(jobs).toHaveLength(2)
})

test('an event waits for the counts from its time', async () => {
  const { app, person, report, later } = await site()
  const first = await report(await person())
  const second = await report(await person())
  await app.pool.query(
    `insert into reports_to_count (id, slot, shard, waiting_since)
     select id, 0, shard, now() - interval '5 minutes' from counted_reports where id = $1`,
    [second],
  )
  expect(await later()).toEqual([])
  await app.pool.query('delete from reports_to_count')
  expect(await later()).toEqual([first, second])
})

test('a flood of copies is judged again once for each event, in steps', async () => {
  const { app, person, report, analyze, later, reopened } = await site()
  const flooder = await person({ domain: 'flood.example' })
  const ids: string[] = []
  for (let count = 0; count < 25; count++) {
    ids.push((await app.report(replyMessage(`copy${count}`), { reporterId: flooder })).id)
  }
  await analyze(ids)
  const other = await report(await person())
  expect((await later(10)).length).toBeGreaterThanOrEqual(25)
  expect(await later(10)).toEqual([])
  for (const id of [...ids, other]) expect(await reopened(id)).toHaveLength(1)
})

test('what an operator decides holds for kept reports and later copies', async () => {
  const { app, person, report, later, campaignOf, stateOf, told } = await site()
  const first = await report(await person())
  const id = await campaignOf(first)
  const decide = (says: string) =>
    runAction(decideCampaign, { id, says, reason: 'read it' }, app, null)
  expect(await decide('phishing')).toMatchObject({ done: 'decided' })
  expect(await decide('phishing')).toEqual({ unchanged: 'same' })
  expect(await later()).toEqual([first])
  expect(await told(first)).toEqual(['complaint queued'])
  const copy = await report(await person(), replyMessage('copy'))
  expect(await told(copy)).toEqual(['complaint queued'])
  expect(await decide('legitimate')).toMatchObject({ done: 'decided' })
  const late = await report(await person(), replyMessage('late'))
  expect([await stateOf(late), await told(late)]).toEqual(['kept', []])
  expect(await runAction(undecideCampaign, { id }, app, null)).toMatchObject({ done: 'undecided' })
  expect(await later()).toEqual([late])
  expect(await decide('nonsense')).toHaveProperty('problems')
})

test.for([
  ['of its network', '198.51.100.24', ['complaint queued']],
  ['of no other network', '192.0.2.77', []],
] as const)('a desk that acted confirms complaints %s', async ([, ip, expected]) => {
  const { app, person, report, analyze, later, told } = await site()
  const copy = Buffer.from(replyMessage('a').toString().replaceAll('198.51.100.23', ip))
  const kept = await report(await person({ days: 3 }), copy)
  const sent = await report(await person({ days: 3, isVouched: true }))
  await confirmReport(app, sent)
  await analyze([sent])
  expect([await told(kept), await told(sent)]).toEqual([[], ['complaint queued']])
  const [feedback] = await listFeedback(app.pool, [sent])
  if (!feedback) throw new Error('no feedback')
  await inTransaction(app.pool, (tx) => markResolved(tx, feedback, new Date()))
  expect(await later()).toEqual([kept])
  expect(await told(kept)).toEqual(expected)
})

test('messages that are too old to be forwarded are not judged again', async () => {
  const { app, person, report, campaignOf, later } = await site({ MESSAGE_AGE_MAX: '48' })
  const sentAt = (hoursAgo: number, mark: string) => {
    const at = new Date(Date.now() - hoursAgo * 3_600_000).toUTCString().replace('GMT', '+0000')
    return Buffer.from(replyMessage(mark).toString().replace('Mon, 16 Nov 2026 10:00:00 +0000', at))
  }
  const old = await report(await person(), sentAt(47, 'old'))
  const young = await report(await person({ days: 0 }), sentAt(40, 'young'))
  const id = await campaignOf(old)
  await runAction(decideCampaign, { id, says: 'spam', reason: 'read it' }, app, null)
  const hours = 3
  const clock = () => new Date(Date.now() + hours * 3_600_000)
  await runJudgeCampaigns({ ...app, clock }, { pauseMs: 0 })
  expect(await later()).toEqual([young])
})
