import '../support/seed-shingles.ts'
import { expect, test } from 'vitest'
import { runAction } from '../../src/actions.ts'
import { inTransaction, type Pool } from '../../src/db/pool.ts'
import { findReporter } from '../../src/db/reporters.ts'
import { changeReports, retractReport } from '../../src/reports/change-report.ts'
import { beginErasure, runEraseAccount } from '../../src/reports/erase-account.ts'
import { UNDO_MS } from '../../src/reports/restore-reports.ts'
import {
  describeMassAction,
  runActOnReports,
  runSettleActions,
  startMassAction,
  undoMassAction,
} from '../../src/search/mass-actions.ts'
import { massEffects, type MassKind, massKinds } from '../../src/search/mass-effects.ts'
import { freshDatabase, twinOf } from '../support/database.ts'
import { storedModel } from '../support/counter-rows.ts'
import { unpackDetail } from '../../src/verdict/reputation/detail.ts'
import { effectiveAt } from '../../src/verdict/reputation/fold.ts'
import {
  freshKarma,
  type KarmaState,
  unpackWitnesses,
  withEvent,
} from '../../src/verdict/reputation/karma.ts'
import {
  type GivenReport,
  messageOf,
  nextId,
  openSite,
  type TwinSite,
  withoutExtra,
} from '../support/twin-sites.ts'

/** The number of reports: enough for several of a reporter in one campaign. */
const REPORTS = 120
/** The speed of actions: ten reports a step. */
const SPEED = 600
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
const start = new Date('2026-11-25T10:10:00Z')
const later = (ms: number) => new Date(start.getTime() + ms)

const vouched = ['v1', 'v2', 'v3'].map((name, day) => ({
  name,
  id: nextId(later(-(20 + day) * DAY_MS)),
}))
const signedUp = ['n1', 'n2', 'n3', 'n4', 'n5'].map((name, day) => {
  return { name, id: nextId(later(-(10 + day) * DAY_MS)) }
})
/** Reports so much, and was wrong so often, that only the first eight a day are forwarded. */
const busy = { name: 'busy', id: nextId(later(-9 * DAY_MS)) }
const reporters = [...vouched, ...signedUp, busy]

function reportsFrom(count: number, at: Date, from: number): GivenReport[] {
  return Array.from({ length: count }, (_, index) => {
    const n = from + index
    const receivedAt = new Date(at.getTime() + index * 1_000)
    const who = n % 4 !== 1 ? busy : reporters[Math.floor(n / 2) % reporters.length]
    const kind = n % 11 === 0 ? 'not-spam' : n % 5 === 0 ? 'phishing' : 'spam'
    return {
      id: nextId(receivedAt),
      reporterId: who?.id ?? '',
      kind,
      raw: messageOf(n),
      at: receivedAt,
    }
  })
}

function withMistakes(count: number): KarmaState {
  const mistakes = Array.from({ length: count }, () => 'retraction' as const)
  return mistakes.reduce((state, one) => withEvent(state, one, start), freshKarma(false))
}

/** Does not depend on the campaign, as the number of a report does. */
const chance = `get_byte(decode(md5(report_id::text), 'hex'), 0)`

/** Some of the feedback was sent, some waits, and some is merged or held. */
async function notifyDesks(site: TwinSite): Promise<void> {
  const { pool } = site.app
  await pool.query(`
    update feedback_reports set state = 'sent', finished_at = created_at, message_id = '<m@x>'
    where state = 'queued' and ${chance} % 2 = 0`)
  const { rows: sent } = await pool.query<{ id: string }>(
    `select report_id as id from feedback_reports where state = 'sent'`,
  )
  await pool.query(`update reports set state = 'forwarded' where id = any($1::uuid[])`, [
    sent.map(({ id }) => id),
  ])
  await pool.query(`update feedback_reports set state = 'held', finished_at = created_at
    where state = 'queued' and ${chance} % 5 = 0`)
}

/** Makes a site with reports of three days. */
async function makePast() {
  const database = await freshDatabase(start)
  const site = await openSite(database, start)
  const { pool } = site.app
  await site.importNetworks()
  for (const { name, id } of reporters) await site.addReporter(name, id, name.startsWith('v'))
  await pool.query(`update karmas set disagreed = $2 where reporter_id = $1`, [
    busy.id,
    withMistakes(18).disagreed,
  ])
  const reports: GivenReport[] = []
  for (const [day, share] of [
    [2, 0.2],
    [1, 0.2],
    [0, 0.6],
  ] as const) {
    const at = later(-day * DAY_MS - HOUR_MS)
    site.setClock(at)
    const its = reportsFrom(Math.ceil(REPORTS * share), at, reports.length)
    reports.push(...its)
    await site.accept(its)
    await site.work()
    await notifyDesks(site)
    // From the second day on, one desk wants one report of each campaign, and another a digest.
    await pool.query(`update consumers set pace = case address
      when 'abuse@hosting-one.example' then 'campaign'
      when 'abuse@access-two.example' then 'digest' else pace end`)
  }
  site.setClock(later(0))
  await site.pace()
  const { rows: waiting } = await pool.query<{ id: string; number: number; at: Date }>(
    `select report_id as id, number, created_at as at from feedback_reports
     where state = 'waiting' and ${chance} % 2 = 0`,
  )
  for (const { id, number, at } of waiting) {
    await pool.query(
      'update feedback_reports set due_at = $3 where report_id = $1 and number = $2',
      [id, number, new Date(at.getTime() + 2 * DAY_MS)],
    )
  }
  await pool.query(`delete from pgboss.job`)
  await site.close()
  const ids = reports.map(({ id }) => id)
  return { url: database.url, ids }
}

const past = await makePast()
const arrivals = reportsFrom(24, later(10 * 60_000), 10_000)

async function openTwin(): Promise<TwinSite> {
  return openSite(await twinOf(past.url), start)
}

const operator = { id: nextId(start), role: 'operator' } as const

async function startAction(site: TwinSite, kind: MassKind, ids = past.ids): Promise<string> {
  const outcome = await runAction(
    startMassAction,
    { kind, ids, reason: 'a mistake', speed: SPEED },
    site.app,
    operator,
  )
  if (!('done' in outcome)) throw new Error(JSON.stringify(outcome))
  return outcome.id ?? ''
}

async function finish(site: TwinSite, actionId: string): Promise<void> {
  while ((await runActOnReports({ actionId }, site.app)) !== 'done');
}

async function undo(site: TwinSite, id: string): Promise<void> {
  const outcome = await runAction(undoMassAction, { id }, site.app, operator)
  expect(outcome).toMatchObject({ done: 'undoing' })
  await finish(site, id)
}

async function rows(pool: Pool, text: string, ids = past.ids): Promise<unknown[]> {
  return (await pool.query(text, text.includes('$1') ? [ids] : [])).rows
}

const standing = `select id, state, kind, shadow, corrected_as from reports
  where id = any($1::uuid[]) order by id`

/** What is owed and believed because of the reports. */
async function owed({ app: { pool } }: TwinSite) {
  const mine = 'any($1::uuid[])'
  return {
    reports: await rows(pool, standing),
    analyses: await rows(pool, `select * from analyses where id = ${mine} order by id`),
    feedback: await rows(
      pool,
      `select * from feedback_reports where report_id = ${mine} order by report_id, number`,
    ),
    counted: await rows(pool, `select * from counted_reports where id = ${mine} order by id`),
    evidence: await rows(pool, `select * from reported_evidence where id = ${mine} order by id`),
  }
}

/** What is believed about people, in general. */
async function karmaOf({ app: { pool } }: TwinSite) {
  const karmas = await rows(
    pool,
    `select reporter_id, agreed, disagreed, agreements, retractions, wanted_mail, contradictions,
      overrulings, agreed_on::text from karmas order by reporter_id`,
  )
  const witnesses = await pool.query<{ id: string; content: Buffer }>(
    'select campaign_id as id, content from campaign_witnesses order by campaign_id',
  )
  return {
    karmas,
    witnesses: witnesses.rows.map(({ id, content }) => [id, unpackWitnesses(content)]),
  }
}

/** The counters; a roll-up drops the short periods of past days of the keys that it writes. */
async function countersOf({ app: { pool } }: TwinSite) {
  const periods = [...(await storedModel(pool))].map(([bucket, counts]) => {
    const [, period = '', number = ''] = /\/([a-z]+)\/(\d+)$/.exec(bucket) ?? []
    return { bucket, counts, period, at: Number(number) * (periodMs[period] ?? DAY_MS) }
  })
  return new Map(
    periods
      .filter(({ period, at }) => period === 'day' || at > start.getTime() - 2 * HOUR_MS)
      .map(({ bucket, counts }) => [bucket, counts]),
  )
}

const periodMs: Record<string, number> = { slot: 600_000, hour: HOUR_MS, day: DAY_MS }

/** The reputations at one instant, rounded to the digits that are stored. */
async function reputationsOf({ app: { pool } }: TwinSite) {
  const { rows: found } = await pool.query<{ kind: string; name: string; detail: Buffer }>(
    'select kind, name, detail from reputations order by kind, name',
  )
  return found.flatMap(({ kind, name, detail }) => {
    const { all } = effectiveAt(unpackDetail(detail), later(HOUR_MS))
    const sums = Object.values(all).map((sum) => sum.toFixed(3))
    return sums.every((sum) => Number(sum) === 0) ? [] : [[kind, name, ...sums]]
  })
}

const kinds = massKinds.filter((kind) => {
  return 'undo' in massEffects[kind] && /retract|correct|again/.test(kind)
})

const twin = await openTwin()

/** Compares what is owed and believed, and what was counted. */
async function expectSame(site: TwinSite, other = twin): Promise<void> {
  const owedThere = await owed(other)
  expect(withoutExtra(await owed(site), owedThere)).toEqual(owedThere)
  expect(await karmaOf(site)).toEqual(await karmaOf(other))
  expect(await reputationsOf(site)).toEqual(await reputationsOf(other))
  expect(await countersOf(site)).toEqual(await countersOf(other))
}

/** Does an action, and the jobs that follow from it. */
async function act(site: TwinSite, kind: MassKind, { atMs = 0, ids = past.ids } = {}) {
  site.setClock(later(atMs))
  const id = await startAction(site, kind, ids)
  await finish(site, id)
  site.setClock(later(atMs + MINUTE_MS))
  await site.work()
  return id
}

test('the reports are of all kinds, and their feedback in all states', async () => {
  const { reports, feedback } = await owed(twin)
  const statesOf = (some: unknown[]) => new Set(some.map((one) => (one as { state: string }).state))
  expect(statesOf(reports)).toEqual(new Set(['analyzed', 'forwarded', 'kept']))
  const states = ['queued', 'waiting', 'merged', 'held', 'sent']
  expect(statesOf(feedback)).toEqual(new Set(states))
  const { rowCount } = await twin.app.pool.query(
    `select from report_events where phrases::text like '%reporter-paced%'`,
  )
  expect(rowCount).toBeGreaterThan(2)
})

test.for(kinds)(
  'after %s was undone, all is as on a site where it never happened',
  async (kind) => {
    const site = await openTwin()
    const before = await rows(site.app.pool, standing)
    const id = await act(site, kind)
    expect(await rows(site.app.pool, standing)).not.toEqual(before)
    site.setClock(later(20 * MINUTE_MS))
    await undo(site, id)
    await site.work()
    await expectSame(site)
    await site.close()
  },
)

test.for([
  [0, 1],
  [1, 0],
])('of two actions on reports of one campaign, %i is undone first', async (order) => {
  const site = await openTwin()
  const actions: string[] = []
  for (const nth of [0, 1]) {
    const ids = past.ids.filter((_id, index) => index % 2 === nth)
    actions.push(await act(site, 'correct-legitimate', { atMs: nth * MINUTE_MS, ids }))
  }
  site.setClock(later(20 * MINUTE_MS))
  for (const which of order) await undo(site, actions[which] ?? '')
  await site.work()
  await expectSame(site)
  await site.close()
})

test('an action that is undone under way leaves nothing behind', async () => {
  const site = await openTwin()
  for (const kind of ['retract', 'correct-legitimate'] as const) {
    const id = await startAction(site, kind, past.ids)
    for (let step = 0; step < 2; step++) await runActOnReports({ actionId: id }, site.app)
    // The jobs of the reports have not run yet.
    await undo(site, id)
    await site.work()
    await expectSame(site)
  }
  await site.close()
})

test('of two actions, either may be undone first', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const site = await openTwin()
    const half = past.ids.slice(0, past.ids.length / 2)
    const actions = [
      await act(site, 'correct-legitimate'),
      await act(site, 'retract', { atMs: 5 * MINUTE_MS, ids: half }),
    ]
    site.setClock(later(20 * MINUTE_MS))
    for (const which of order) await undo(site, actions[which] ?? '')
    await site.work()
    await expectSame(site)
    await site.close()
  }
})

test.for([
  ['correct-marketing', 'retract'],
  ['correct-spam', 'correct-legitimate'],
  ['correct-spam', 'analyze-again'],
] as const)('a later action stays when an earlier one is undone: %s, %s', async ([early, late]) => {
  const [site, other] = [await openTwin(), await openTwin()]
  const first = await act(site, early)
  const whose = { atMs: 5 * MINUTE_MS, ids: past.ids.slice(0, 20) }
  for (const one of [site, other]) await act(one, late, whose)
  site.setClock(later(20 * MINUTE_MS))
  await undo(site, first)
  await site.work()
  for (const one of [site, other]) {
    one.setClock(later(UNDO_MS + 10 * MINUTE_MS))
    await runSettleActions(one.app)
    await one.count()
  }
  expect(await karmaOf(site)).toEqual(await karmaOf(other))
  // A report that is judged later may exceed the daily number of its reporter.
  const its = `corrected_as${late === 'analyze-again' ? '' : ', state'} from reports order by id`
  const of = ({ app }: TwinSite) => rows(app.pool, `select ${its}`)
  expect(await of(site)).toEqual(await of(other))
  await Promise.all([site.close(), other.close()])
})

test('reports that arrive meanwhile do not change what is undone', async () => {
  const [site, other] = [await openTwin(), await openTwin()]
  const id = await act(site, 'correct-legitimate')
  for (const one of [site, other]) {
    one.setClock(later(12 * MINUTE_MS))
    await one.accept(arrivals)
    await one.work()
  }
  site.setClock(later(20 * MINUTE_MS))
  await undo(site, id)
  await site.work()
  const owedThere = await owed(other)
  expect(withoutExtra(await owed(site), owedThere)).toEqual(owedThere)
  const lost = ({ karmas }: Awaited<ReturnType<typeof karmaOf>>) =>
    karmas.map((one) => [(one as { reporter_id: string }).reporter_id, { ...(one as object) }])
  expect(lost(await karmaOf(site))).toEqual(lost(await karmaOf(other)))
  // The reports that arrived are forwarded as much as on the other site: no karma was lost.
  const paced = async (one: TwinSite) =>
    (
      await one.app.pool.query(
        `select from report_events where report_id = any($1::uuid[])
           and phrases::text like '%reporter-paced%'`,
        [arrivals.map((arrival) => arrival.id)],
      )
    ).rowCount
  expect(await paced(site)).toBe(await paced(other))
  await Promise.all([site.close(), other.close()])
})

test('what a reporter changes meanwhile stays', async () => {
  const [site, other] = [await openTwin(), await openTwin()]
  const id = await act(site, 'correct-legitimate')
  const [retracted = [], changed = []] = [past.ids.slice(0, 10), past.ids.slice(10, 20)]
  for (const one of [site, other]) {
    one.setClock(later(12 * MINUTE_MS))
    for (const report of retracted) await retractReport(one.app, report, { isReporter: true })
    const changes = changed.map((reportId) => {
      return { reportId, kind: 'not-spam' as const, comment: null, isShadowed: false }
    })
    await inTransaction(one.app.pool, (tx) => changeReports(tx, one.app, changes, one.app.clock()))
    await one.work()
    await one.work()
  }
  site.setClock(later(20 * MINUTE_MS))
  await undo(site, id)
  await site.work()
  await site.work()
  expect((await owed(site)).reports).toEqual((await owed(other)).reports)
  const { karmas } = await karmaOf(site)
  const counts = (some: unknown[]) =>
    some.map((one) => {
      const { reporter_id, retractions, wanted_mail, overrulings } = one as Record<string, unknown>
      return { reporter_id, retractions, wanted_mail, overrulings }
    })
  expect(counts(karmas)).toEqual(counts((await karmaOf(other)).karmas))
  await Promise.all([site.close(), other.close()])
})

test('desks that were notified meanwhile get a correction', async () => {
  const site = await openTwin()
  const { pool } = site.app
  const id = await act(site, 'retract')
  const notes = await pool.query<{ id: string }>(`
    update feedback_reports set state = 'sent', finished_at = created_at, message_id = '<n@x>'
    where kind = 'redeemed' returning report_id as id`)
  expect(notes.rowCount).toBeGreaterThan(1)
  site.setClock(later(20 * MINUTE_MS))
  await undo(site, id)
  await site.work()
  const again = await pool.query<{ id: string }>(
    `select report_id as id from feedback_reports where kind = 'complaint' and created_at >= $1`,
    [later(20 * MINUTE_MS)],
  )
  const idsOf = (some: { id: string }[]) => [...new Set(some.map((one) => one.id))].toSorted()
  expect(idsOf(again.rows)).toEqual(idsOf(notes.rows))
  const described = await describeMassAction(pool, id)
  expect(described?.counts).toMatchObject({ notified: idsOf(notes.rows).length, changed: 0 })
  const { rows: audit } = await pool.query<{ detail: string }>(
    `select detail from audit_log where action = 'mass action' and detail like 'undone: %'`,
  )
  const notified = `${idsOf(notes.rows).length} restored after an abuse team was notified`
  expect(audit.map(({ detail }) => detail)).toEqual([expect.stringContaining(notified)])
  await site.close()
})

test('karma changes when an action can no longer be undone', async () => {
  const site = await openTwin()
  const before = await karmaOf(site)
  await act(site, 'retract')
  expect(await karmaOf(site)).toEqual(before)
  site.setClock(later(UNDO_MS + MINUTE_MS))
  await runSettleActions(site.app)
  await site.count()
  const { karmas } = await karmaOf(site)
  const overruled = karmas.map((one) => Number((one as { overrulings: number }).overrulings))
  expect(overruled.reduce((sum, count) => sum + count)).toBe(past.ids.length)
  expect(await rows(site.app.pool, 'select from mass_action_records')).toEqual([])
  await site.close()
})

test('nothing of an erased account is restored', async () => {
  const site = await openTwin()
  const { pool } = site.app
  const id = await act(site, 'correct-legitimate')
  const reporter = await findReporter(pool, busy.id)
  if (!reporter) throw new Error('The account is missing.')
  await beginErasure(site.app, reporter, 'keep')
  const { rows: erasures } = await pool.query<{ id: string }>('select id from erasures')
  await pool.query(`update feedback_reports set state = 'sent' where state = 'queued'`)
  site.setClock(later(10 * MINUTE_MS))
  await runEraseAccount({ erasureId: erasures[0]?.id ?? '' }, site.app)
  const mine = await pool.query('select from reports where reporter_id = $1', [busy.id])
  expect(mine.rowCount).toBe(0)
  const { rows: left } = await pool.query(
    `select report_id from mass_action_records
       join reports on reports.id = report_id and reports.shard = mass_action_records.shard
     where reporter_id = $1`,
    [busy.id],
  )
  expect(left).toEqual([])
  site.setClock(later(20 * MINUTE_MS))
  await undo(site, id)
  const described = await describeMassAction(pool, id)
  expect(described?.counts.gone).toBeGreaterThan(5)
  await site.close()
})
